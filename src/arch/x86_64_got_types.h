/* SPDX-License-Identifier: MIT
 *
 * x86_64_got_types.h: relocations whose word is the address of a symbol [System V ABI, AMD64].
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_X86_64_GOT_TYPES_H
#define PP_ARCH_X86_64_GOT_TYPES_H

#include <elf.h>

static inline pp_got_type pp_got_type_of(const Elf64_Rela *r)
{
    switch (ELF64_R_TYPE(r->r_info)) {
    case R_X86_64_JUMP_SLOT:
        return PP_GOT_CALL;
    case R_X86_64_GLOB_DAT:
        return PP_GOT_POINTER;
    case R_X86_64_64:
        return r->r_addend == 0 ? PP_GOT_POINTER : PP_GOT_NONE;
    default:
        return PP_GOT_NONE;
    }
}

#endif
