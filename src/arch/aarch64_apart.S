/* SPDX-License-Identifier: MIT
 *
 * aarch64_apart.S: pp_apart_call(). Both threads have the same stack pointer. The caller waits by a
 * loop that has all it needs in registers, so the other thread may write below and call as if it
 * were the caller: a walk of its stack goes on to the caller's frames.
 *
 *   caller:  clone --> futex(*lives) ... until the kernel stores 0 --> return 0
 *   other:         `-> function(argument) --> exit
 *
 * Zone: SIGNAL.
 * Tested by: unit.apart, e2e.descriptors
 */
#include "arch/aarch64_asm.inc"

#include <asm/unistd.h>

        .text
        local   pp_apart_call
        local   pp_apart_call_end
landing pp_apart_call
        frame   32
        stp     x19, x20, [sp]
        .cfi_offset x19, -32
        .cfi_offset x20, -24
        mov     x19, x3
        mov     x20, x4
        mov     x9, x2          /* system calls keep all registers but x0 */
        mov     x4, x2          /* the kernel stores 0 here when the thread has ended, */
        mov     x2, x1          /* and the thread's id here */
        mov     x1, #0          /* the same stack */
        mov     x3, #0          /* the same thread-local storage */
        mov     x8, #__NR_clone
        svc     #0
        cbz     x0, 2f
        tbnz    x0, #63, 3f
1:      ldar    w2, [x9]        /* what the thread wrote before is seen after */
        cbz     w2, 4f
        mov     x0, x9
        mov     x1, #0          /* FUTEX_WAIT, as the kernel wakes: not private */
        mov     x3, #0
        mov     x8, #__NR_futex
        svc     #0
        b       1b
2:      mov     x0, x20
        blr     x19
        mov     x0, #0
        mov     x8, #__NR_exit
        svc     #0
        udf     #0
4:      mov     x0, #0
3:      ldp     x19, x20, [sp]
        .cfi_restore x19
        .cfi_restore x20
        leave   32
        ret
end pp_apart_call
pp_apart_call_end:

        properties
