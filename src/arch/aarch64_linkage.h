/* SPDX-License-Identifier: MIT
 *
 * aarch64_linkage.h: the stubs (procedure linkage table) that linkers make for aarch64.
 *
 *   .plt    [bti c;] adrp x16, page; ldr x17, [x16, #offset]; add x16, x16, #offset;
 *           [autia1716;] br x17; [nop, up to 24 bytes if there is one of the two]
 *
 * Source: ELF for the Arm 64-bit Architecture; binutils bfd/elfnn-aarch64.c; lld's AArch64.cpp.
 *
 * Zone: SIGNAL (plain functions of bytes).
 */
#ifndef PP_ARCH_AARCH64_LINKAGE_H
#define PP_ARCH_AARCH64_LINKAGE_H

#include "arch/calls.h"

#include <elf.h>

#ifndef R_AARCH64_IRELATIVE /* musl's elf.h */
#define R_AARCH64_IRELATIVE 1032
#endif

enum {
    PP_RELOCATION_JUMP_SLOT = R_AARCH64_JUMP_SLOT,
    PP_RELOCATION_GLOB_DAT = R_AARCH64_GLOB_DAT,
    PP_RELOCATION_IRELATIVE = R_AARCH64_IRELATIVE,
    PP_RELOCATION_THREAD_OFFSET = R_AARCH64_TLS_TPREL,
    PP_STUB_SIZE = 24, /* of the longest ones */
    PP_STUBS_VARY = 1,
    PP_STUB_STEP = 4
};

/* The function of a stub: its slot. */
typedef struct pp_stub {
    uint64_t slot;   /* link-time address */
    uint32_t number; /* not used here */
} pp_stub;

/* Reads the stub at link-time address `address`, whose bytes are `code`; false if it is no stub. A NOP
 * fills up the stub before: pp_jump_at() takes it for a landing. */
static inline bool pp_stub_read(const uint8_t *code, size_t size, uint64_t address, pp_stub *stub)
{
    uintptr_t target = 0;
    *stub = (pp_stub){.slot = 0};
    return size >= PP_JUMP_BYTES + PP_LANDING_BYTES && pp_instruction(code) != PP_NOP &&
           pp_jump_at(code, address, &stub->slot, &target) && stub->slot != 0;
}

/* Relocations whose word is the address of a symbol [ELF for the Arm 64-bit Architecture]. */
static inline pp_got_type pp_got_type_of(const Elf64_Rela *r)
{
    switch (ELF64_R_TYPE(r->r_info)) {
    case R_AARCH64_JUMP_SLOT:
        return PP_GOT_CALL;
    case R_AARCH64_GLOB_DAT:
        return PP_GOT_POINTER;
    case R_AARCH64_ABS64:
        return r->r_addend == 0 ? PP_GOT_POINTER : PP_GOT_NONE;
    default:
        return PP_GOT_NONE;
    }
}

#endif
