/* SPDX-License-Identifier: MIT
 *
 * libc.c: finds libc's symbol table in the list of objects that the loader keeps for debuggers.
 *
 * Nothing unloads libc or the objects loaded before it, so the list is intact up to libc at any
 * time.
 *
 * Zone: HOOK.
 * Locks: only dl_iterate_phdr's.
 * Owns: the pointer to dl_iterate_phdr.
 */
#include "modules/libc.h"

#include "arch/shown_as.h"
#include "base/path.h"
#include "modules/loader_use.h"
#include "modules/loader_state.h"
#include "modules/loaders_list.h"
#include "sys/loaded_symbols.h"

#include <stdbool.h>
#include <string.h>

static bool begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* Accepts glibc and musl, whose name differs between distributions. */
static bool is_libc(const char *soname)
{
    return soname != NULL && (begins_with(soname, "libc.so") || begins_with(soname, "libc.musl-"));
}

/* musl may have no soname: then its path tells it. */
static bool is_libc_entry(const struct link_map *map, const char *soname)
{
    return is_libc(soname) || (pp_loader_is_libc() && soname == NULL && map->l_name != NULL &&
                               (begins_with(pp_base_name(map->l_name), "ld-musl-") ||
                                is_libc(pp_base_name(map->l_name))));
}

bool pp_libc_is(const char *soname)
{
    return is_libc(soname) || (soname != NULL && begins_with(soname, "libpthread.so"));
}

typedef uintptr_t find_in_libc(const pp_loaded_symbols *symbols, const char *name);

static uintptr_t find(find_in_libc *find_in, const char *name)
{
    const struct link_map *map = pp_loaders_list();
    for (; map != NULL; map = map->l_next) {
        pp_loaded_symbols symbols;
        pp_loaded_symbols_read(&symbols, map->l_ld, map->l_addr);
        if (is_libc_entry(map, symbols.soname)) {
            return find_in(&symbols, name);
        }
    }
    return 0;
}

uintptr_t pp_libc_function(const char *name)
{
    return find(pp_loaded_symbols_find, name);
}

uintptr_t pp_libc_variable(const char *name)
{
    return find(pp_loaded_symbols_find_variable, name);
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
    bool was_out = pp_loader_go_in();
    int last = known(visit, context);
    if (was_out) {
        pp_loader_go_out();
    }
    return last;
}
PP_OWN_WORK(pp_libc_each_object);
