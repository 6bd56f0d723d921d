/* SPDX-License-Identifier: MIT
 *
 * malloc_hook.c: the table of hooks, and how a hook is resolved.
 *
 * Zone: HOOK.
 * Owns: the hooks.
 * Tested by: unit.malloc_early, e2e.heap_allocators, e2e.cxx
 */
#include "kinds/heap/malloc_hook.h"

/* Only NEW and DELETE have a direct code. */
#define DIRECT_NONE(symbol) NULL
#define DIRECT_CODE(symbol) pp_direct_##symbol
#define DIRECT_MALLOC       DIRECT_NONE
#define DIRECT_FREE         DIRECT_NONE
#define DIRECT_CALLOC       DIRECT_NONE
#define DIRECT_REALLOC      DIRECT_NONE
#define DIRECT_POSIX        DIRECT_NONE
#define DIRECT_ALLOC0       DIRECT_NONE
#define DIRECT_ALLOC1       DIRECT_NONE
#define DIRECT_RESIZE       DIRECT_NONE
#define DIRECT_IN_PLACE     DIRECT_NONE
#define DIRECT_CALLOC_IN    DIRECT_NONE
#define DIRECT_RESIZE_IN    DIRECT_NONE
#define DIRECT_RELEASE      DIRECT_NONE
#define DIRECT_NEW          DIRECT_CODE
#define DIRECT_DELETE       DIRECT_CODE

#define DECLARE_CODE(symbol, shape_name)                                                           \
    extern pp_malloc_function pp_entry_##symbol;                                                   \
    extern pp_malloc_function pp_count_##symbol;                                                   \
    extern pp_malloc_function pp_direct_##symbol;                                                  \
    extern pp_malloc_function pp_slow_##symbol;
PP_MALLOC_LIST(DECLARE_CODE)

#define DEFINE_HOOK(symbol, shape_name)                                                            \
    pp_malloc_hook pp_malloc_hook_##symbol = {                                                     \
        .real = pp_slow_##symbol,                                                                  \
        .target = pp_slow_##symbol,                                                                \
        .counting = pp_count_##symbol,                                                             \
        .direct = DIRECT_##shape_name(symbol),                                                     \
        .entry = pp_entry_##symbol,                                                                \
        .slow = pp_slow_##symbol,                                                                  \
        .name = #symbol,                                                                           \
        .shape = PP_SHAPE_##shape_name,                                                            \
    };
PP_MALLOC_LIST(DEFINE_HOOK)

#define ADDRESS_OF_HOOK(symbol, shape_name) &pp_malloc_hook_##symbol,
pp_malloc_hook *const pp_malloc_cxx_hooks[] = {PP_MALLOC_LIST_CXX(ADDRESS_OF_HOOK)};

bool pp_malloc_is_cxx(const pp_malloc_hook *hook)
{
    for (size_t i = 0; i < PP_MALLOC_CXX_HOOKS; i++) {
        if (pp_malloc_cxx_hooks[i] == hook) {
            return true;
        }
    }
    return false;
}

pp_malloc_way pp_malloc_way_of(const pp_malloc_hook *hook, bool of_allocator, bool all_direct)
{
    if (of_allocator) {
        return PP_MALLOC_COUNTED;
    }
    return hook->direct != NULL && all_direct ? PP_MALLOC_DIRECT : PP_MALLOC_PASSED;
}

void pp_malloc_adopt(pp_malloc_hook *hook, pp_malloc_function *real, pp_malloc_way way)
{
    pp_malloc_function *target = way == PP_MALLOC_COUNTED  ? hook->counting
                                 : way == PP_MALLOC_DIRECT ? hook->direct
                                                           : real;
    hook->passes = way == PP_MALLOC_PASSED;
    __atomic_store_n(&hook->real, real, __ATOMIC_RELEASE);
    __atomic_store_n(&hook->target, target, __ATOMIC_RELEASE);
    __atomic_store_n(&hook->resolved, true, __ATOMIC_RELEASE);
}

void pp_malloc_forget(pp_malloc_hook *hook)
{
    __atomic_store_n(&hook->target, hook->slow, __ATOMIC_RELEASE);
    __atomic_store_n(&hook->real, hook->slow, __ATOMIC_RELEASE);
    __atomic_store_n(&hook->resolved, false, __ATOMIC_RELEASE);
    hook->is_unloadable = false;
}

bool pp_malloc_all_may_be_direct(const pp_malloc_found *found, const void *context)
{
    bool all = found->is_first(&pp_malloc_hook_malloc, context) &&
               found->is_first(&pp_malloc_hook_free, context);
    for (size_t i = 0; all && i < PP_MALLOC_CXX_HOOKS; i++) {
        all = pp_malloc_cxx_hooks[i]->direct == NULL || found->may_be_direct(i, context);
    }
    return all;
}
