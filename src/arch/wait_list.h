/* SPDX-License-Identifier: MIT
 *
 * wait_list.h: every function that waits or releases and that is hooked, a line each.
 *
 *   X(NAME, SHAPE, TRY)
 *
 *   SHAPE     arguments                    counted: where the entry's own look does not settle it
 *   MUTEX     mutex, ...                   lock word not 0, or hot
 *   MTX       the same of C11, whose results are other numbers
 *   RDLOCK    rwlock, ...                  a writer has it or waits for it, or hot
 *   WRLOCK    rwlock, ...                  anybody has it, or hot
 *   SPIN      spin lock                    not free, or hot
 *   UNMUTEX   mutex                        lock word not 1: somebody may wait
 *   UNLOCK    rwlock, spin lock            somebody is listed
 *   COND      condition, mutex, ...        always
 *   SEM       semaphore, ...               always
 *   EVENT     anything                     always
 *
 * TRY is the function that takes without waiting, or `none`.
 *
 * Read by C (hook/) and by the assembler beside it.
 *
 * Zone: HOOK (no code).
 * Locks: none.
 * Owns: nothing.
 */
#ifndef PP_ARCH_WAIT_LIST_H
#define PP_ARCH_WAIT_LIST_H

#define PP_WAIT_LIST(X)                                                                            \
    X(pthread_mutex_lock, MUTEX, pthread_mutex_trylock)                                            \
    X(pthread_mutex_timedlock, MUTEX, pthread_mutex_trylock)                                       \
    X(pthread_mutex_clocklock, MUTEX, pthread_mutex_trylock)                                       \
    X(pthread_mutex_unlock, UNMUTEX, none)                                                         \
    X(mtx_lock, MTX, mtx_trylock)                                                                  \
    X(mtx_timedlock, MTX, mtx_trylock)                                                             \
    X(mtx_unlock, UNMUTEX, none)                                                                   \
    X(pthread_rwlock_rdlock, RDLOCK, pthread_rwlock_tryrdlock)                                     \
    X(pthread_rwlock_timedrdlock, RDLOCK, pthread_rwlock_tryrdlock)                                \
    X(pthread_rwlock_clockrdlock, RDLOCK, pthread_rwlock_tryrdlock)                                \
    X(pthread_rwlock_wrlock, WRLOCK, pthread_rwlock_trywrlock)                                     \
    X(pthread_rwlock_timedwrlock, WRLOCK, pthread_rwlock_trywrlock)                                \
    X(pthread_rwlock_clockwrlock, WRLOCK, pthread_rwlock_trywrlock)                                \
    X(pthread_rwlock_unlock, UNLOCK, none)                                                         \
    X(pthread_spin_lock, SPIN, pthread_spin_trylock)                                               \
    X(pthread_spin_unlock, UNLOCK, none)                                                           \
    X(pthread_cond_wait, COND, none)                                                               \
    X(pthread_cond_timedwait, COND, none)                                                          \
    X(pthread_cond_clockwait, COND, none)                                                          \
    X(cnd_wait, COND, none)                                                                        \
    X(cnd_timedwait, COND, none)                                                                   \
    X(sem_wait, SEM, sem_trywait)                                                                  \
    X(sem_timedwait, SEM, sem_trywait)                                                             \
    X(sem_clockwait, SEM, sem_trywait)                                                             \
    X(pthread_barrier_wait, EVENT, none)                                                           \
    X(pthread_join, EVENT, none)                                                                   \
    X(pthread_timedjoin_np, EVENT, none)                                                           \
    X(pthread_clockjoin_np, EVENT, none)                                                           \
    X(thrd_join, EVENT, none)

#endif
