/* SPDX-License-Identifier: MIT
 *
 * malloc_fallback.c: implements functions that only some allocators have, by functions that all
 * allocators have.
 *
 * We export functions that only jemalloc, tcmalloc or mimalloc has. Without such an allocator,
 * their names are hidden (malloc_names_shared.c), but not from all: a library that was relocated
 * before us may find mallocx by a weak reference. A program that calls it must get memory, whatever
 * its allocator is. The same is true of C23's free_sized, and of operator new if the search finds
 * no C++ runtime.
 *
 * Zone: HOOK.
 * Tested by: e2e.heap_allocators, e2e.allocator_names, e2e.cxx
 */
#include "kinds/heap/malloc_fallback.h"

#include "kinds/heap/malloc_objects.h"

#include <string.h>

enum {
    LOG_ALIGNMENT_MASK = 63, /* MALLOCX_LG_ALIGN of <jemalloc/jemalloc.h> */
    ZERO = 64                /* MALLOCX_ZERO */
};

static uintptr_t call(const pp_malloc_hook *hook, uintptr_t a, uintptr_t b)
{
    return hook->resolved ? hook->real(a, b, 0, 0) : 0;
}

static uintptr_t aligned_as(uintptr_t flags)
{
    return (uintptr_t)1 << (flags & LOG_ALIGNMENT_MASK);
}

static uintptr_t alloc_with_flags(uintptr_t size, uintptr_t flags, uintptr_t c, uintptr_t d)
{
    (void)c;
    (void)d;
    uintptr_t block = aligned_as(flags) > sizeof(max_align_t)
                          ? call(&pp_malloc_hook_memalign, aligned_as(flags), size)
                          : call(&pp_malloc_hook_malloc, size, 0);
    if (block != 0 && flags & ZERO) {
        memset((void *)block, 0, size);
    }
    return block;
}

static uintptr_t resize_with_flags(uintptr_t block, uintptr_t size, uintptr_t flags, uintptr_t d)
{
    (void)d;
    return flags & ZERO ? 0 : call(&pp_malloc_hook_realloc, block, size); /* as if out of memory */
}

/* Returns 0, less than any size: the block was not resized. */
static uintptr_t resize_in_place(uintptr_t block, uintptr_t size, uintptr_t extra, uintptr_t flags)
{
    (void)block;
    (void)size;
    (void)extra;
    (void)flags;
    return 0;
}

/* operator new of a program that is linked statically to its C++ runtime: because of our
 * definition, the linker has left out the runtime's. If the program has these functions, we can see
 * them. */
typedef void new_handler(void);
extern new_handler *get_new_handler(void) __asm__("_ZSt15get_new_handlerv") __attribute__((weak));
extern void throw_bad_alloc(void) __asm__("_ZSt17__throw_bad_allocv") __attribute__((weak));

/* The parts of a throw by the C++ ABI (Itanium, 2.4), for programs without the functions above. */
extern void *allocate_exception(size_t) __asm__("__cxa_allocate_exception") __attribute__((weak));
extern void throw_exception(void *, const void *, void (*)(void *)) __asm__("__cxa_throw")
    __attribute__((weak));
extern const char bad_alloc_type[] __asm__("_ZTISt9bad_alloc") __attribute__((weak));
extern const uintptr_t bad_alloc_table[] __asm__("_ZTVSt9bad_alloc") __attribute__((weak));
extern void destroy_bad_alloc(void *) __asm__("_ZNSt9bad_allocD1Ev") __attribute__((weak));

static void throw_by_abi(void)
{
    const void *const type = bad_alloc_type;
    const uintptr_t *const table = bad_alloc_table;
    if (allocate_exception != NULL && throw_exception != NULL && type != NULL && table != NULL) {
        const uintptr_t **thrown = allocate_exception(sizeof *thrown);
        *thrown = table + 2; /* after the offset to the top and the type */
        throw_exception((void *)thrown, type, destroy_bad_alloc);
    }
}

/* Whether there may be memory now. If not, throws if it can. */
static bool may_try_again(void)
{
    new_handler *handler = get_new_handler != NULL ? get_new_handler() : NULL;
    if (handler != NULL) {
        handler();
        return true;
    }
    if (throw_bad_alloc != NULL) {
        throw_bad_alloc();
    }
    throw_by_abi();
    return false;
}

static uintptr_t plain_new(uintptr_t size, uintptr_t b, uintptr_t c, uintptr_t d)
{
    uintptr_t block = 0;
    (void)b;
    (void)c;
    (void)d;
    do {
        block = call(&pp_malloc_hook_malloc, size, 0);
    } while (block == 0 && may_try_again());
    return block;
}

static uintptr_t aligned_new_nothrow(uintptr_t size, uintptr_t alignment, uintptr_t c, uintptr_t d)
{
    (void)c;
    (void)d;
    return call(&pp_malloc_hook_memalign, alignment, size);
}

static uintptr_t aligned_new(uintptr_t size, uintptr_t alignment, uintptr_t c, uintptr_t d)
{
    uintptr_t block = 0;
    do {
        block = aligned_new_nothrow(size, alignment, c, d);
    } while (block == 0 && may_try_again());
    return block;
}

static uintptr_t zeroed_alloc(uintptr_t size, uintptr_t b, uintptr_t c, uintptr_t d)
{
    (void)b;
    (void)c;
    (void)d;
    return call(&pp_malloc_hook_calloc, 1, size);
}

typedef struct stand_in {
    const char *name;
    pp_malloc_function *function; /* NULL: the stand-in is ... */
    pp_malloc_hook *replacement;  /* ... the first definition of this hook's function */
} stand_in;

static const stand_in stand_ins[] = {
    {"mallocx", alloc_with_flags, NULL},
    {"rallocx", resize_with_flags, NULL},
    {"xallocx", resize_in_place, NULL},
    {"je_mallocx", alloc_with_flags, NULL},
    {"je_rallocx", resize_with_flags, NULL},
    {"je_xallocx", resize_in_place, NULL},
    {"_rjem_mallocx", alloc_with_flags, NULL},
    {"_rjem_rallocx", resize_with_flags, NULL},
    {"_rjem_xallocx", resize_in_place, NULL},
    {"_rjem_valloc", NULL, &pp_malloc_hook_valloc},
    {"_rjem_memalign", NULL, &pp_malloc_hook_memalign},
    {"_rjem_aligned_alloc", NULL, &pp_malloc_hook_aligned_alloc},
    {"mi_zalloc", zeroed_alloc, NULL},
    {"mi_zalloc_small", zeroed_alloc, NULL},
    {"_ZnwmSt11align_val_t", aligned_new, NULL},
    {"_ZnamSt11align_val_t", aligned_new, NULL},
    {"_ZnwmSt11align_val_tRKSt9nothrow_t", aligned_new_nothrow, NULL},
    {"_ZnamSt11align_val_tRKSt9nothrow_t", aligned_new_nothrow, NULL},
    {"_Znwm", plain_new, NULL},
    {"_Znam", plain_new, NULL},
    {"tc_new", plain_new, NULL},
    {"tc_newarray", plain_new, NULL},
    {"tc_new_aligned", aligned_new, NULL},
    {"tc_newarray_aligned", aligned_new, NULL},
    {"tc_new_aligned_nothrow", aligned_new_nothrow, NULL},
    {"tc_newarray_aligned_nothrow", aligned_new_nothrow, NULL},
    {"je_valloc", NULL, &pp_malloc_hook_valloc},
    {"tc_valloc", NULL, &pp_malloc_hook_valloc},
    {"tc_pvalloc", NULL, &pp_malloc_hook_pvalloc},
    {"je_memalign", NULL, &pp_malloc_hook_memalign},
    {"tc_memalign", NULL, &pp_malloc_hook_memalign},
    {"je_aligned_alloc", NULL, &pp_malloc_hook_aligned_alloc},
};

static pp_malloc_hook *of_the_same_shape(pp_malloc_shape shape)
{
    switch (shape) {
    case PP_SHAPE_ALLOC0:
    case PP_SHAPE_NEW:
        return &pp_malloc_hook_malloc;
    case PP_SHAPE_CALLOC:
        return &pp_malloc_hook_calloc;
    case PP_SHAPE_POSIX:
        return &pp_malloc_hook_posix_memalign;
    case PP_SHAPE_RESIZE:
        return &pp_malloc_hook_realloc;
    case PP_SHAPE_RELEASE:
    case PP_SHAPE_DELETE:
        return &pp_malloc_hook_free;
    default:
        return NULL;
    }
}

pp_malloc_function *pp_malloc_fallback(const pp_malloc_hook *hook)
{
    pp_malloc_hook *replacement = of_the_same_shape(hook->shape);
    for (size_t i = 0; i < sizeof stand_ins / sizeof *stand_ins; i++) {
        if (strcmp(stand_ins[i].name, hook->name) == 0) {
            if (stand_ins[i].function != NULL) {
                return stand_ins[i].function;
            }
            replacement = stand_ins[i].replacement;
        }
    }
    /* An allocator before us has its own blocks. */
    return replacement != NULL ? pp_malloc_first_definition(replacement) : NULL;
}
