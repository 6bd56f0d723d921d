/* SPDX-License-Identifier: MIT
 *
 * libc.c: follows the list of objects that the loader keeps for debuggers, to libc's table of symbols.
 *
 * Libc never goes, and what is loaded before it stays too: the list is whole up to there at any time.
 *
 * Zone: HOOK.
 * Locks: none, but for dl_iterate_phdr's.
 * Owns: where dl_iterate_phdr is.
 */
#include "sys/libc.h"

#include "base/shown_as.h"
#include "sys/loaded_symbols.h"

#include <stdbool.h>
#include <string.h>

/* The loader's, by its interface with debuggers [<link.h>]. Not there in every fully static program. */
extern struct r_debug loaders_list __asm__("_r_debug") __attribute__((weak));

/* glibc's, and musl's, whose name differs from one distribution to the other. */
static bool is_libc(const char *soname)
{
    static const char *const names[] = {"libc.so", "libc.musl-"};
    for (size_t i = 0; soname != NULL && i < sizeof names / sizeof *names; i++) {
        if (strncmp(soname, names[i], strlen(names[i])) == 0) {
            return true;
        }
    }
    return false;
}

uintptr_t pp_libc_function(const char *name)
{
    const struct link_map *map = &loaders_list != NULL ? loaders_list.r_map : NULL;
    for (; map != NULL; map = map->l_next) {
        pp_loaded_symbols symbols;
        pp_loaded_symbols_read(&symbols, map->l_ld, map->l_addr);
        if (is_libc(symbols.soname)) {
            return pp_loaded_symbols_find(&symbols, name);
        }
    }
    return 0;
}

int pp_libc_each_object(pp_object_visit *visit, void *context)
{
    typedef int iterate_objects(pp_object_visit *, void *);
    static iterate_objects *iterate;
    iterate_objects *known = __atomic_load_n(&iterate, __ATOMIC_RELAXED);
    if (known == NULL) {
        known = (iterate_objects *)pp_libc_function("dl_iterate_phdr");
        known = known != NULL ? known : dl_iterate_phdr;
        __atomic_store_n(&iterate, known, __ATOMIC_RELAXED);
    }
    return known(visit, context);
}
PP_OWN_WORK(pp_libc_each_object);
