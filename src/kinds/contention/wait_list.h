/* SPDX-License-Identifier: MIT
 *
 * wait_list.h: lists every hooked function that waits or releases, one line each.
 *
 *   X(NAME, SHAPE, TRY, LIMIT)
 *
 *   SHAPE     arguments              the entry takes the slow path
 *   MUTEX     mutex, ...             if the lock word is not 0, or it is hot
 *   MTX       as MUTEX, of C11, whose results are other numbers
 *   RDLOCK    rwlock, ...            if a writer has it or waits for it, or if it is hot
 *   WRLOCK    rwlock, ...            if any thread has it, or if it is hot
 *   SPIN      spin lock              if it is not free, or it is hot
 *   UNMUTEX   mutex                  if the lock word is not 1: a thread may wait; for an adaptive
 *                                    mutex, whose waiters spin before they change the word, also if
 *                                    a waiter is listed
 *   UNLOCK    rwlock, spin lock      if a waiter is listed
 *   COND      condition, mutex, ...  always
 *   SEM       semaphore, ...         always
 *   JOIN      thread, result, ...    always
 *   BARRIER   barrier                always
 *   EVENT     anything               always
 *
 * An object is hot if a thread lately found one with the same hash taken.
 *
 * TRY is the function that takes the object without waiting, or `none`. LIMIT names the end of the
 * wait: EVER (none), UNTIL (second argument), CLOCK (third argument, on the clock of the second).
 *
 * Not every C library has all functions: libc/locks.h has PP_WAIT_NEWER_LIST. PP_WAIT_OLD_LIST, there,
 * has the functions of which libc keeps an old version beside the present one, for programs that are
 * linked to it. Before glibc 2.3.2 a condition was a pointer, so the hook must
 * call the same version as the program (waits_old_<architecture>.S).
 *
 * waits_real.c and the assembler beside it include this file.
 *
 * Zone: HOOK (no code).
 */
#ifndef PP_KINDS_CONTENTION_WAIT_LIST_H
#define PP_KINDS_CONTENTION_WAIT_LIST_H

#include "arch/hook_layout.h"
#include "libc/locks.h"

/* The hash of an object's address, which the entries and pp_contention_hash() compute. */
#define PP_CONTENTION_LOW_SHIFT  4
#define PP_CONTENTION_HIGH_SHIFT 16
#define PP_CONTENTION_HASHES     4096

#define PP_WAIT_LIST(X)                                                                            \
    X(pthread_mutex_lock, MUTEX, pthread_mutex_trylock, EVER)                                      \
    X(pthread_mutex_timedlock, MUTEX, pthread_mutex_trylock, UNTIL)                                \
    X(pthread_mutex_unlock, UNMUTEX, none, EVER)                                                   \
    X(mtx_lock, MTX, mtx_trylock, EVER)                                                            \
    X(mtx_timedlock, MTX, mtx_trylock, UNTIL)                                                      \
    X(mtx_unlock, UNMUTEX, none, EVER)                                                             \
    X(pthread_rwlock_rdlock, RDLOCK, pthread_rwlock_tryrdlock, EVER)                               \
    X(pthread_rwlock_timedrdlock, RDLOCK, pthread_rwlock_tryrdlock, UNTIL)                         \
    X(pthread_rwlock_wrlock, WRLOCK, pthread_rwlock_trywrlock, EVER)                               \
    X(pthread_rwlock_timedwrlock, WRLOCK, pthread_rwlock_trywrlock, UNTIL)                         \
    X(pthread_rwlock_unlock, UNLOCK, none, EVER)                                                   \
    X(pthread_spin_lock, SPIN, pthread_spin_trylock, EVER)                                         \
    X(pthread_spin_unlock, UNLOCK, none, EVER)                                                     \
    X(pthread_cond_wait, COND, none, EVER)                                                         \
    X(pthread_cond_timedwait, COND, none, UNTIL)                                                   \
    X(cnd_wait, COND, none, EVER)                                                                  \
    X(cnd_timedwait, COND, none, UNTIL)                                                            \
    X(sem_wait, SEM, sem_trywait, EVER)                                                            \
    X(sem_timedwait, SEM, sem_trywait, UNTIL)                                                      \
    X(pthread_barrier_wait, BARRIER, none, EVER)                                                   \
    X(pthread_join, JOIN, pthread_tryjoin_np, EVER)                                                \
    X(pthread_timedjoin_np, JOIN, pthread_tryjoin_np, EVER)                                        \
    X(thrd_join, EVENT, none, EVER)                                                                \
    PP_WAIT_NEWER_LIST(X)

#endif
