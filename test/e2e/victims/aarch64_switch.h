/* SPDX-License-Identifier: MIT
 *
 * aarch64_switch.h: switches between stacks in assembler, for programs that make stacks of their own.
 *
 *   switch(void **save, void *to)   pushes a struct switch_frame, stores SP in *save, goes over to the stack `to`, and pops the
 *                                   frame there
 *
 * A fresh stack has a frame with the address to begin at, and with the return address that the beginning finds.
 */
#ifndef AARCH64_SWITCH_H
#define AARCH64_SWITCH_H

#include <stdint.h>

struct switch_frame {
    uintptr_t x29, x30;
    uintptr_t x19_to_x28[10];
    double d8_to_d15[8];
    uintptr_t go_to, unused;
};

#define SWITCH_SIZE "176"

/* The function's instructions; `cfi` keeps or drops the call-frame information. */
/* clang-format off */
#define SWITCH_BODY(cfi)                                                                           \
    "stp x29, x30, [sp, #-" SWITCH_SIZE "]!\n"                                                     \
    cfi(".cfi_def_cfa_offset " SWITCH_SIZE "\n.cfi_rel_offset x29, 0\n.cfi_rel_offset x30, 8\n")   \
    "stp x19, x20, [sp, #16]\nstp x21, x22, [sp, #32]\nstp x23, x24, [sp, #48]\n"                  \
    "stp x25, x26, [sp, #64]\nstp x27, x28, [sp, #80]\nstp d8, d9, [sp, #96]\n"                    \
    "stp d10, d11, [sp, #112]\nstp d12, d13, [sp, #128]\nstp d14, d15, [sp, #144]\n"               \
    "str x30, [sp, #160]\nmov x9, sp\nstr x9, [x0]\nmov sp, x1\n"                                  \
    "ldp x19, x20, [sp, #16]\nldp x21, x22, [sp, #32]\nldp x23, x24, [sp, #48]\n"                  \
    "ldp x25, x26, [sp, #64]\nldp x27, x28, [sp, #80]\nldp d8, d9, [sp, #96]\n"                    \
    "ldp d10, d11, [sp, #112]\nldp d12, d13, [sp, #128]\nldp d14, d15, [sp, #144]\n"               \
    "ldr x16, [sp, #160]\nldp x29, x30, [sp], #" SWITCH_SIZE "\n"                                  \
    cfi(".cfi_def_cfa_offset 0\n.cfi_restore x29\n.cfi_restore x30\n")                             \
    "br x16\n"
/* clang-format on */

#endif
