/* SPDX-License-Identifier: MIT
 *
 * ifuncs.h: finds the functions that the loader has chosen at run time for a module's STT_GNU_IFUNC
 * symbols.
 *
 *   libc's symbol  strlen = resolver           what the file has
 *   a slot         strlen: __strlen_avx2       what the loader has stored there; the file, if it is
 *                                              stripped, has no name for it
 *
 * The loader has called the resolver; this code calls nothing. It reads the result where the loader
 * has stored it: in slots of the module itself (IRELATIVE, whose addend is the resolver), and in
 * slots of other modules that name the symbol. It trusts a slot if the slot's module is still
 * loaded, and if the slot points into the symbol's module: the slot of a hooked function points
 * elsewhere.
 *
 * Zone: NORMAL, and the fatal-signal writer (open, fstat, stat, pread, close, process_vm_readv).
 * Owns: nothing; the names live in the caller's arena.
 */
#ifndef PP_SYMBOL_IFUNCS_H
#define PP_SYMBOL_IFUNCS_H

#include "base/arena.h"
#include "elf/elf.h"
#include "elf/mapping.h"
#include "symbol/extents.h"

#include <stddef.h>
#include <stdint.h>

typedef struct pp_ifunc {
    const char *name;
    uint64_t resolver; /* link-time address */
    uint64_t target;   /* link-time address; 0 = unknown */
    bool is_weak;
} pp_ifunc;

typedef struct pp_ifuncs {
    pp_ifunc *list;
    size_t count;
} pp_ifuncs;

/* Reads the STT_GNU_IFUNC symbols; their targets are still unknown. */
void pp_ifuncs_read(pp_ifuncs *ifuncs, const pp_elf *elf, pp_arena *arena);

/* Finds targets in `count` ascending extents of mappings[index], whose file is `elf`. Reads the
 * slots of all `mapping_count` mappings. */
void pp_ifuncs_find(pp_ifuncs *ifuncs, const pp_elf *elf, const pp_mapping *mappings,
                    size_t mapping_count, size_t index, const pp_extent *extents, size_t count);

/*
 * Returns the function whose target is the last one in [extent.start, address]. Of several with
 * this target: the one with the fewest leading underscores, a global one before a weak one, then
 * the first in name order (memcpy and memmove share a target on many processors; memcmp is before
 * its weak alias bcmp). NULL if there is none.
 */
const pp_ifunc *pp_ifuncs_at(const pp_ifuncs *ifuncs, const pp_extent *extent, uint64_t address);

/* Returns the function with this resolver; of several the same one as pp_ifuncs_at(). */
const pp_ifunc *pp_ifuncs_of(const pp_ifuncs *ifuncs, uint64_t resolver);

#endif
