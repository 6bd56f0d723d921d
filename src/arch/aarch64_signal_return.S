/* SPDX-License-Identifier: MIT
 *
 * aarch64_signal_return.S: the return address of signal handlers that the library installs without
 * libc.
 *
 * Unwinders, ours as well, recognize such a place by these bytes if there is no CFI: then all
 * registers are in the kernel's ucontext_t. CFI would have to leave the PC or x30 out, for one of
 * which it has a column. They look up the address before a return address, so that is no code of a
 * function either.
 *
 * Zone: SIGNAL.
 */
#include "arch/aarch64_asm.inc"

#include <asm/unistd.h>

        .text
        .p2align 4
        nop
        local   pp_signal_return
        .type   pp_signal_return, %function
pp_signal_return:
        mov     x8, #__NR_rt_sigreturn
        svc     #0
        .size   pp_signal_return, . - pp_signal_return

        properties
