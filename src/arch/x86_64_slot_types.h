/* SPDX-License-Identifier: MIT
 *
 * x86_64_slot_types.h: relocations whose word is the address of a symbol [System V ABI, AMD64].
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_X86_64_SLOT_TYPES_H
#define PP_ARCH_X86_64_SLOT_TYPES_H

#include <elf.h>

static inline pp_slot_type pp_slot_type_of(const Elf64_Rela *r)
{
    switch (ELF64_R_TYPE(r->r_info)) {
    case R_X86_64_JUMP_SLOT:
        return PP_SLOT_CALL;
    case R_X86_64_GLOB_DAT:
        return PP_SLOT_POINTER;
    case R_X86_64_64:
        return r->r_addend == 0 ? PP_SLOT_POINTER : PP_SLOT_NONE;
    default:
        return PP_SLOT_NONE;
    }
}

#endif
