/* SPDX-License-Identifier: MIT
 *
 * malloc_static.c: the allocation hooks of a fully static program.
 *
 * libc.a defines malloc, free and realloc strongly, and all the others in the same file, so that no
 * definition can replace them by name. Instead, the linker redirects the calls: with --wrap=malloc,
 * a call of malloc becomes a call of __wrap_malloc, which is our entry, and __real_malloc is the
 * function that malloc would have been: libc's, or the program's own. libpprof_static.wrap has the
 * options for all functions. Without them, the linker leaves this file out, and the library logs
 * that the heap profile will be empty.
 *
 * Everything is known when the program is linked: every hook is resolved. operator new calls
 * malloc, so that C++ needs no hooks of its own.
 *
 * Zone: HOOK.
 * Owns: the hooks.
 * Tested by: e2e.static
 */
#include "kinds/heap/malloc_real.h"

#include "host/kind.h"
#include "kinds/heap/malloc_bootstrap.h"
#include "libc/allocation.h"

PP_NEEDS_KINDS;

#define DECLARE_CODE(symbol, shape_name)                                                           \
    extern pp_malloc_function pp_entry_##symbol;                                                   \
    extern pp_malloc_function pp_count_##symbol;                                                   \
    extern pp_malloc_function real_##symbol __asm__("__real_" #symbol);
PP_MALLOC_LIST_LIBC(DECLARE_CODE)

__asm__(PP_LIBC_LACKS);

#define DEFINE_HOOK(symbol, shape_name)                                                            \
    pp_malloc_hook pp_malloc_hook_##symbol = {                                                     \
        .real = real_##symbol,                                                                     \
        .target = PP_LIBC_CALLS_MALLOC(symbol) ? real_##symbol : pp_count_##symbol,                \
        .counting = pp_count_##symbol,                                                             \
        .entry = pp_entry_##symbol,                                                                \
        .name = #symbol,                                                                           \
        .shape = PP_SHAPE_##shape_name,                                                            \
        .resolved = true,                                                                          \
        .passes = PP_LIBC_CALLS_MALLOC(symbol),                                                    \
    };
PP_MALLOC_LIST_LIBC(DEFINE_HOOK)

bool pp_malloc_resolve(pp_malloc_hook *hook, uintptr_t caller)
{
    (void)hook;
    (void)caller;
    return true;
}

/* ---- the start of libc ---- */

static bool libc_is_ready = !PP_LIBC_ALLOCATES_AT_START;

static void note_that_libc_is_ready(void)
{
    libc_is_ready = true;
}

/* Runs after libc has initialised itself, which allocates, and before all constructors. */
__attribute__((section(".preinit_array"),
               used)) static void (*const at_preinit)(void) = note_that_libc_is_ready;

bool pp_malloc_is_too_early(void)
{
    return !libc_is_ready;
}

/* ---- no loader allocates ---- */

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
