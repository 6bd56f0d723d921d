/* SPDX-License-Identifier: MIT
 *
 * stubs.h: names of the stubs that a module's code calls functions of other modules by.
 *
 * A stub has no symbol and shares one entry of the unwind table with all others. Its own jump tells
 * the slot, and the relocation of the slot tells the symbol: strlen@plt, as disassemblers write it.
 *
 * Zone: NORMAL, and the fatal-signal writer (pread only).
 * Owns: nothing; the names live in the caller's arena.
 */
#ifndef PP_SYMBOL_STUBS_H
#define PP_SYMBOL_STUBS_H

#include "base/arena.h"
#include "symbol/elf.h"
#include "symbol/ifuncs.h"

#include <stddef.h>
#include <stdint.h>

typedef struct pp_stub_name {
    const char *name; /* NULL: the address is in no stub, or in one that tells nothing */
    uint64_t start;   /* link-time address of the stub */
} pp_stub_name;

/*
 * Names the stubs that hold `count` ascending link-time addresses. names[i] belongs to
 * addresses[i]. `ifuncs` are the module's own: a stub of one has the addend of its slot for a name.
 */
void pp_stubs_name(const pp_elf *elf, const pp_ifuncs *ifuncs, const uint64_t *addresses,
                   size_t count, pp_stub_name *names, pp_arena *arena);

#endif
