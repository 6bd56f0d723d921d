/* SPDX-License-Identifier: MIT
 *
 * wait_list.h: every function that waits or releases and that is hooked, a line each.
 *
 *   X(NAME, SHAPE, TRY, LIMIT)
 *
 *   SHAPE     arguments                    counted: where the entry's own look does not settle it
 *   MUTEX     mutex, ...                   lock word not 0, or hot
 *   MTX       the same of C11, whose results are other numbers
 *   RDLOCK    rwlock, ...                  a writer has it or waits for it, or hot
 *   WRLOCK    rwlock, ...                  anybody has it, or hot
 *   SPIN      spin lock                    not free, or hot
 *   UNMUTEX   mutex                        lock word not 1: somebody may wait; of an adaptive one,
 *                                          whose waiters spin before they say so: somebody is listed
 *   UNLOCK    rwlock, spin lock            somebody is listed
 *   COND      condition, mutex, ...        always
 *   SEM       semaphore, ...               always
 *   JOIN      thread, result, ...          always
 *   BARRIER   barrier                      always
 *   EVENT     anything                     always
 *
 * TRY is the function that takes without waiting, or `none`. LIMIT: where the time is until which
 * to wait: EVER (there is none), UNTIL (second argument), CLOCK (third one, of the clock that is
 * the second).
 *
 * PP_WAIT_OLD_LIST: functions of which libc keeps an old version beside the present one, for
 * programs that are linked to it. Before glibc 2.3.2 a condition was a pointer; each version must
 * come to its own (x86_64_wait_old.S).
 *
 * Read by C (hook/) and by the assembler beside it.
 *
 * Zone: HOOK (no code).
 */
#ifndef PP_ARCH_WAIT_LIST_H
#define PP_ARCH_WAIT_LIST_H

#define PP_WAIT_LIST(X)                                                                            \
    X(pthread_mutex_lock, MUTEX, pthread_mutex_trylock, EVER)                                      \
    X(pthread_mutex_timedlock, MUTEX, pthread_mutex_trylock, UNTIL)                                \
    X(pthread_mutex_clocklock, MUTEX, pthread_mutex_trylock, CLOCK)                                \
    X(pthread_mutex_unlock, UNMUTEX, none, EVER)                                                   \
    X(mtx_lock, MTX, mtx_trylock, EVER)                                                            \
    X(mtx_timedlock, MTX, mtx_trylock, UNTIL)                                                      \
    X(mtx_unlock, UNMUTEX, none, EVER)                                                             \
    X(pthread_rwlock_rdlock, RDLOCK, pthread_rwlock_tryrdlock, EVER)                               \
    X(pthread_rwlock_timedrdlock, RDLOCK, pthread_rwlock_tryrdlock, UNTIL)                         \
    X(pthread_rwlock_clockrdlock, RDLOCK, pthread_rwlock_tryrdlock, CLOCK)                         \
    X(pthread_rwlock_wrlock, WRLOCK, pthread_rwlock_trywrlock, EVER)                               \
    X(pthread_rwlock_timedwrlock, WRLOCK, pthread_rwlock_trywrlock, UNTIL)                         \
    X(pthread_rwlock_clockwrlock, WRLOCK, pthread_rwlock_trywrlock, CLOCK)                         \
    X(pthread_rwlock_unlock, UNLOCK, none, EVER)                                                   \
    X(pthread_spin_lock, SPIN, pthread_spin_trylock, EVER)                                         \
    X(pthread_spin_unlock, UNLOCK, none, EVER)                                                     \
    X(pthread_cond_wait, COND, none, EVER)                                                         \
    X(pthread_cond_timedwait, COND, none, UNTIL)                                                   \
    X(pthread_cond_clockwait, COND, none, CLOCK)                                                   \
    X(cnd_wait, COND, none, EVER)                                                                  \
    X(cnd_timedwait, COND, none, UNTIL)                                                            \
    X(sem_wait, SEM, sem_trywait, EVER)                                                            \
    X(sem_timedwait, SEM, sem_trywait, UNTIL)                                                      \
    X(sem_clockwait, SEM, sem_trywait, CLOCK)                                                      \
    X(pthread_barrier_wait, BARRIER, none, EVER)                                                   \
    X(pthread_join, JOIN, pthread_tryjoin_np, EVER)                                                \
    X(pthread_timedjoin_np, JOIN, pthread_tryjoin_np, EVER)                                        \
    X(pthread_clockjoin_np, JOIN, pthread_tryjoin_np, EVER)                                        \
    X(thrd_join, EVENT, none, EVER)

#define PP_WAIT_OLD_LIST(X)                                                                        \
    X(pthread_cond_wait, COND, none, EVER)                                                         \
    X(pthread_cond_timedwait, COND, none, UNTIL)

#endif
