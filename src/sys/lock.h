/* SPDX-License-Identifier: MIT
 *
 * lock.h: a small lock for state that is changed rarely and never for long.
 *
 * It knows its owner, so that a signal handler that interrupted the owner can see that waiting
 * would be for ever. pthread's mutexes are not used: they are among the things that the library
 * hooks.
 *
 * Zone: SIGNAL for try and unlock; lock waits (bare system calls: no cancellation point) and
 * belongs to NORMAL code that has blocked the signals whose handlers take the same lock. Locks:
 * this is one. Order: profile session > thread timers > module table. Owns: nothing.
 */
#ifndef PP_SYS_LOCK_H
#define PP_SYS_LOCK_H

#include "arch/system_call.h"

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

typedef struct pp_lock {
    int owner; /* thread id (pp_task_self), 0 = free */
} pp_lock;

static inline bool pp_lock_try(pp_lock *lock, int self)
{
    int expected = 0;
    return __atomic_compare_exchange_n(&lock->owner, &expected, self, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

static inline void pp_lock_take(pp_lock *lock, int self)
{
    const struct timespec pause = {.tv_nsec = 50000};
    for (unsigned attempt = 0; !pp_lock_try(lock, self); attempt++) {
        if (attempt < 64) {
            pp_system_call(SYS_sched_yield); /* the holder is in the middle of a few system calls */
        } else {
            pp_system_call(SYS_nanosleep, &pause, NULL); /* or it writes a profile */
        }
    }
}

static inline bool pp_lock_held_by(const pp_lock *lock, int self)
{
    return __atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == self;
}

static inline void pp_lock_release(pp_lock *lock)
{
    __atomic_store_n(&lock->owner, 0, __ATOMIC_RELEASE);
}

#endif
