/* SPDX-License-Identifier: MIT
 *
 * glibc_locks.h: locks of glibc (bits/struct_mutex.h, bits/struct_rwlock.h).
 *
 * Zone: HOOK.
 */
#ifndef PP_LIBC_GLIBC_LOCKS_H
#define PP_LIBC_GLIBC_LOCKS_H

/* Since glibc 2.30 and later. */
#define PP_WAIT_NEWER_LIST(X)                                                                      \
    X(pthread_mutex_clocklock, MUTEX, pthread_mutex_trylock, CLOCK)                                \
    X(pthread_rwlock_clockrdlock, RDLOCK, pthread_rwlock_tryrdlock, CLOCK)                         \
    X(pthread_rwlock_clockwrlock, WRLOCK, pthread_rwlock_trywrlock, CLOCK)                         \
    X(pthread_cond_clockwait, COND, none, CLOCK)                                                   \
    X(sem_clockwait, SEM, sem_trywait, CLOCK)                                                      \
    X(pthread_clockjoin_np, JOIN, pthread_tryjoin_np, EVER)

/* On architectures that glibc had before 2.3.2 (arch/hook_layout.h). */
#define PP_WAIT_OLD_LIST(X)                                                                        \
    PP_OF_OLD_GLIBC(X(pthread_cond_wait, COND, none, EVER)                                         \
                        X(pthread_cond_timedwait, COND, none, UNTIL))

/* Of struct __pthread_mutex_s: the offset of __kind, and the value of an adaptive mutex. */
#define PP_MUTEX_KIND     16
#define PP_MUTEX_ADAPTIVE 3

#ifndef __ASSEMBLER__

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

_Static_assert(offsetof(pthread_mutex_t, __data.__lock) == 0 &&
                   offsetof(pthread_mutex_t, __data.__kind) == PP_MUTEX_KIND &&
                   (int)PTHREAD_MUTEX_ADAPTIVE_NP == PP_MUTEX_ADAPTIVE &&
                   offsetof(pthread_rwlock_t, __data.__readers) == 0,
               "the entries read libc's objects");

enum {
    /* The bits of __kind that say normal, recursive, error-checking or adaptive. The bits above:
     * robust (16), priority-inheriting (32), -protected (64), shared (128), elision (256, 512). */
    PP_MUTEX_KIND_TYPE = 3,
    PP_MUTEX_KIND_ROBUST = 16,
    /* The __owner of a robust mutex that was unlocked before it was made consistent. */
    PP_MUTEX_NOT_RECOVERABLE = INT_MAX - 1
};

static inline const struct __pthread_mutex_s *pp_mutex_data(uintptr_t mutex)
{
    return &((const pthread_mutex_t *)mutex)->__data;
}

static inline int pp_mutex_type(uintptr_t mutex)
{
    return pp_mutex_data(mutex)->__kind & PP_MUTEX_KIND_TYPE;
}

static inline bool pp_mutex_is_recursive(uintptr_t mutex)
{
    return pp_mutex_type(mutex) == PTHREAD_MUTEX_RECURSIVE_NP;
}

static inline bool pp_mutex_checks_errors(uintptr_t mutex)
{
    return pp_mutex_type(mutex) == PTHREAD_MUTEX_ERRORCHECK_NP;
}

static inline bool pp_mutex_is_owner(uintptr_t mutex, int tid)
{
    return __atomic_load_n(&pp_mutex_data(mutex)->__owner, __ATOMIC_RELAXED) == tid;
}

/* Whether the owner of a recursive mutex has to unlock it more than once. */
static inline bool pp_mutex_is_nested(uintptr_t mutex)
{
    return pp_mutex_data(mutex)->__count > 1;
}

/* Whether a try may change more than the lock function does. In glibc (2.36) a try of a robust mutex
 * that is not recoverable leaves it taken: the try returns ENOTRECOVERABLE once, and all other
 * threads wait for ever. */
static inline bool pp_mutex_try_harms(uintptr_t mutex)
{
    return (pp_mutex_data(mutex)->__kind & PP_MUTEX_KIND_ROBUST) != 0;
}

/* Whether a lock of a robust mutex would wait. It would not if the mutex is free, if its owner died
 * or left it not recoverable, or if the calling thread has it and its type takes it once more or
 * refuses. */
static inline bool pp_mutex_robust_waits(uintptr_t mutex, int tid)
{
    int word = __atomic_load_n(&pp_mutex_data(mutex)->__lock, __ATOMIC_RELAXED);
    int owner = __atomic_load_n(&pp_mutex_data(mutex)->__owner, __ATOMIC_RELAXED);
    bool deadlocks = !pp_mutex_is_recursive(mutex) && !pp_mutex_checks_errors(mutex);
    return word != 0 && (word & FUTEX_OWNER_DIED) == 0 && owner != PP_MUTEX_NOT_RECOVERABLE &&
           (deadlocks || owner != tid);
}

/* The tid of the thread that has the lock for writing; 0 = not known. */
static inline int pp_rwlock_writer(uintptr_t rwlock)
{
    return __atomic_load_n(&((const pthread_rwlock_t *)rwlock)->__data.__cur_writer,
                           __ATOMIC_RELAXED);
}

#endif
#endif
