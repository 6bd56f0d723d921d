/* SPDX-License-Identifier: MIT
 *
 * heap.c: allocates by every function of the C library, so many blocks of such a size in each named
 * function, and checks what the library must not change: contents, errno, answers to nonsense.
 *
 * usage: heap kinds       each function of the C library, once by name
 *        heap shares      two sites whose shares are known, one of them freed
 *        heap odd         odd arguments; exits with 0 if the answers are those of the C library
 *        heap nothing     frees all that it allocated
 *        heap sizes N     N blocks each of 16 B to 4 MiB, one site for each size, kept
 *
 * Flags: -fno-builtin
 */
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 1000 };

static void *kept[16 * BLOCKS];
static size_t kept_count;

static void keep(void *block)
{
    kept[kept_count++] = block;
}

static bool is_filled(const unsigned char *block, size_t size, unsigned char with)
{
    for (size_t i = 0; i < size; i++) {
        if (block[i] != with) {
            return false;
        }
    }
    return true;
}

/* ---- kinds ---- */

void by_malloc(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        keep(malloc(100));
    }
}

void by_calloc(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        unsigned char *block = calloc(20, 10);
        if (!is_filled(block, 200, 0)) {
            exit(3);
        }
        keep(block);
    }
}

void by_realloc(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        unsigned char *block = realloc(NULL, 50);
        memset(block, 7, 50);
        block = realloc(block, 3000);
        if (!is_filled(block, 50, 7)) {
            exit(3);
        }
        keep(block);
    }
}

void by_reallocarray(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        keep(reallocarray(NULL, 40, 10));
    }
}

void by_posix_memalign(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        void *block = NULL;
        if (posix_memalign(&block, 256, 500) != 0 || (uintptr_t)block % 256 != 0) {
            exit(3);
        }
        keep(block);
    }
}

void by_aligned_alloc(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        keep(aligned_alloc(64, 640));
    }
}

void by_memalign(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        keep(memalign(32, 700));
    }
}

void by_valloc(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        keep(valloc(800));
    }
}

void by_strdup(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        keep(strdup("twenty-three characters"));
    }
}

void by_malloc_zero(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        keep(malloc(0));
    }
}

void freed_by_realloc(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        void *rest = realloc(malloc(60), 0); /* musl: a block of no bytes */
#ifdef __GLIBC__
        if (rest != NULL) {
            exit(3);
        }
#endif
        free(rest);
    }
}

void freed_by_free(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        void *block = malloc(90);
        if (malloc_usable_size(block) < 90) {
            exit(3);
        }
        free(block);
    }
}

void not_allocated(void)
{
    volatile size_t huge = (size_t)PTRDIFF_MAX - 4096;
    for (int i = 0; i < BLOCKS; i++) {
        if (malloc(huge) != NULL || calloc(huge, 3) != NULL || calloc(huge, 1) != NULL) {
            exit(3);
        }
    }
}

/* A block that cannot be resized is as it was. */
void kept_by_failed_realloc(void)
{
    volatile size_t huge = (size_t)PTRDIFF_MAX - 4096;
    for (int i = 0; i < BLOCKS; i++) {
        unsigned char *block = malloc(110);
        memset(block, 9, 110);
        if (realloc(block, huge) != NULL || errno != ENOMEM || !is_filled(block, 110, 9) ||
            reallocarray(block, huge, 4) != NULL || errno != ENOMEM) {
            exit(3);
        }
        keep(block);
    }
}

static void kinds(void)
{
    by_malloc();
    by_calloc();
    by_realloc();
    by_reallocarray();
    by_posix_memalign();
    by_aligned_alloc();
    by_memalign();
    by_valloc();
    by_strdup();
    by_malloc_zero();
    freed_by_realloc();
    freed_by_free();
    not_allocated();
    kept_by_failed_realloc();
}

/* ---- shares ---- */

static void *volatile sink;

void three_quarters(void)
{
    for (int i = 0; i < 300000; i++) {
        sink = malloc(1000);
        free(sink);
    }
}

void one_quarter_kept(void)
{
    static void *blocks[100000];
    for (int i = 0; i < 100000; i++) {
        blocks[i] = malloc(1000);
    }
    sink = blocks;
}

/* ---- odd arguments ---- */

static int failures;

static void expect(bool good, const char *what)
{
    if (!good) {
        printf("wrong: %s\n", what);
        failures++;
    }
}

static void odd(void)
{
    void *block = (void *)1;
    volatile size_t most = SIZE_MAX;
    volatile size_t limit = PTRDIFF_MAX;
    volatile size_t three = 3;
    volatile size_t huge_alignment = (size_t)1 << 62;

    errno = 0;
    expect(malloc(most) == NULL && errno == ENOMEM, "malloc(SIZE_MAX)");
    errno = 0;
    expect(malloc(limit + 1) == NULL && errno == ENOMEM, "malloc(PTRDIFF_MAX + 1)");
    errno = 0;
    expect(malloc(limit) == NULL && errno == ENOMEM, "malloc(PTRDIFF_MAX)");
    errno = 0;
    expect(calloc(most, most) == NULL && errno == ENOMEM, "calloc that overflows");
    errno = 0;
    expect(reallocarray(NULL, most, 2) == NULL && errno == ENOMEM, "reallocarray that overflows");
    errno = 55;
    expect(posix_memalign(&block, three, 10) == EINVAL && block == (void *)1, "alignment 3");
    expect(posix_memalign(&block, 64, limit) == ENOMEM && block == (void *)1,
           "aligned PTRDIFF_MAX");
    expect(posix_memalign(&block, 0, 10) == EINVAL, "alignment 0");
    errno = 0;
    expect(aligned_alloc(huge_alignment, 1) == NULL, "alignment of half the address space");
    block = memalign(three, 10); /* the next power of two; musl refuses it */
#ifdef __GLIBC__
    expect(block != NULL && (uintptr_t)block % 4 == 0, "memalign(3)");
#else
    expect(block == NULL && errno == EINVAL, "memalign(3)");
#endif
    free(block);

    /* What works leaves errno alone, sampled or not. */
    for (size_t size = 0; size < 300000; size += 1 + size / 3) {
        errno = 77;
        block = malloc(size);
        expect(block != NULL && errno == 77, "errno after malloc");
        block = realloc(block, size + 10);
        expect(errno == 77, "errno after realloc");
        free(block);
        expect(errno == 77, "errno after free");
    }
    free(NULL);
    expect(errno == 77, "errno after free(NULL)");
    expect(malloc_usable_size(NULL) == 0, "usable size of NULL");
}

/* ---- sizes ---- */

#define SITE(size)                                                                                 \
    void site_##size(int blocks)                                                                   \
    {                                                                                              \
        for (int i = 0; i < blocks; i++) {                                                         \
            sink = malloc(size);                                                                   \
        }                                                                                          \
    }
SITE(16)
SITE(100)
SITE(1000)
SITE(10000)
SITE(100000)
SITE(1000000)
SITE(4194304)

static void sizes(int blocks)
{
    site_16(blocks);
    site_100(blocks);
    site_1000(blocks);
    site_10000(blocks);
    site_100000(blocks);
    site_1000000(blocks);
    site_4194304(blocks);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "kinds") == 0) {
        kinds();
    } else if (strcmp(what, "nothing") == 0) {
        setvbuf(stdout, NULL, _IONBF, 0);
        kinds();
        for (size_t i = 0; i < kept_count; i++) {
            free(kept[i]);
        }
        three_quarters();
    } else if (strcmp(what, "shares") == 0) {
        three_quarters();
        one_quarter_kept();
    } else if (strcmp(what, "odd") == 0) {
        odd();
    } else if (strcmp(what, "sizes") == 0) {
        sizes(atoi(argv[2]));
    } else {
        return 2;
    }
    return failures > 0;
}
