/* SPDX-License-Identifier: MIT
 *
 * relocations.h: the relocations of a file one after the other, and the names that they refer to.
 *
 * A relocation of these tables tells the loader to put an address into a slot: that of a function
 * of another module (JUMP_SLOT, GLOB_DAT), or what a function of the module itself returns
 * (IRELATIVE), which is how a libc chooses the strlen that suits the processor.
 *
 * Zone: NORMAL, and the fatal-signal writer (pread only).
 */
#ifndef PP_SYMBOL_RELOCATIONS_H
#define PP_SYMBOL_RELOCATIONS_H

#include "base/arena.h"
#include "symbol/elf.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

/* `number`: of the relocation within DT_JMPREL, which stubs refer to; UINT64_MAX in
 * other tables. */
typedef void pp_relocation_use(void *context, const Elf64_Rela *relocation, uint64_t number);

/* Hands all relocations of the file, but for those at the beginning that only add the load bias, to
 * `use`. `scratch` holds what is read, since the caller's stack may be small. */
void pp_relocations_each(const pp_elf *elf, pp_relocation_use *use, void *context,
                         pp_arena *scratch);

/* The dynamic symbols, by section or as the loader finds them; false if there are none. */
bool pp_relocations_symbols(const pp_elf *elf, pp_elf_symbols *symbols);

/* A copy of the name at `offset` among the names; NULL if it is empty, unending or longer than 4
 * KiB. */
const char *pp_relocations_name(const pp_elf *elf, const pp_elf_symbols *symbols, uint32_t offset,
                                pp_arena *arena);

/* The name of the symbol that the relocation refers to; NULL if it refers to none. */
const char *pp_relocations_symbol_name(const pp_elf *elf, const pp_elf_symbols *symbols,
                                       const Elf64_Rela *relocation, pp_arena *arena);

#endif
