/* SPDX-License-Identifier: MIT
 *
 * x86_64_descriptors.S: the entries of the hooked functions that open or close descriptors.
 *
 *   NAME                    what the program calls: a jump to where the hook's target says, which is
 *                           the real function while nothing is recorded
 *   pp_descriptor_slow_NAME the way to kinds/fd/fd_hooks.c, with a pp_descriptor_call (kinds/fd/fd_hooks.h);
 *                           also where a hook leads that was not resolved yet
 *
 * Weak, so that a program that brings its own keeps it.
 *
 * Zone: HOOK.
 */
#if defined(__x86_64__)

#include "arch/fd_list.h"
#include "arch/x86_64_asm.inc"

/* pp_descriptor_hook (kinds/fd/fd_hooks.h): offset of its second member. */
#define TARGET 8

        .text

/* The exported symbol, and another for the same place by which the library itself refers to it. */
#define ENTRY(name, shape, call) entry name ;
.macro entry name
        .weak   \name
        .type   \name, @function
        local   pp_descriptor_entry_\name
        .p2align 4
\name:
pp_descriptor_entry_\name:
        .cfi_startproc
        _CET_ENDBR
        jmp     *pp_descriptor_hook_\name+TARGET(%rip)
        inner   pp_descriptor_slow_\name
        lea     pp_descriptor_hook_\name(%rip), %rax
        to_c    pp_descriptor_slow, 6
        .cfi_endproc
        .size   \name, . - \name
.endm

PP_DESCRIPTOR_LIST(ENTRY)

#else
#error "libpprof has no descriptor entries for this architecture yet: add src/arch/<name>_descriptors.S"
#endif

        .section .note.GNU-stack, "", @progbits
