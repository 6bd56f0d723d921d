/* SPDX-License-Identifier: MIT
 *
 * names.h: finds function names of addresses, in ELF symbol tables.
 *
 * This code reads only the modules and symbols of a profile, when the profile is written; nothing
 * is parsed at load time. It reads the file at mapping.path with pread (a mapped file that another
 * process truncates would raise SIGBUS in the host), and walks its .symtab or, without one, .dynsym
 * once against the sorted addresses. The separate debug file of the build id
 * (/usr/lib/debug/.build-id/xx/yyyy.debug) provides the .symtab that a stripped file lacks. A file
 * whose build id differs from the mapping's is not used. If the file is gone (replaced, deleted,
 * unreachable in a sandbox), its loaded segments still have the .dynsym. [vdso] is read from
 * memory.
 *
 * Zone: NORMAL, and the fatal-signal writer (open, fstat, stat, pread, close, process_vm_readv; no
 *       malloc, no locks).
 * Owns: nothing; the names live in the caller's arena.
 */
#ifndef PP_SYMBOL_NAMES_H
#define PP_SYMBOL_NAMES_H

#include "base/arena.h"
#include "elf/elf.h"
#include "elf/mapping.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_symbol {
    const char *name; /* the symbol table's name (mangled); NULL = unknown */
    uintptr_t entry;  /* run-time address of the function's first instruction */
    bool is_place;    /* the name is only a place: see symbol/places.h */
    bool is_local;    /* other modules' calls of the name do not reach this function */
} pp_symbol;

/*
 * Resolves `count` ascending addresses (of instructions, not return-like), all of them in
 * `mapping`. symbols[i] belongs to addresses[i]; `arena` holds copies of the names. A symbol covers
 * [st_value, st_value + st_size); with a size of 0 it covers up to the next symbol of its section.
 * Of several symbols: global before weak before local, then the fewest leading underscores, then
 * the first in name order (deterministic). Versions (@GLIBC_2.34) are no part of the name. Returns
 * the number of resolved addresses; 0 if the file cannot be read.
 */
size_t pp_symbols_resolve(const pp_mapping *mapping, const uintptr_t *addresses, size_t count,
                          pp_symbol *symbols, pp_arena *arena);

/* Opens the ELF of `mapping`, for pp_elf_close(). Returns 0, or -1 if the mapping has no file, or
 * if another file has its path now. */
int pp_symbols_open(pp_elf *elf, const pp_mapping *mapping);

#endif
