/* SPDX-License-Identifier: MIT
 *
 * stubs.h: names the stubs by which a module's code calls functions of other modules.
 *
 * A stub has no symbol and shares one entry of the unwind table with all other stubs. Its jump
 * contains the address of a slot, and the relocation of the slot names the symbol: strlen@plt, as
 * disassemblers write it.
 *
 * Zone: NORMAL, and the fatal-signal writer (pread only).
 * Owns: nothing; the names live in the caller's arena.
 */
#ifndef PP_SYMBOL_STUBS_H
#define PP_SYMBOL_STUBS_H

#include "base/arena.h"
#include "elf/elf.h"
#include "symbol/ifuncs.h"

#include <stddef.h>
#include <stdint.h>

typedef struct pp_stub_name {
    const char *name; /* NULL: the address is in no stub, or the stub has no name */
    uint64_t start;   /* link-time address of the stub */
} pp_stub_name;

/*
 * Names the stubs that hold `count` ascending link-time addresses. names[i] belongs to
 * addresses[i]. `ifuncs` are the module's own: for a stub of such a function, the addend of its
 * slot is the resolver.
 */
void pp_stubs_name(const pp_elf *elf, const pp_ifuncs *ifuncs, const uint64_t *addresses,
                   size_t count, pp_stub_name *names, pp_arena *arena);

#endif
