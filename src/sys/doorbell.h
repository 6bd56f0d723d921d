/* SPDX-License-Identifier: MIT
 *
 * doorbell.h: wakes a thread of the library; signal handlers may ring, too.
 *
 *   waiter: heard = pp_doorbell_heard(); looks whether there is anything to do; if not,
 *           pp_doorbell_wait(heard), which returns at once if the bell has rung since
 *
 * Zone: SIGNAL (for ringing; only threads of the library wait).
 */
#ifndef PP_SYS_DOORBELL_H
#define PP_SYS_DOORBELL_H

#include <stdint.h>

typedef struct pp_doorbell {
    uint32_t rings;
} pp_doorbell;

/* Wakes whoever waits. Preserves errno. */
void pp_doorbell_ring(pp_doorbell *bell);

/* How often the bell has rung. */
uint32_t pp_doorbell_heard(const pp_doorbell *bell);

/* Waits until the bell has rung since it had rung `heard` times, or CLOCK_MONOTONIC shows
 * `until_ns`. May return earlier. */
void pp_doorbell_wait(pp_doorbell *bell, uint32_t heard, uint64_t until_ns);

#endif
