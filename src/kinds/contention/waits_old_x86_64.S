/* SPDX-License-Identifier: MIT
 *
 * waits_old_x86_64.S: the entries of hooked functions of which libc keeps an old version, too.
 *
 * Programs that were linked before glibc 2.3.2 call the old versions, which work on other
 * structures and must not reach the entries of waits_x86_64.S.
 *
 * Only these functions of the library have a version, libc's own; versions.map gives the present
 * functions theirs. As in libc, a reference without a version gets the old one.
 *
 * Zone: HOOK.
 */
#include "arch/hook_layout.h"
#include "arch/x86_64_asm.inc"
#include "kinds/contention/wait_list.h"

        .text

/* These functions always take the slow path while hooks count. */
.macro COND name
        .globl pp_old_\name
        landing pp_old_\name
        jmp     *pp_wait_hook_old_\name+PP_HOOK_TARGET(%rip)
        local pp_entry_old_\name
        .set pp_entry_old_\name, pp_old_\name
        .symver pp_old_\name, \name@GLIBC_2.2.5, remove
        inner   pp_slow_old_\name
        lea     pp_wait_hook_old_\name(%rip), %rax
        to_c    pp_wait_slow, 4
        end pp_old_\name
        local pp_count_old_\name
        .set pp_count_old_\name, pp_slow_old_\name
.endm

#define STUB(name, shape, try, limit) shape name ;
PP_WAIT_OLD_LIST(STUB)

        .section .note.GNU-stack, "", @progbits
