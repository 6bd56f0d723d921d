/* SPDX-License-Identifier: MIT
 *
 * futex.c: records waits for a futex through libc's syscall(), as std::atomic::wait, Rust's
 * standard library and abseil make them.
 *
 * Only the program knows which thread will wake the waiter. So these waits are events of the block
 * profile, and no holder is charged.
 *
 * Zone: HOOK.
 * Tested by: unit.contention_kinds
 */
#include "arch/registers.h"
#include "host/hooks.h"
#include "kinds/contention/contention.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

/* A call of syscall(): what the entry has put on the stack, and what the caller has above it. */
typedef struct pp_futex_call {
    long number, argument[5];
    uintptr_t bx, fp;
    uintptr_t return_address;
    long
        last_argument; /* of the kernel's six, the seventh of syscall(): the caller's, on the stack,
                         * if the return address is there */
} pp_futex_call;

_Static_assert(offsetof(pp_futex_call, bx) == 6 * sizeof(long) &&
                   offsetof(pp_futex_call, return_address) == 8 * sizeof(long),
               "the entry of syscall() writes it");

/* The first is in assembler, which calls the second. */
extern void pp_entry_syscall(void);
long pp_futex_slow(const pp_futex_call *call);

static long call_real(const pp_futex_call *call)
{
    return pp_hook_syscall(call->number, call->argument[0], call->argument[1], call->argument[2],
                           call->argument[3], call->argument[4], call->last_argument);
}

static bool waits(const pp_futex_call *call)
{
    switch (call->argument[1] & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_WAIT_REQUEUE_PI:
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
        return true;
    default:
        return call->number == SYS_futex_waitv;
    }
}

__attribute__((visibility("hidden"), used)) long pp_futex_slow(const pp_futex_call *call)
{
    if (pp_contention_block_rate() == 0 || !waits(call)) {
        return call_real(call);
    }
    pp_caller caller = {.leaf = (uintptr_t)pp_entry_syscall,
                        .return_address = call->return_address,
                        .sp = PP_RETURN_ON_STACK ? (uintptr_t)&call->last_argument
                                                 : (uintptr_t)(call + 1),
                        .fp = call->fp,
                        .bx = call->bx};
    pp_wait wait = pp_wait_begin((uintptr_t)call->argument[0], PP_WAIT_FOR_EVENT, &caller);
    long result = call_real(call);
    if (result == -1 && errno == EAGAIN) {
        pp_wait_cancel(wait); /* the futex had another value already */
    } else {
        pp_wait_end(wait);
    }
    return result;
}
