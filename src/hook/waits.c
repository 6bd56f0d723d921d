/* SPDX-License-Identifier: MIT
 *
 * waits.c: the slow path of the hooks of locks, conditions and semaphores.
 *
 *   lock      owner already? -> real            unlock    inner one? -> real
 *             try: not busy? -> done                      look at the waiters
 *             list, real, unlist                          real, then record
 *
 * Results, errno, cancellation points and the semantics of every kind of mutex are the real
 * functions'. A try answers EBUSY alone for "taken": whatever else it says (EOWNERDEAD: the lock is
 * held; EDEADLK, EINVAL, ENOTRECOVERABLE) is what the lock would have said.
 *
 * Cancelled waits (conditions, semaphores, joins) leave through pthread_cleanup_pop.
 *
 * Zone: HOOK.
 * Locks: none.
 * Owns: nothing.
 */
#include "hook/waits.h"

#include "base/compiler.h"
#include "sample/contention.h"
#include "sys/tasks.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <threads.h>

enum {
    KIND_TYPE = 3 /* of __kind: normal, recursive, error-checking, adaptive; above that robust (16),
                     priority-inheriting (32), -protected (64), shared (128), elision (256, 512) */
};

/* Entered from arch/. */
long pp_wait_slow(const pp_wait_call *call);

static long call_real(const pp_wait_call *call)
{
    return call->hook->real(call->argument[0], call->argument[1], call->argument[2],
                            call->argument[3]);
}

static pp_contention_caller caller_of(const pp_wait_call *call)
{
    return (pp_contention_caller){.leaf = (uintptr_t)call->hook->entry,
                                  .return_address = call->return_address,
                                  .sp = (uintptr_t)(call + 1),
                                  .fp = call->fp,
                                  .bx = call->bx};
}

/* ---- kinds of mutexes (glibc) ---- */

static const struct __pthread_mutex_s *mutex_of(uintptr_t mutex)
{
    return &((const pthread_mutex_t *)mutex)->__data;
}

static bool may_be_locked_again(const struct __pthread_mutex_s *mutex)
{
    int type = mutex->__kind & KIND_TYPE;
    return type == PTHREAD_MUTEX_RECURSIVE_NP || type == PTHREAD_MUTEX_ERRORCHECK_NP;
}

static bool is_owner(const struct __pthread_mutex_s *mutex)
{
    return __atomic_load_n(&mutex->__owner, __ATOMIC_RELAXED) == pp_task_self();
}

/* ---- waiting ---- */

static void end_wait(void *wait)
{
    pp_wait_end(*(const pp_wait *)wait);
}

/* Not for what can be cancelled. */
static long wait_for_lock(const pp_wait_call *call)
{
    pp_contention_caller caller = caller_of(call);
    pp_wait wait = pp_wait_begin(call->argument[0], true, &caller);
    long result = call_real(call);
    pp_wait_end(wait);
    return result;
}

static long wait_cancellably(const pp_wait_call *call, uintptr_t object)
{
    long result = 0;
    pp_contention_caller caller = caller_of(call);
    pp_wait wait = pp_wait_begin(object, false, &caller);
    pthread_cleanup_push(end_wait, &wait);
    result = call_real(call);
    pthread_cleanup_pop(1);
    return result;
}

/* `busy`: what the try says of something that is taken. */
static long lock(const pp_wait_call *call, long busy)
{
    if (call->hook->try == NULL) {
        return wait_for_lock(call);
    }
    long result = call->hook->try(call->argument[0], 0, 0, 0);
    if ((int)result == busy) {
        return wait_for_lock(call);
    }
    pp_contention_cool(call->argument[0]);
    return result;
}

static long lock_mutex(const pp_wait_call *call, long busy)
{
    const struct __pthread_mutex_s *mutex = mutex_of(call->argument[0]);
    if (may_be_locked_again(mutex) && is_owner(mutex)) {
        return call_real(call);
    }
    return lock(call, busy);
}

static long wait_for_semaphore(const pp_wait_call *call)
{
    if (call->hook->try == NULL) {
        return wait_cancellably(call, call->argument[0]);
    }
    int saved_errno = errno;
    pthread_testcancel(); /* sem_wait is a cancellation point also when it does not wait */
    if (call->hook->try(call->argument[0], 0, 0, 0) == 0) {
        return 0;
    }
    errno = saved_errno;
    return wait_cancellably(call, call->argument[0]);
}

/* ---- releasing ---- */

static long unlock(const pp_wait_call *call)
{
    pp_release release;
    if (!pp_release_begin(call->argument[0], &release)) {
        return call_real(call);
    }
    pp_contention_caller caller = caller_of(call);
    long result = call_real(call);
    pp_release_record(&release, &caller);
    return result;
}

/* Releases nothing: an inner unlock of a recursive one, or a refusal of one that checks. */
static bool stays_locked(const struct __pthread_mutex_s *mutex)
{
    switch (mutex->__kind & KIND_TYPE) {
    case PTHREAD_MUTEX_RECURSIVE_NP:
        return mutex->__count > 1;
    case PTHREAD_MUTEX_ERRORCHECK_NP:
        return !is_owner(mutex);
    default:
        return false;
    }
}

static long unlock_mutex(const pp_wait_call *call)
{
    return stays_locked(mutex_of(call->argument[0])) ? call_real(call) : unlock(call);
}

/* The mutex is released in there; its waiters are charged before, since afterwards is too late. */
static long wait_for_condition(const pp_wait_call *call)
{
    pp_release release;
    if (pp_release_begin(call->argument[1], &release)) {
        pp_contention_caller caller = caller_of(call);
        pp_release_record(&release, &caller);
    }
    return wait_cancellably(call, call->argument[0]);
}

/* ---- entered from arch/ ---- */

static long missing(const pp_wait_call *call)
{
    switch (call->hook->shape) {
    case PP_WAIT_SEM:
        errno = ENOSYS;
        return -1;
    case PP_WAIT_UNMUTEX:
    case PP_WAIT_UNLOCK:
        return 0;
    default:
        return ENOSYS;
    }
}

static bool is_off(void)
{
    return pp_contention_block_rate() == 0 && pp_contention_mutex_fraction() == 0;
}

__attribute__((visibility("hidden"), used)) long pp_wait_slow(const pp_wait_call *call)
{
    if (!pp_wait_resolve(call->hook)) {
        return missing(call);
    }
    if (is_off()) {
        return call_real(call);
    }
    switch (call->hook->shape) {
    case PP_WAIT_MUTEX:
        return lock_mutex(call, EBUSY);
    case PP_WAIT_MTX:
        return lock_mutex(call, thrd_busy);
    case PP_WAIT_RDLOCK:
    case PP_WAIT_WRLOCK:
    case PP_WAIT_SPIN:
        return lock(call, EBUSY);
    case PP_WAIT_UNMUTEX:
        return unlock_mutex(call);
    case PP_WAIT_UNLOCK:
        return unlock(call);
    case PP_WAIT_COND:
        return wait_for_condition(call);
    case PP_WAIT_SEM:
        return wait_for_semaphore(call);
    default:
        return wait_cancellably(call, call->argument[0]);
    }
}
