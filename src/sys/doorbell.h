/* SPDX-License-Identifier: MIT
 *
 * doorbell.h: how a signal handler wakes a thread of ours.
 *
 * Zone: SIGNAL (ringing; a thread of ours alone waits).
 */
#ifndef PP_SYS_DOORBELL_H
#define PP_SYS_DOORBELL_H

#include <stdint.h>

typedef struct pp_doorbell {
    uint32_t rings;
} pp_doorbell;

/* Preserves errno. */
void pp_doorbell_ring(pp_doorbell *bell);

/* Until it has rung more often than `answered` times; how often it has. */
uint32_t pp_doorbell_wait(pp_doorbell *bell, uint32_t answered);

#endif
