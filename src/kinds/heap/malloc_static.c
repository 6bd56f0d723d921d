/* SPDX-License-Identifier: MIT
 *
 * malloc_static.c: the allocation hooks of a fully static program.
 *
 * libc.a defines malloc, free and realloc strongly, with all the others in the same file, so that
 * nothing can stand in front of them by its name. The linker is asked to make the way round by ours
 * instead: with --wrap=malloc a call of malloc becomes one of __wrap_malloc, which is our entry,
 * and __real_malloc is what malloc would have been: libc's, or the program's own. The options for
 * all of them are in libpprof_static.wrap; without these nobody asks for this file, and the heap
 * profile says that it sees nothing.
 *
 * Everything is known when the program is linked: no hook is ever unresolved, no call too early.
 * C++'s operator new calls malloc, which is enough.
 *
 * Zone: HOOK.
 * Owns: the hooks.
 */
#include "kinds/heap/malloc_real.h"

#include "kinds/heap/malloc_bootstrap.h"

#define DECLARE_CODE(symbol, shape_name)                                                           \
    extern pp_malloc_function pp_entry_##symbol;                                                   \
    extern pp_malloc_function pp_count_##symbol;                                                   \
    extern pp_malloc_function real_##symbol __asm__("__real_" #symbol);
PP_MALLOC_LIST_LIBC(DECLARE_CODE)

#define DEFINE_HOOK(symbol, shape_name)                                                            \
    pp_malloc_hook pp_malloc_hook_##symbol = {                                                     \
        .real = real_##symbol,                                                                     \
        .target = pp_count_##symbol,                                                               \
        .counting = pp_count_##symbol,                                                             \
        .entry = pp_entry_##symbol,                                                                \
        .name = #symbol,                                                                           \
        .shape = PP_SHAPE_##shape_name,                                                            \
        .resolved = true,                                                                          \
    };
PP_MALLOC_LIST_LIBC(DEFINE_HOOK)

bool pp_malloc_resolve(pp_malloc_hook *hook, uintptr_t caller)
{
    (void)hook;
    (void)caller;
    return true;
}

/* ---- the beginning ---- */

static bool libc_is_ready;

static void note_that_libc_is_ready(void)
{
    libc_is_ready = true;
}

/* Runs after libc's own set-up, which allocates, and before all constructors. */
__attribute__((section(".preinit_array"),
               used)) static void (*const at_preinit)(void) = note_that_libc_is_ready;

bool pp_malloc_is_too_early(void)
{
    return !libc_is_ready;
}

/* ---- what nobody needs where no loader allocates ---- */

void *pp_malloc_bootstrap(size_t size, size_t alignment)
{
    (void)size;
    (void)alignment;
    return NULL;
}

bool pp_malloc_is_bootstrap(uintptr_t address)
{
    (void)address;
    return false;
}

size_t pp_malloc_bootstrap_size(uintptr_t address)
{
    (void)address;
    return 0;
}
