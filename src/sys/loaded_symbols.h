/* SPDX-License-Identifier: MIT
 *
 * loaded_symbols.h: finds the functions that a loaded object defines.
 *
 * It reads the object's dynamic symbol table as the loader does, but without the loader: dlsym
 * waits for a lock that is held while the constructors of a library run.
 *
 *   DT_GNU_HASH   [buckets, first, words, shift][filter][buckets][chains]   a bit ends each chain
 *   DT_HASH       [buckets, symbols][buckets][next of each symbol]          without DT_GNU_HASH
 *   DT_VERSYM     a number for each symbol: of several versions of a name, one is not hidden
 *
 * Zone: SIGNAL.
 * Locks: none. The object must stay loaded: see modules/loaded_objects.h.
 */
#ifndef PP_SYS_LOADED_SYMBOLS_H
#define PP_SYS_LOADED_SYMBOLS_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct pp_loaded_symbols {
    uintptr_t bias;
    const ElfW(Dyn) * dynamic; /* NULL: the object has none */
    const char *names;
    const char *soname; /* NULL: none */
    const ElfW(Sym) * symbols;
    const ElfW(Half) * versions;              /* NULL: none */
    const uint32_t *gnu_hash;                 /* NULL: none */
    const uint32_t *hash;                     /* NULL: none */
    const ElfW(Verdef) * version_definitions; /* NULL: none */
    const ElfW(Verneed) * version_needs;      /* NULL: none */
} pp_loaded_symbols;

/* The dynamic section of an object in memory; NULL: it has none. */
const ElfW(Dyn) * pp_loaded_dynamic(const struct dl_phdr_info *info);

/* `dynamic` is the section in memory (may be NULL), `bias` the load address minus the linked
 * address. */
void pp_loaded_symbols_read(pp_loaded_symbols *symbols, const ElfW(Dyn) * dynamic, uintptr_t bias);

/*
 * Returns the address of the function `name` in the object, in its default version, as dlsym does.
 * 0 if the object does not define it, or defines it as data. For a function that is chosen at run
 * time (STT_GNU_IFUNC) this calls the resolver, so the object must be relocated.
 */
uintptr_t pp_loaded_symbols_find(const pp_loaded_symbols *symbols, const char *name);

/* The same for a variable. */
uintptr_t pp_loaded_symbols_find_variable(const pp_loaded_symbols *symbols, const char *name);

/* The same for the definition that the loader would take for a reference with this version. */
uintptr_t pp_loaded_symbols_find_version(const pp_loaded_symbols *symbols, const char *name,
                                         const char *version);

/* The version of the object's reference number `index`; NULL: it has none. */
const char *pp_loaded_symbols_version_needed(const pp_loaded_symbols *symbols, uint32_t index);

/* The version of the object's definition number `index` if it is not the default one; else NULL. */
const char *pp_loaded_symbols_version_hidden(const pp_loaded_symbols *symbols, uint32_t index);

/* The number of all symbols, for those who go through `symbols`; 0 if it is unknown. */
size_t pp_loaded_symbols_count(const pp_loaded_symbols *symbols);

/* Whether the object defines `name`. Calls nothing. `hash` is pp_loaded_symbols_hash(name). */
bool pp_loaded_symbols_defines(const pp_loaded_symbols *symbols, const char *name, uint32_t hash);

/* Whether the object has a strong (not weak) reference to `name`. */
bool pp_loaded_symbols_needs(const pp_loaded_symbols *symbols, const char *name);

/* The hash function of DT_GNU_HASH. */
uint32_t pp_loaded_symbols_hash(const char *name);

#endif
