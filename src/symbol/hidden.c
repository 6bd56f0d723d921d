/* SPDX-License-Identifier: MIT
 *
 * hidden.c: names of allocators' entries and of thread roots.
 *
 * Zone: SIGNAL.
 * Locks: none.
 * Owns: nothing.
 */
#include "symbol/hidden.h"

#include <stddef.h>
#include <string.h>

static bool is_one_of(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, list[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool begins_with(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

bool pp_symbol_is_allocator(const char *name)
{
    static const char *const prefixes[] = {"_rjem_", "je_", "tc_", "mi_", "__libc_"};
    static const char *const names[] = {
        "malloc",
        "calloc",
        "realloc",
        "reallocarray",
        "posix_memalign",
        "aligned_alloc",
        "memalign",
        "valloc",
        "pvalloc",
        "mallocx",
        "rallocx",
        "xallocx",
        "malloc_skip_new_handler",
        "malloc_small",
        "zalloc",
        "zalloc_small",
        "new",
        "new_n",
        "heap_malloc",
        "heap_zalloc",
        "heap_calloc",
        "heap_realloc",
        "heap_rezalloc",
    };
    /* operator new and new[], in every form; tcmalloc's under names of its own */
    if (begins_with(name, "_Znw") || begins_with(name, "_Zna") || begins_with(name, "tc_new")) {
        return true;
    }
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (begins_with(name, prefixes[i])) {
            name += strlen(prefixes[i]);
            break;
        }
    }
    return is_one_of(name, names, sizeof names / sizeof *names);
}

bool pp_symbol_is_thread_root(const char *name)
{
    static const char *const names[] = {
        "_start", "clone", "clone3", "__clone", "__clone3", "__clone_internal", "start_thread"};
    return is_one_of(name, names, sizeof names / sizeof *names);
}
