/* SPDX-License-Identifier: MIT
 *
 * test_malloc_early.c: a loader that allocates, resizes and frees while it is asked where the
 * allocator is.
 *
 * The program's dlsym stands before libc's. The first allocation of the process, which comes before
 * main, leads there; what is done there is looked at later.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kinds/heap/malloc_bootstrap.h"
#include "modules/libc.h"

#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>

/* A build with sanitizers has no allocation hooks. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_HOOKS 0
#else
#define HAS_HOOKS 1
#endif

#pragma weak pp_malloc_is_bootstrap
#pragma weak mi_heap_realloc
#pragma weak mi_heap_calloc
#pragma weak rallocx
void *mi_heap_realloc(void *heap, void *block, size_t size);
void *mi_heap_calloc(void *heap, size_t count, size_t size);
void *rallocx(void *block, size_t size, int flags);

enum { SIZE = 40, LARGER = 100, FUNCTIONS = 3, PLACES = 2 };

/* What was found when the loader was asked for one of libc's functions. */
typedef struct findings {
    char *allocated, *zeroed, *resized[FUNCTIONS], *shrunk;
    void *of_none[FUNCTIONS], *of_foreign[FUNCTIONS];
    int error_of_foreign[FUNCTIONS];
    void *aligned;
    int error_of_aligned, error_of_too_large, error_of_too_much;
    void *too_much;
} findings;

static findings early[PLACES];
static char foreign[SIZE];
static char heap[1];

static void *resize(unsigned function, void *block, size_t size)
{
    switch (function) {
    case 0:
        return realloc(block, size);
    case 1:
        return rallocx(block, size, 0);
    default:
        return mi_heap_realloc(heap, block, size);
    }
}

__attribute__((unused)) static void try_all(findings *f)
{
    f->allocated = malloc(SIZE);
    memset(f->allocated, 'a', SIZE);
    f->zeroed = mi_heap_calloc(heap, 2, SIZE);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        f->resized[i] = resize(i, f->allocated, LARGER);
        f->of_none[i] = resize(i, NULL, SIZE);
        errno = 0;
        f->of_foreign[i] = resize(i, foreign, LARGER);
        f->error_of_foreign[i] = errno;
    }
    f->shrunk = realloc(f->allocated, SIZE / 2);
    f->error_of_aligned = posix_memalign(&f->aligned, 128, SIZE);
    void *untouched = foreign;
    f->error_of_too_large = posix_memalign(&untouched, 128, SIZE_MAX / 2 + 1);
    f->error_of_too_large = untouched == foreign ? f->error_of_too_large : 0;
    errno = 0;
    f->too_much = malloc(1 << 20);
    f->error_of_too_much = errno;
    free(f->zeroed);
}

static bool is_early(const void *block)
{
    return block != NULL && pp_malloc_is_bootstrap((uintptr_t)block);
}

#if HAS_HOOKS
/* Between the search for malloc and that for realloc, too. */
void *dlsym(void *handle, const char *name)
{
    static bool tried[PLACES];
    static const char *const places[PLACES] = {"malloc", "calloc"};
    typedef void *dlsym_function(void *, const char *);
    for (unsigned i = 0; i < PLACES; i++) {
        if (!tried[i] && strcmp(name, places[i]) == 0) {
            tried[i] = true;
            try_all(&early[i]);
        }
    }
    return ((dlsym_function *)pp_libc_function("dlsym"))(handle, name);
}
#endif

static void blocks_come_from_the_bootstrap(void **state)
{
    (void)state;
    if (!HAS_HOOKS) {
        skip();
    }
    for (unsigned place = 0; place < PLACES; place++) {
        findings *f = &early[place];
        assert_true(is_early(f->allocated));
        assert_true(is_early(f->zeroed));
        assert_true(is_early(f->aligned));
        assert_int_equal(f->error_of_aligned, 0);
        assert_int_equal((uintptr_t)f->aligned % 128, 0);
        assert_int_equal(f->error_of_too_large, ENOMEM);
        assert_null(f->too_much);
        assert_int_equal(f->error_of_too_much, ENOMEM);
        for (unsigned i = 0; i < 2 * SIZE; i++) {
            assert_int_equal(f->zeroed[i], 0);
        }
        assert_int_equal(malloc_usable_size(f->allocated), SIZE);
    }
    assert_false(is_early(malloc(SIZE)));
}

static void what_is_resized_keeps_its_contents(void **state)
{
    (void)state;
    if (!HAS_HOOKS) {
        skip();
    }
    for (unsigned place = 0; place < PLACES; place++) {
        for (unsigned i = 0; i < FUNCTIONS; i++) {
            const char *block = early[place].resized[i];
            assert_true(is_early(block));
            assert_true(is_early(early[place].of_none[i]));
            for (unsigned k = 0; k < LARGER; k++) {
                assert_int_equal(block[k], k < SIZE ? 'a' : 0);
            }
        }
        assert_memory_equal(early[place].shrunk, early[place].allocated, SIZE / 2);
    }
}

/* Its contents would be lost. */
static void what_is_of_another_allocator_stays(void **state)
{
    (void)state;
    if (!HAS_HOOKS) {
        skip();
    }
    for (unsigned place = 0; place < PLACES; place++) {
        for (unsigned i = 0; i < FUNCTIONS; i++) {
            assert_null(early[place].of_foreign[i]);
            assert_int_equal(early[place].error_of_foreign[i], ENOMEM);
        }
    }
}

static void early_blocks_are_resized_and_freed_later(void **state)
{
    (void)state;
    if (!HAS_HOOKS) {
        skip();
    }
    volatile size_t too_much = PTRDIFF_MAX - SIZE;
    assert_null(realloc(early[1].resized[0], too_much));
    free(early[1].resized[0]);
    char *block = realloc(early[0].resized[0], 2 * LARGER);
    assert_non_null(block);
    assert_false(is_early(block));
    assert_memory_equal(block, early[0].resized[1], LARGER);
    free(block);
    free(early[0].resized[1]);
    free(early[0].aligned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_come_from_the_bootstrap),
        cmocka_unit_test(what_is_resized_keeps_its_contents),
        cmocka_unit_test(what_is_of_another_allocator_stays),
        cmocka_unit_test(early_blocks_are_resized_and_freed_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
