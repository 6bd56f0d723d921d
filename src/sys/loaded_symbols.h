/* SPDX-License-Identifier: MIT
 *
 * loaded_symbols.h: which functions a loaded object defines, read from its dynamic symbol table as
 * the loader reads it, but without the loader: dlsym waits for a lock that is held while the
 * constructors of a library run.
 *
 *   DT_GNU_HASH   [buckets, first, words, shift][filter][buckets][chains]   ends where a chain says so
 *   DT_HASH       [buckets, symbols][buckets][next of each symbol]          where the former is missing
 *   DT_VERSYM     a number for each symbol: of several versions of a name, one is not hidden
 *
 * Zone: SIGNAL.
 * Locks: none. The object has to stay loaded: see modules/loaded_objects.h.
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
    const ElfW(Half) * versions; /* NULL: none */
    const uint32_t *gnu_hash;    /* NULL: none */
    const uint32_t *hash;        /* likewise */
} pp_loaded_symbols;

/* `dynamic` as it lies in memory (NULL is allowed), `bias` what the object was moved by. */
void pp_loaded_symbols_read(pp_loaded_symbols *symbols, const ElfW(Dyn) * dynamic, uintptr_t bias);

/*
 * Where the object defines the function `name`: what dlsym would find there, the default version of
 * it. 0 if it does not, or only as data. A function that is chosen at run time (STT_GNU_IFUNC) has
 * its resolver called, for which the object must have been relocated.
 */
uintptr_t pp_loaded_symbols_find(const pp_loaded_symbols *symbols, const char *name);

/* Whether it does. Calls nothing. `hash` is pp_loaded_symbols_hash(name). */
bool pp_loaded_symbols_defines(const pp_loaded_symbols *symbols, const char *name, uint32_t hash);

/* Whether the object refers to `name`, and cannot do without it: not by a weak reference. */
bool pp_loaded_symbols_needs(const pp_loaded_symbols *symbols, const char *name);

/* The hash function of DT_GNU_HASH. */
uint32_t pp_loaded_symbols_hash(const char *name);

#endif
