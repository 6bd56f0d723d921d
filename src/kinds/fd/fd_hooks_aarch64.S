/* SPDX-License-Identifier: MIT
 *
 * fd_hooks_aarch64.S: the entries of the hooked functions that open or close descriptors.
 *
 *   NAME                     the function that the program calls: a jump to the address in the
 *                            hook's target, which is the real function while nothing is recorded
 *   pp_fd_slow_NAME          calls kinds/fd/fd_hooks.c with a pp_fd_call
 *                            (kinds/fd/fd_hooks.h); also the target of an unresolved hook
 *
 * The names are weak, so that a program that defines one of them keeps its own.
 *
 * Zone: HOOK.
 */
#include "arch/hook_layout.h"
#include "arch/aarch64_asm.inc"
#include "kinds/fd/fd_list.h"

        .text

/* Defines the exported symbol, and another one at the same address for the library itself. */
#define ENTRY(name, shape, call) entry name ;
.macro entry name
        .weak   \name
        .type   \name, %function
        local   pp_fd_entry_\name
        .p2align 4
\name:
pp_fd_entry_\name:
        .cfi_startproc
        hint    #34             /* bti c */
        jump_through pp_fd_hook_\name, PP_HOOK_TARGET
        inner   pp_fd_slow_\name
        address_of x9, pp_fd_hook_\name
        to_c    pp_fd_slow, 6
        .cfi_endproc
        .size   \name, . - \name
.endm

PP_FD_LIST(ENTRY)

        properties
