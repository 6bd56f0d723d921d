/* SPDX-License-Identifier: MIT
 *
 * lock.h: a small lock for state that is changed rarely and never for long.
 *
 * The lock knows its owner, so a signal handler that interrupted the owner can see that waiting
 * would never end. The library cannot use pthread's mutexes, because it hooks them.
 *
 * Zone: SIGNAL for try, held_by and release. The functions that wait (by bare system calls,
 *       which are no cancellation points) are for NORMAL code that has blocked the signals whose
 *       handlers take the same lock; take_within is for the fatal-signal writer, too.
 * Locks: their order is in ARCHITECTURE.md.
 */
#ifndef PP_SYS_LOCK_H
#define PP_SYS_LOCK_H

#include "arch/system_call.h"
#include "sys/clock.h"
#include "sys/signal_mask.h"

#include <linux/futex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

typedef struct pp_lock {
    int owner; /* thread id (pp_task_self), 0 = free; with PP_LOCK_AWAITED or without; a futex */
} pp_lock;

/* No thread id has this bit. Threads sleep, or are about to: the release wakes some. It goes with the owner, so a
 * child of fork, which has none of these threads, is rid of it with the first release. */
enum { PP_LOCK_AWAITED = 1 << 30 };

static inline bool pp_lock_try(pp_lock *lock, int self)
{
    int expected = 0;
    return __atomic_compare_exchange_n(&lock->owner, &expected, self, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

/* A thread id; 0: the lock is free. */
static inline int pp_lock_holder(const pp_lock *lock)
{
    return __atomic_load_n(&lock->owner, __ATOMIC_RELAXED) & ~PP_LOCK_AWAITED;
}

static inline bool pp_lock_held_by(const pp_lock *lock, int self)
{
    return pp_lock_holder(lock) == self;
}

/* Pauses between two attempts; `attempt` is the number of attempts before. */
static inline void pp_lock_pause(unsigned attempt)
{
    const struct timespec pause = {.tv_nsec = 50000};
    if (attempt < 64) {
        pp_system_call(SYS_sched_yield); /* the holder is in the middle of a few system calls */
    } else {
        pp_system_call(SYS_nanosleep, &pause, NULL); /* or it writes a profile */
    }
}

/* Tries for some microseconds, which a holder with a processor hardly needs. `owner`: the caller's id, with
 * PP_LOCK_AWAITED or without. */
static inline bool pp_lock_spin(pp_lock *lock, int owner)
{
    enum { SPINS = 100 };
    bool is_taken = pp_lock_try(lock, owner);
    for (unsigned spin = 0; !is_taken && spin < SPINS; spin++) {
        pp_spin_hint();
        is_taken = __atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == 0 && pp_lock_try(lock, owner);
    }
    return is_taken;
}

/*
 * Sleeps until the holder releases the lock, or for 50 ms, or `limit_ns` if that is less. Many threads that looked
 * again and again would leave a holder without a processor no time to release the lock. Either this sees that the
 * lock has another owner, or the release sees that a thread waits. Returns the owner to take the lock as: other
 * threads may sleep, too, so the caller's release wakes some.
 */
static inline int pp_lock_sleep(pp_lock *lock, int self, uint64_t limit_ns)
{
    const struct timespec most = {.tv_nsec = limit_ns < 50000000 ? (long)limit_ns : 50000000};
    int owner = __atomic_load_n(&lock->owner, __ATOMIC_RELAXED);
    if (owner != 0 && __atomic_compare_exchange_n(&lock->owner, &owner, owner | PP_LOCK_AWAITED,
                                                  false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        pp_system_call(SYS_futex, &lock->owner, FUTEX_WAIT_PRIVATE, owner | PP_LOCK_AWAITED, &most);
    }
    return self | PP_LOCK_AWAITED;
}

static inline void pp_lock_take(pp_lock *lock, int self)
{
    int owner = self;
    while (!pp_lock_spin(lock, owner)) {
        owner = pp_lock_sleep(lock, self, UINT64_MAX);
    }
}

/*
 * Takes the lock within `limit_ns`, or returns false; at once if `self` holds the lock already. For
 * callers whose holder may never release: the process is about to end, or the holder waits for the
 * caller.
 */
static inline bool pp_lock_take_within(pp_lock *lock, int self, uint64_t limit_ns)
{
    uint64_t give_up_ns = pp_clock_ns(CLOCK_MONOTONIC) + limit_ns;
    int owner = self;
    while (!pp_lock_spin(lock, owner)) {
        uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
        if (pp_lock_held_by(lock, self) || now_ns >= give_up_ns) {
            return false;
        }
        owner = pp_lock_sleep(lock, self, give_up_ns - now_ns);
    }
    return true;
}

/* Wakes several: on a busy machine each has to wait for a processor, and hardly meets the others then. */
static inline void pp_lock_release(pp_lock *lock)
{
    enum { WOKEN = 16 };
    if (__atomic_exchange_n(&lock->owner, 0, __ATOMIC_RELEASE) & PP_LOCK_AWAITED) {
        pp_system_call(SYS_futex, &lock->owner, FUTEX_WAKE_PRIVATE, WOKEN);
    }
}

/* Takes the lock with signals blocked, so that no handler on this thread can wait for the lock that
 * the thread holds; *old is for pp_lock_leave(). */
static inline void pp_lock_enter(pp_lock *lock, int self, pp_signal_mask *old)
{
    pp_signals_block(old);
    pp_lock_take(lock, self);
}

static inline void pp_lock_leave(pp_lock *lock, const pp_signal_mask *old)
{
    pp_lock_release(lock);
    pp_signals_restore(old);
}

#endif
