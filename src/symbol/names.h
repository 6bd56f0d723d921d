/* SPDX-License-Identifier: MIT
 *
 * names.h: function names of addresses, from ELF symbol tables.
 *
 * Only the modules and symbols that a profile needs are read, when it is written: nothing is parsed
 * at load time. The file at mapping.path is read with pread (a mapping of a file that somebody
 * truncates would raise SIGBUS in the host), its .symtab or, without one, .dynsym is walked once
 * against the sorted addresses. A separate debug file named by the build id
 * (/usr/lib/debug/.build-id/xx/yyyy.debug) supplies the .symtab that a stripped file lacks. A file
 * whose build id is no longer the mapping's is not used. Where there is no file any more (replaced,
 * deleted, out of reach in a sandbox), what the loader has mapped of it still has the .dynsym.
 * [vdso] is read from memory.
 *
 * Zone: NORMAL, and the fatal-signal writer (open, fstat, stat, pread, close, process_vm_readv; no
 * malloc, no locks).
 * Owns: nothing; the names live in the caller's arena.
 */
#ifndef PP_SYMBOL_NAMES_H
#define PP_SYMBOL_NAMES_H

#include "base/arena.h"
#include "symbol/elf.h"
#include "modules/mapping.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_symbol {
    const char *name; /* as the symbol table has it (mangled); NULL = unknown */
    uintptr_t entry;  /* run-time address of the function's first instruction */
    bool is_place;    /* the name says only where the function is: see symbol/places.h */
    bool is_local; /* known to its own module alone: no other one's calls of the name lead there */
} pp_symbol;

/*
 * Resolves `count` ascending addresses (of instructions, not return-like) that all lie in
 * `mapping`. symbols[i] belongs to addresses[i]; names are copied into `arena`. A symbol covers
 * [st_value, st_value + st_size); a size of 0 covers up to the next symbol of its section. Among
 * several: a global one before weak before local, then the shorter run of leading underscores, then
 * the first in name order (deterministic). Versions (@GLIBC_2.34) are no part of the name.
 * Returns how many were resolved; files that cannot be read resolve none.
 */
size_t pp_symbols_resolve(const pp_mapping *mapping, const uintptr_t *addresses, size_t count,
                          pp_symbol *symbols, pp_arena *arena);

/* Opens the ELF that `mapping` was made from, to be closed by pp_elf_close(). Returns 0, or -1 if
 * it has none, or if the file is another one by now. */
int pp_symbols_open(pp_elf *elf, const pp_mapping *mapping);

#endif
