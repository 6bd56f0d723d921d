/* SPDX-License-Identifier: MIT
 *
 * places.h: names code without a symbol, so that each function has a row of its own in a report.
 * Distributions strip binaries to their dynamic symbols.
 *
 *   strlen@plt        a stub of the procedure linkage table, by the slot of its jump
 *   strlen            the variant of an STT_GNU_IFUNC symbol that the loader has chosen
 *                     (symbol/ifuncs.h)
 *   [gzip]+0x1a40     a function with an entry in the unwind table (symbol/extents.h): the module's
 *                     file name, and the link-time address of the function's start, which is the
 *                     same in every run
 *
 * The first two are names as in a symbol table. The third is only a place (pp_symbol.is_place).
 * Code without such an entry stays nameless, but for the first instructions of a file, which are
 * placed at its entry address.
 *
 * Zone: NORMAL, and the fatal-signal writer (open, fstat, stat, pread, close, process_vm_readv).
 * Owns: nothing; the names live in the caller's arena.
 */
#ifndef PP_SYMBOL_PLACES_H
#define PP_SYMBOL_PLACES_H

#include "base/arena.h"
#include "elf/mapping.h"
#include "symbol/names.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Names those of `count` ascending addresses in mappings[index] that have no name yet. symbols[i]
 * belongs to addresses[i]. `mappings` are those of the whole process: slots of other modules hold
 * the loader's choices. Returns the number of new names that are more than a place.
 */
size_t pp_places_name(const pp_mapping *mappings, size_t mapping_count, size_t index,
                      const uintptr_t *addresses, size_t count, pp_symbol *symbols,
                      pp_arena *arena);

/* Calls pp_symbols_resolve(), then pp_places_name() for the rest. Returns the number of names that
 * are more than a place. */
size_t pp_places_resolve(const pp_mapping *mappings, size_t mapping_count, size_t index,
                         const uintptr_t *addresses, size_t count, pp_symbol *symbols,
                         pp_arena *arena);

#endif
