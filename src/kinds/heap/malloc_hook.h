/* SPDX-License-Identifier: MIT
 *
 * malloc_hook.h: what the files of the allocation hooks share: a hook and its real function.
 *
 *   arch/x86_64_malloc.S   the entries: count down, ask the filter, jump on
 *   malloc.c               the slow path: samples, frees of sampled blocks
 *   malloc_real.c          where the real functions are, when the program starts
 *   malloc_late.c          where those are that turn up later
 *   malloc_bootstrap.c     memory for those who allocate while that is being found out
 *   malloc_fallback.c      jemalloc's own functions where there is no jemalloc
 *   malloc_names_shared.c  hides their names there
 *
 * Zone: HOOK.
 */
#ifndef PP_KINDS_HEAP_MALLOC_HOOK_H
#define PP_KINDS_HEAP_MALLOC_HOOK_H

#include "arch/malloc_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum pp_malloc_shape {
    PP_SHAPE_MALLOC,
    PP_SHAPE_REALLOC,
    PP_SHAPE_FREE,
    PP_SHAPE_ALLOC0,
    PP_SHAPE_ALLOC1,
    PP_SHAPE_CALLOC,
    PP_SHAPE_POSIX,
    PP_SHAPE_RESIZE,
    PP_SHAPE_IN_PLACE,
    PP_SHAPE_CALLOC_IN,
    PP_SHAPE_RESIZE_IN,
    PP_SHAPE_RELEASE,
    PP_SHAPE_NEW,
    PP_SHAPE_DELETE
} pp_malloc_shape;

/* Any function of up to four words; what it returns fills one. */
typedef uintptr_t pp_malloc_function(uintptr_t, uintptr_t, uintptr_t, uintptr_t);

/*
 * real and target lead to the slow path until the hook is resolved, so that it may be called at any
 * time. They stand first, in this order: the entries know that.
 */
typedef struct pp_malloc_hook {
    pp_malloc_function *real;
    pp_malloc_function *target; /* real, counting or direct: see arch/malloc_list.h */
    pp_malloc_function *counting;
    pp_malloc_function *direct; /* NULL but for NEW and DELETE */
    pp_malloc_function *entry;  /* what the program calls; the leaf of its stacks */
    pp_malloc_function *slow;   /* where real and target lead to at first */
    const char *name;
    pp_malloc_shape shape;
    bool resolved;
    bool passes; /* target is real */
    bool may_go; /* real lies in something that dlclose may unload */
} pp_malloc_hook;

#define PP_MALLOC_DECLARE(name, shape) extern pp_malloc_hook pp_malloc_hook_##name;
PP_MALLOC_LIST(PP_MALLOC_DECLARE)
#undef PP_MALLOC_DECLARE

/* What the entries leave on the stack for the slow path. */
typedef struct pp_malloc_call {
    uintptr_t argument[4];
    pp_malloc_hook *hook;
    uintptr_t bx, fp;
    uintptr_t return_address;
} pp_malloc_call;

/*
 * Finds the real function, if that was not done yet; `caller` is an address in the code that called
 * the hook. False while the calling thread is just doing that (a loader that allocates), or if
 * there is none.
 */
bool pp_malloc_resolve(pp_malloc_hook *hook, uintptr_t caller);

/* What the target of a resolved hook is. Only operator new and delete are anything but counted. */
typedef enum pp_malloc_way { PP_MALLOC_COUNTED, PP_MALLOC_DIRECT, PP_MALLOC_PASSED } pp_malloc_way;

/* Enters the real function. Zone: HOOK, as all here. */
void pp_malloc_adopt(pp_malloc_hook *hook, pp_malloc_function *real, pp_malloc_way way);

/* The hook is as if it had never been called. */
void pp_malloc_forget(pp_malloc_hook *hook);

/* The same as pp_malloc_resolve, for a hook that was not there when malloc was resolved: the
 * loader's lock is not waited for. Leaves the hook unresolved if there is not even a stand-in. */
void pp_malloc_resolve_late(pp_malloc_hook *hook, uintptr_t caller);

/* What the program itself would call: the definition of somebody before us, else the
 * real function. */
pp_malloc_function *pp_malloc_first_definition(pp_malloc_hook *hook);

/* Operator new or delete. */
bool pp_malloc_is_cxx(const pp_malloc_hook *hook);

/* Whether the library at `path` is one whose operator new calls malloc until a new_handler gives
 * up: libstdc++ or libc++. */
bool pp_malloc_is_cxx_runtime(const char *path);

/* Where malloc_usable_size is: together with malloc. */
void pp_malloc_bootstrap_resolve(void);

/* Zeroed memory for such a moment, with room for its size in front. NULL when it is used up. */
void *pp_malloc_bootstrap(size_t size, size_t alignment);
bool pp_malloc_is_bootstrap(uintptr_t address);
size_t pp_malloc_bootstrap_size(uintptr_t address);

/* Whether the program was loaded with a C++ runtime: asked without the loader, whose "no" costs it
 * an allocation. */
bool pp_malloc_has_cxx_runtime(void);

/* Whether libc itself is still being set up: nobody can walk a stack then. */
bool pp_malloc_is_too_early(void);

/* Stands in for a function that does not exist here; NULL if there is nothing like it. */
pp_malloc_function *pp_malloc_fallback(const pp_malloc_hook *hook);

#endif
