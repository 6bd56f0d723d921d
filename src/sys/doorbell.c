/* SPDX-License-Identifier: MIT
 *
 * doorbell.c: a counter, and the kernel's wait queue (futex) for its address.
 *
 * Zone: SIGNAL (for ringing; only threads of the library wait).
 * Tested by: e2e.options, e2e.dumps
 */
#include "sys/doorbell.h"

#include "arch/system_call.h"
#include "sys/clock.h"

#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <time.h>

void pp_doorbell_ring(pp_doorbell *bell)
{
    __atomic_add_fetch(&bell->rings, 1, __ATOMIC_RELEASE);
    pp_system_call(SYS_futex, &bell->rings, FUTEX_WAKE_PRIVATE, INT_MAX);
}

uint32_t pp_doorbell_heard(const pp_doorbell *bell)
{
    return __atomic_load_n(&bell->rings, __ATOMIC_ACQUIRE);
}

void pp_doorbell_wait(pp_doorbell *bell, uint32_t heard, uint64_t until_ns)
{
    const struct timespec at = {.tv_sec = (time_t)(until_ns / PP_NS_PER_S),
                                .tv_nsec = (long)(until_ns % PP_NS_PER_S)};
    pp_system_call(SYS_futex, &bell->rings, FUTEX_WAIT_BITSET_PRIVATE, heard, &at, NULL,
                   FUTEX_BITSET_MATCH_ANY);
}
