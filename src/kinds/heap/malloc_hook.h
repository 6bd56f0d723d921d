/* SPDX-License-Identifier: MIT
 *
 * malloc_hook.h: a hook of an allocation function, and the table of all hooks.
 *
 * An entry counts a call down, asks the filter, and jumps to the real function. Files find the real
 * functions in one direction, each with a header of its own:
 *
 *   malloc_x86_64.S --> malloc.c              the slow path: samples, frees of sampled blocks
 *                               |
 *                               v
 *                            malloc_real      finds real functions when the program starts
 *                             |       |
 *                             v       v
 *                malloc_bootstrap   malloc_late       finds real functions later
 *                memory for the       |       |
 *                loader meanwhile     v       |
 *                            malloc_fallback  |       stand-ins for functions that nobody defines
 *                                     |       |
 *                                     v       v
 *                                  malloc_objects     which loaded object has a definition
 *                                         |
 *                                         v
 *                                    malloc_hook      the table
 *
 * A fully static program has two files instead of those below malloc.c: malloc_static.c (the table)
 * and malloc_objects_static.c. malloc_names_shared.c hides names that nobody else defines, in
 * libpprof.so only.
 *
 * Zone: HOOK.
 */
#ifndef PP_KINDS_HEAP_MALLOC_HOOK_H
#define PP_KINDS_HEAP_MALLOC_HOOK_H

#include "arch/hook_layout.h"
#include "symbol/malloc_list.h"

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

/* Any function of at most four words that returns at most one. */
typedef uintptr_t pp_malloc_function(uintptr_t, uintptr_t, uintptr_t, uintptr_t);

/*
 * A hook may be called at any time: until it is resolved, `real` and `target` lead to the slow
 * path.
 */
typedef struct pp_malloc_hook {
    pp_malloc_function *real;
    pp_malloc_function *target; /* real, counting or direct: see symbol/malloc_list.h */
    pp_malloc_function *counting;
    pp_malloc_function *direct; /* NULL except for NEW and DELETE */
    pp_malloc_function *entry;  /* what the program calls; the leaf of its stacks */
    pp_malloc_function *slow;   /* the value of `real` and `target` of an unresolved hook */
    const char *name;
    pp_malloc_shape shape;
    bool resolved;
    bool passes;        /* target is real */
    bool is_unloadable; /* dlclose may unload the object of `real` */
} pp_malloc_hook;

PP_ASSERT_HOOK(pp_malloc_hook);

#define PP_MALLOC_DECLARE(name, shape) extern pp_malloc_hook pp_malloc_hook_##name;
PP_MALLOC_LIST(PP_MALLOC_DECLARE)
#undef PP_MALLOC_DECLARE

/* The hooks of operator new and delete (PP_MALLOC_LIST_CXX), in the order of the list. */
#define PP_MALLOC_NUMBER(name, shape) PP_MALLOC_NUMBER_##name,
enum { PP_MALLOC_LIST_CXX(PP_MALLOC_NUMBER) PP_MALLOC_CXX_HOOKS };
#undef PP_MALLOC_NUMBER
extern pp_malloc_hook *const pp_malloc_cxx_hooks[PP_MALLOC_CXX_HOOKS];

/* Whether the hook is one of pp_malloc_cxx_hooks. */
bool pp_malloc_is_cxx(const pp_malloc_hook *hook);

/* What the entries leave on the stack for the slow path. */
typedef struct pp_malloc_call {
    uintptr_t argument[4];
    pp_malloc_hook *hook;
    uintptr_t bx, fp;
    uintptr_t return_address;
} pp_malloc_call;

PP_ASSERT_CALL(pp_malloc_call, 4);

/* What the target of a resolved hook is. Only operator new and delete are anything but counted. */
typedef enum pp_malloc_way { PP_MALLOC_COUNTED, PP_MALLOC_DIRECT, PP_MALLOC_PASSED } pp_malloc_way;

/* Returns the way of a hook. `of_allocator`: the real function counts as the allocator's own.
 * `all_direct`: pp_malloc_all_may_be_direct(). */
pp_malloc_way pp_malloc_way_of(const pp_malloc_hook *hook, bool of_allocator, bool all_direct);

/* Enters the real function: the hook is resolved from now on. */
void pp_malloc_adopt(pp_malloc_hook *hook, pp_malloc_function *real, pp_malloc_way way);

/* Makes the hook unresolved again, as if nobody had ever called it. */
void pp_malloc_forget(pp_malloc_hook *hook);

/* Answers questions about the definitions that a search has found. */
typedef struct pp_malloc_found {
    /* Whether the program's calls of this function come to our entry: no object before us defines
     * it. */
    bool (*is_first)(const pp_malloc_hook *hook, const void *context);
    /* Whether the direct code suits pp_malloc_cxx_hooks[index], which has a direct code: it comes
     * first, and its real function, if there is any, is a C++ runtime's. */
    bool (*may_be_direct)(size_t index, const void *context);
} pp_malloc_found;

/*
 * Whether operator new and delete may call malloc and free directly. A program or a library that
 * replaces some of these functions, before us or after us, may rely on it that the others call
 * them: so it is all or none.
 */
bool pp_malloc_all_may_be_direct(const pp_malloc_found *found, const void *context);

#endif
