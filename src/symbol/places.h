/* SPDX-License-Identifier: MIT
 *
 * places.h: names for code that no symbol table names, so that each function has a row of its own
 * in a report: distribution binaries are stripped to their dynamic symbols.
 *
 *   strlen@plt        a stub of the procedure linkage table, by the slot that it jumps through
 *   strlen            the variant of an STT_GNU_IFUNC symbol that the loader has chosen (symbol/ifuncs.h)
 *   [gzip]+0x1a40     a function that has an entry in the unwind table (symbol/extents.h): the module's file
 *                     name, and the link-time address of the function's start, which is the same in every run
 *
 * The first two are names as from a symbol table. The third is a place only (pp_symbol.is_place).
 * What has no entry either keeps no name.
 *
 * Zone: NORMAL, and the fatal-signal writer (open, fstat, stat, pread, close, process_vm_readv).
 * Owns: nothing; the names live in the caller's arena.
 */
#ifndef PP_SYMBOL_PLACES_H
#define PP_SYMBOL_PLACES_H

#include "base/arena.h"
#include "symbol/names.h"
#include "modules/mapping.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Names those of `count` ascending addresses in mappings[index] whose symbol has no name yet.
 * symbols[i] belongs to addresses[i]. `mappings` are those of the whole process: slots of other
 * modules tell what the loader has chosen. Returns how many got a name that is not only a place.
 */
size_t pp_places_name(const pp_mapping *mappings, size_t mapping_count, size_t index,
                      const uintptr_t *addresses, size_t count, pp_symbol *symbols,
                      pp_arena *arena);

/* pp_symbols_resolve(), and then the former for the rest. Returns how many have a name that is not
 * only a place. */
size_t pp_places_resolve(const pp_mapping *mappings, size_t mapping_count, size_t index,
                         const uintptr_t *addresses, size_t count, pp_symbol *symbols,
                         pp_arena *arena);

#endif
