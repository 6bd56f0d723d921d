/* SPDX-License-Identifier: MIT
 *
 * relocations.h: iterates over the relocations of a file, and finds the names that they refer to.
 *
 * A relocation of these tables makes the loader store an address in a slot: that of a function of
 * another module (JUMP_SLOT, GLOB_DAT), or the result of a function of the module itself
 * (IRELATIVE). By the latter a libc chooses the strlen that suits the processor.
 *
 * Zone: NORMAL, and the fatal-signal writer (pread only).
 */
#ifndef PP_ELF_RELOCATIONS_H
#define PP_ELF_RELOCATIONS_H

#include "base/arena.h"
#include "elf/elf.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

/* Receives a relocation. `number` is its index in DT_JMPREL, which stubs refer to; UINT64_MAX in
 * other tables. */
typedef void pp_relocation_use(void *context, const Elf64_Rela *relocation, uint64_t number);

/* Calls `use` for all relocations of the file, except those at the beginning that only add the load
 * bias. `scratch` holds what the function reads, since the caller's stack may be small. */
void pp_relocations_each(const pp_elf *elf, pp_relocation_use *use, void *context,
                         pp_arena *scratch);

/* Finds the dynamic symbols, by section or by PT_DYNAMIC; false if there are none. */
bool pp_relocations_symbols(const pp_elf *elf, pp_elf_symbols *symbols);

/* Returns a copy of the name at `offset` among the names; NULL if it is empty, unterminated or
 * longer than 4 KiB. */
const char *pp_relocations_name(const pp_elf *elf, const pp_elf_symbols *symbols, uint32_t offset,
                                pp_arena *arena);

/* Returns the name of the relocation's symbol; NULL if it has no symbol. */
const char *pp_relocations_symbol_name(const pp_elf *elf, const pp_elf_symbols *symbols,
                                       const Elf64_Rela *relocation, pp_arena *arena);

#endif
