/* SPDX-License-Identifier: MIT
 *
 * ifuncs.h: the functions that a module lets the loader choose at run time (STT_GNU_IFUNC), and
 * which ones it has chosen.
 *
 *   libc's symbol  strlen = resolver           what the file says
 *   a slot         strlen: __strlen_avx2       what the loader has put there; a stripped file has no name for it
 *
 * The loader has called the resolver; here nothing is called. The answer is read where the loader
 * has put it: in slots of the module itself (IRELATIVE, whose addend is the resolver), and in the
 * slots that other modules have for the symbol's name. Slots are believed if the module that they
 * lie in is still loaded there, and if they point into the module that has the symbol: what
 * somebody has hooked points elsewhere.
 *
 * Zone: NORMAL, and the fatal-signal writer (open, fstat, stat, pread, close, process_vm_readv).
 * Owns: nothing; the names live in the caller's arena.
 */
#ifndef PP_SYMBOL_IFUNCS_H
#define PP_SYMBOL_IFUNCS_H

#include "base/arena.h"
#include "symbol/elf.h"
#include "symbol/extents.h"
#include "modules/mapping.h"

#include <stddef.h>
#include <stdint.h>

typedef struct pp_ifunc {
    const char *name;
    uint64_t resolver; /* link-time addresses */
    uint64_t target;   /* 0 = not known */
    bool is_weak;
} pp_ifunc;

typedef struct pp_ifuncs {
    pp_ifunc *list;
    size_t count;
} pp_ifuncs;

/* Reads the symbols of that type; their targets are unknown. */
void pp_ifuncs_read(pp_ifuncs *ifuncs, const pp_elf *elf, pp_arena *arena);

/*
 * Finds targets that lie in one of `count` ascending extents of mappings[index], whose file is
 * `elf`. The slots of all `mapping_count` mappings are looked at.
 */
void pp_ifuncs_find(pp_ifuncs *ifuncs, const pp_elf *elf, const pp_mapping *mappings,
                    size_t mapping_count, size_t index, const pp_extent *extents, size_t count);

/*
 * Of the functions whose target is the last one in [extent.start, address]: the one with the fewest
 * leading underscores, a global one before a weak one, then the first in name order (memcpy and
 * memmove share a target on many processors; memcmp is before its weak alias bcmp). NULL if there
 * is none.
 */
const pp_ifunc *pp_ifuncs_at(const pp_ifuncs *ifuncs, const pp_extent *extent, uint64_t address);

/* Of those with this resolver, likewise. */
const pp_ifunc *pp_ifuncs_of(const pp_ifuncs *ifuncs, uint64_t resolver);

#endif
