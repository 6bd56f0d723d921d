/* SPDX-License-Identifier: MIT
 *
 * doorbell.c: a counter, and the kernel's wait queue (futex) for its address.
 *
 * Zone: SIGNAL (for ringing; only threads of the library wait).
 * Tested by: e2e.options
 */
#include "sys/doorbell.h"

#include "arch/system_call.h"

#include <linux/futex.h>
#include <stddef.h>
#include <time.h>

void pp_doorbell_ring(pp_doorbell *bell)
{
    __atomic_add_fetch(&bell->rings, 1, __ATOMIC_RELEASE);
    pp_system_call(SYS_futex, &bell->rings, FUTEX_WAKE_PRIVATE, 1);
}

bool pp_doorbell_wait(pp_doorbell *bell, uint32_t answered)
{
    const struct timespec second = {.tv_sec = 1};
    if (__atomic_load_n(&bell->rings, __ATOMIC_ACQUIRE) == answered) {
        pp_system_call(SYS_futex, &bell->rings, FUTEX_WAIT_PRIVATE, answered, &second);
    }
    return __atomic_load_n(&bell->rings, __ATOMIC_ACQUIRE) != answered;
}
