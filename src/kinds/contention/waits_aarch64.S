/* SPDX-License-Identifier: MIT
 *
 * waits_aarch64.S: the entries of the hooked locks, conditions and semaphores.
 *
 *   NAME            the function that the program calls: a jump to the address in the hook's
 *                   target, which is the real function while nothing is counted. That of a mutex
 *                   reads the lock word first, and jumps to the target only if somebody may wait
 *   pp_count_NAME   reads the lock word; jumps to the real function unless the condition for the
 *                   slow path (kinds/contention/wait_list.h) holds. That of a mutex is the slow path
 *   pp_slow_NAME    calls kinds/contention/waits.c; also the target of an unresolved hook
 *   syscall         calls kinds/contention/futex.c
 *
 * An uncontended mutex costs one indirect jump, on or off; a second one would cost more than all
 * the rest of the entry (docs/DECISIONS.md).
 *
 * What a lock looks like belongs to the C library (libc/aarch64_locks.inc).
 *
 * Zone: HOOK.
 */
#include "arch/hook_layout.h"
#include "arch/aarch64_asm.inc"
#include "kinds/contention/wait_list.h"
#include "libc/aarch64_locks.inc"

#include <asm/unistd.h>

#ifndef __NR_futex_waitv
#define __NR_futex_waitv 449 /* Linux 5.16 */
#endif

        .text

/* Defines the exported symbol, and another one at the same address for the library itself. */
.macro entry name
        .globl \name
        local pp_entry_\name
        .set pp_entry_\name, \name
        landing \name
.endm

.macro through_target name
        entry   \name
        jump_through pp_wait_hook_\name, PP_HOOK_TARGET
.endm

/*
 * Calls the function at x16, with a pp_call_mark (arch/hook_layout.h) on the stack: glibc waits for
 * rwlocks, and for locks with a time-out, in leaf functions.
 */
.macro call_marked
        frame   32
        mov     x17, sp
        eor     x17, x17, x16
        stp     x16, x17, [sp]
        blr     x16
        stp     xzr, xzr, [sp]
        leave   32
        ret
.endm

/* The same for the function at x0, with the four arguments at x1. */
.macro call_with_arguments
        mov     x9, x1
        mov     x16, x0
        ldp     x0, x1, [x9]
        ldp     x2, x3, [x9, #16]
        call_marked
.endm

/* Goes on at the target; if that is the real function, with a mark. */
.macro marked_target name
        address_of x17, pp_wait_hook_\name
        ldr     x16, [x17, #PP_HOOK_REAL]
        ldr     x17, [x17, #PP_HOOK_TARGET]
        cmp     x16, x17
        b.eq    3f
        br      x17
3:      call_marked
.endm

/* Calls C with a pp_wait_call (kinds/contention/waits.h). */
.macro slow name
        inner   pp_slow_\name
        address_of x9, pp_wait_hook_\name
        to_c    pp_wait_slow, 4
        end \name
.endm

/* Computes in x16 the hash of the object in x0, as pp_contention_hash() does. */
.macro hash
        lsr     x16, x0, #PP_CONTENTION_LOW_SHIFT
        eor     x16, x16, x0, lsr #PP_CONTENTION_HIGH_SHIFT
        and     x16, x16, #PP_CONTENTION_HASHES-1
.endm

/* pp_contention begins with the table of hot hashes (kinds/contention/contention.h). */
.macro unless_hot
        hash
        address_of x17, pp_contention
        ldrb    w16, [x17, x16]
        cbnz    w16, 1f
.endm

/* Ends an entry whose target is the real function or the slow path. */
.macro real_or_target name, limit=EVER
        jump_through pp_wait_hook_\name, PP_HOOK_REAL
1:
        .ifc \limit, EVER
        jump_through pp_wait_hook_\name, PP_HOOK_TARGET
        .else
        marked_target \name
        .endif
        slow    \name
        local   pp_count_\name
        .set    pp_count_\name, pp_slow_\name
.endm

.macro MUTEX name, limit
        entry   \name
        if_mutex_taken
        unless_hot
        real_or_target \name, \limit
.endm

.macro MTX name, limit
        MUTEX \name, \limit
.endm

.macro count name
        through_target \name
        inner   pp_count_\name
.endm

/* Ends the counting code. */
.macro real_or_slow name
        jump_through pp_wait_hook_\name, PP_HOOK_REAL
1:      slow    \name
.endm

/* A wait for a rwlock needs the mark, whether hooks count or not. `if_taken` looks at the lock. */
.macro rwlock name, if_taken
        entry   \name
        \if_taken
        jump_through pp_wait_hook_\name, PP_HOOK_TARGET
1:      marked_target \name
        inner   pp_count_\name
        \if_taken
        unless_hot
        real_or_slow \name
.endm

.macro WRLOCK name, limit
        rwlock  \name, if_rwlock_taken
.endm

.macro RDLOCK name, limit
        rwlock  \name, if_rwlock_written
.endm

.macro SPIN name, limit
        count   \name
        if_spin_taken
        unless_hot
        real_or_slow \name
.endm

/* pp_waiters begins with the numbers of waiters that are shown (kinds/contention/waiters.h). */
.macro unless_listed
        hash
        address_of x17, pp_waiters
        ldrh    w16, [x17, x16, lsl #1]
        cbnz    w16, 1f
.endm

.macro UNMUTEX name, limit
        entry   \name
        if_mutex_waited_for
        real_or_target \name
.endm

.macro UNLOCK name, limit
        count   \name
        unless_listed
        real_or_slow \name
.endm

.macro always name
        through_target \name
        slow    \name
        local   pp_count_\name
        .set    pp_count_\name, pp_slow_\name
.endm

.macro COND name, limit
        always \name
.endm

.macro SEM name, limit
        always \name
.endm

.macro JOIN name, limit
        always \name
.endm

.macro BARRIER name, limit
        always \name
.endm

.macro EVENT name, limit
        always \name
.endm

#define STUB(name, shape, try, limit) shape name, limit ;
PP_WAIT_LIST(STUB)

/*
 * long pp_wait_call_real(pp_wait_function *real, const uintptr_t argument[4]): calls the real
 * function. If a forced unwinding (a cancellation, pthread_exit in a signal handler) or an
 * exception passes this frame, the frame's personality, pp_wait_unwound (kinds/contention/waits.c),
 * is called. Nothing is registered, so a jump over this frame leaves nothing behind.
 */
        local   pp_wait_call_real
        landing pp_wait_call_real
        .cfi_personality 0x1b, pp_wait_unwound  /* DW_EH_PE_pcrel | DW_EH_PE_sdata4 */
        call_with_arguments
        end     pp_wait_call_real

/* long pp_wait_call_marked(pp_wait_function *real, const uintptr_t argument[4]): only calls the real function. */
        local   pp_wait_call_marked
        landing pp_wait_call_marked
        call_with_arguments
        end     pp_wait_call_marked

/*
 * syscall(): calls kinds/contention/futex.c for a possible wait for a futex while hooks count, with
 * a pp_futex_call (there): the number, five arguments, x30 (as `bx`), the frame record, and the last
 * argument. All other calls go to host/confinement.c.
 */
        .globl syscall
        local pp_entry_syscall
        .set pp_entry_syscall, syscall
        landing syscall
        cmp     w0, #__NR_futex
        b.eq    1f
        cmp     w0, #__NR_futex_waitv
        b.eq    1f
2:      b       pp_hook_syscall
1:      adrp    x16, pp_hook_waits_counted
        ldrb    w16, [x16, #:lo12:pp_hook_waits_counted]
        cbz     w16, 2b
        sub     sp, sp, #80
        .cfi_adjust_cfa_offset 80
        stp     x29, x30, [sp, #56]
        .cfi_offset x29, -24
        .cfi_offset x30, -16
        add     x29, sp, #56
        stp     x0, x1, [sp]
        stp     x2, x3, [sp, #16]
        stp     x4, x5, [sp, #32]
        str     x30, [sp, #48]
        str     x6, [sp, #72]
        mov     x0, sp
        bl      pp_futex_slow
        ldp     x29, x30, [sp, #56]
        .cfi_restore x29
        .cfi_restore x30
        add     sp, sp, #80
        .cfi_adjust_cfa_offset -80
        ret
        end syscall

        properties
