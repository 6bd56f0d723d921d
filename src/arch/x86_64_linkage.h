/* SPDX-License-Identifier: MIT
 *
 * x86_64_linkage.h: the stubs (procedure linkage table) that linkers make for x86-64.
 *
 *   .plt of old            jmp *slot(%rip); push $index; jmp PLT0
 *   .plt with -z ibt       endbr64; push $index; [bnd] jmp PLT0     used only until it is bound
 *   .plt.sec, .plt.got     [endbr64;] [bnd] jmp *slot(%rip)
 *   mold's .plt            endbr64; mov $index, %r11d; jmp *slot(%rip)
 *
 * Source: x86-64 psABI, "Procedure Linkage Table"; binutils bfd/elfxx-x86.c; mold's arch-x86-64.cc.
 *
 * Zone: SIGNAL (plain functions of bytes).
 */
#ifndef PP_ARCH_X86_64_LINKAGE_H
#define PP_ARCH_X86_64_LINKAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    PP_RELOCATION_JUMP_SLOT = R_X86_64_JUMP_SLOT,
    PP_RELOCATION_GLOB_DAT = R_X86_64_GLOB_DAT,
    PP_RELOCATION_IRELATIVE = R_X86_64_IRELATIVE,
    PP_RELOCATION_THREAD_OFFSET = R_X86_64_TPOFF64,
    PP_STUB_SIZE = 16,
    PP_STUBS_VARY = 0,
    PP_STUB_STEP = 1
};

/* The function of a stub: its slot, or its index among the relocations of DT_JMPREL. */
typedef struct pp_stub {
    uint64_t slot; /* link-time address; 0 = `number` is valid */
    uint32_t number;
} pp_stub;

/* Drops `drop` bytes if the code begins with the `count` bytes of `prefix`. */
static inline void pp_stub_skip(const uint8_t **code, size_t *size, const char *prefix,
                                size_t count, size_t drop)
{
    if (*size >= drop && memcmp(*code, prefix, count) == 0) {
        *code += drop;
        *size -= drop;
    }
}

/* Reads the stub at link-time address `address`, whose bytes are `code`; false if it is no stub. */
static inline bool pp_stub_read(const uint8_t *code, size_t size, uint64_t address, pp_stub *stub)
{
    const uint8_t *begin = code;
    uint32_t operand;
    pp_stub_skip(&code, &size, "\xf3\x0f\x1e\xfa", 4, 4); /* endbr64 */
    pp_stub_skip(&code, &size, "\x41\xbb", 2, 6);         /* mov $index, %r11d */
    pp_stub_skip(&code, &size, "\xf2", 1, 1);             /* bnd */
    if (size >= 6 && code[0] == 0xff && code[1] == 0x25) {
        memcpy(&operand, code + 2, sizeof(operand));
        uint64_t next = address + (uint64_t)(code - begin) + 6;
        *stub = (pp_stub){.slot = next + (uint64_t)(int64_t)(int32_t)operand};
        return stub->slot != 0;
    }
    if (size >= 5 && code[0] == 0x68) {
        memcpy(&operand, code + 1, sizeof(operand));
        *stub = (pp_stub){.number = operand};
        return true;
    }
    return false;
}

/* Relocations whose word is the address of a symbol [System V ABI, AMD64]. */
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
