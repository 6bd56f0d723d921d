/* SPDX-License-Identifier: MIT
 *
 * own_threads.c: see own_threads.h.
 *
 * Zone: SIGNAL.
 * Owns: the list.
 */
#include "sys/own_threads.h"

enum { MOST = 8 };

static int ids[MOST]; /* 0: free */

void pp_own_threads_replace(int from, int to)
{
    for (unsigned i = 0; i < MOST; i++) {
        int expected = from;
        if (__atomic_compare_exchange_n(&ids[i], &expected, to, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
            return;
        }
    }
}

bool pp_own_threads_have(int tid)
{
    unsigned i = 0;
    while (i < MOST && __atomic_load_n(&ids[i], __ATOMIC_ACQUIRE) != tid) {
        i++;
    }
    return i < MOST;
}

unsigned pp_own_threads_count(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < MOST; i++) {
        count += __atomic_load_n(&ids[i], __ATOMIC_ACQUIRE) != 0;
    }
    return count;
}
