/* SPDX-License-Identifier: MIT
 *
 * doorbell.h: lets a signal handler wake a thread of the library.
 *
 * Zone: SIGNAL (for ringing; only threads of the library wait).
 */
#ifndef PP_SYS_DOORBELL_H
#define PP_SYS_DOORBELL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pp_doorbell {
    uint32_t rings;
} pp_doorbell;

/* Wakes the waiting thread. Preserves errno. */
void pp_doorbell_ring(pp_doorbell *bell);

/* Waits until the bell has rung more than `answered` times, for a second at most. Whether it has. */
bool pp_doorbell_wait(pp_doorbell *bell, uint32_t answered);

#endif
