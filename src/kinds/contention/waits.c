/* SPDX-License-Identifier: MIT
 *
 * waits.c: the slow path of the hooks of locks, conditions and semaphores.
 *
 *   lock      owner already? -> real            unlock    inner one? -> real
 *             try: not busy? -> done                      sum the waits
 *             list, real, unlist                          real, then record
 *
 * Results, errno, cancellation points and the semantics of every kind of mutex are the real
 * functions'. A try returns EBUSY only if the lock is taken. Every other result of the try is what
 * the lock function would have returned (EOWNERDEAD: the thread has the lock; EDEADLK, EINVAL). A
 * hook does not try a robust mutex, but reads its state.
 *
 * A wait that never returns ends in one of two ways. A thread that is cancelled, or calls
 * pthread_exit in a signal handler, is unwound: the unwinder passes pp_wait_call_real(), and calls
 * pp_wait_unwound(). A signal handler that jumps out of the wait leaves its waiter behind
 * (kinds/contention/waiters.h). pthread_cleanup_push() would not work: when a jump leaves its
 * frame, its buffer stays registered, and the end of the thread would jump there.
 *
 * Zone: HOOK.
 * Tested by: unit.contention, unit.contention_kinds, e2e.hooks, e2e.cancelled_anywhere
 */
#include "kinds/contention/waits.h"

#include "arch/registers.h"
#include "arch/shown_as.h"
#include "base/compiler.h"
#include "kinds/contention/contention.h"
#include "libc/locks.h"
#include "sys/clock.h"
#include "sys/own_work.h"
#include "sys/tasks.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <threads.h>
#include <unwind.h>

/* The entries call this. */
long pp_wait_slow(const pp_wait_call *call);
/* Assembler has these functions. It names the next as the personality routine of the first; the second is there
 * where a call needs a mark (pp_call_mark, arch/hook_layout.h). */
long pp_wait_call_real(pp_wait_function *real, const uintptr_t argument[4]);
long pp_wait_call_marked(pp_wait_function *real, const uintptr_t argument[4]);
_Unwind_Reason_Code pp_wait_unwound(int version, _Unwind_Action actions,
                                    _Unwind_Exception_Class exception_class,
                                    struct _Unwind_Exception *exception,
                                    struct _Unwind_Context *context);

static long call_real(const pp_wait_call *call)
{
    pp_wait_function *real = __atomic_load_n(&call->hook->real, __ATOMIC_RELAXED);
#if PP_RETURN_ON_STACK
    return real(call->argument[0], call->argument[1], call->argument[2], call->argument[3]);
#else
    return pp_wait_call_marked(real, call->argument);
#endif
}

/* Calls a real function that is a cancellation point. */
static long wait_in_real(const pp_wait_call *call)
{
    return pp_wait_call_real(__atomic_load_n(&call->hook->real, __ATOMIC_RELAXED), call->argument);
}

/* The personality routine of pp_wait_call_real(). There is no landing pad: this routine ends the
 * wait, and the unwinding goes on. */
__attribute__((visibility("hidden"), used)) _Unwind_Reason_Code
pp_wait_unwound(int version, _Unwind_Action actions, _Unwind_Exception_Class exception_class,
                struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
    (void)version;
    (void)exception_class;
    (void)exception;
    (void)context;
    if (actions & _UA_CLEANUP_PHASE) {
        pp_wait_end_innermost();
    }
    return _URC_CONTINUE_UNWIND;
}

/* Whether a try may come first. It may not if the real function would refuse its arguments before
 * it looks whether it has to wait: a try would not refuse. */
static bool may_try(const pp_wait_call *call)
{
    if (call->hook->try == NULL || call->hook->limit == PP_WAIT_EVER) {
        return call->hook->try != NULL;
    }
    bool on_clock = call->hook->limit == PP_WAIT_CLOCK;
    const struct timespec *until =
        (const struct timespec *)call->argument[on_clock ? 2 : 1]; /* glibc reads it */
    clockid_t clock = on_clock ? (clockid_t)call->argument[1] : CLOCK_REALTIME;
    return until != NULL && until->tv_nsec >= 0 && until->tv_nsec < PP_NS_PER_S &&
           (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC);
}

/* Calls the try function in a frame of its own, which is marked as libpprof's work: the program has
 * not called that function. */
PP_ONLY_UNDER_ITS_NAME static long try_real(const pp_wait_call *call)
{
    long result = call->hook->try(call->argument[0], call->argument[1], 0, 0);
    __asm__ volatile(""); /* no tail call */
    return result;
}
PP_OWN_WORK(try_real);

static pp_caller caller_of(const pp_wait_call *call)
{
    return (pp_caller){.leaf = (uintptr_t)call->hook->entry,
                       .return_address = call->return_address,
                       .sp = (uintptr_t)(call + 1),
                       .fp = call->fp,
                       .bx = call->bx};
}

/* ---- waiting ---- */

/* Whether the thread has the lock, by the result of any lock function; 0 is thrd_success, too. */
static bool has_it(long result)
{
    return (int)result == 0 || (int)result == EOWNERDEAD;
}

/* Waits for a lock. A lock function is no cancellation point, so the real function is called
 * directly; a wait that a jump leaves is forgotten later. */
static long wait_for_lock(const pp_wait_call *call)
{
    pp_caller caller = caller_of(call);
    pp_wait wait = pp_wait_begin(call->argument[0], PP_WAIT_FOR_LOCK, &caller);
    long result = call_real(call);
    if (has_it(result)) {
        pp_wait_end(wait);
    } else {
        pp_wait_give_up(wait);
    }
    return result;
}

/* Whether the real function has refused to wait: pthread_join() of the calling thread, a condition
 * with a mutex that another thread has. */
static bool is_refusal(long result)
{
    return (int)result == EDEADLK || (int)result == EPERM || (int)result == EINVAL;
}

static long wait_for(const pp_wait_call *call, pp_wait_for what)
{
    pp_caller caller = caller_of(call);
    pp_wait wait = pp_wait_begin(call->argument[0], what, &caller);
    long result = wait_in_real(call);
    if (is_refusal(result)) {
        pp_wait_cancel(wait);
    } else {
        pp_wait_end(wait);
    }
    return result;
}

/* Locks a mutex that must not be tried. */
static long lock_robust(const pp_wait_call *call)
{
    if (pp_mutex_robust_waits(call->argument[0], pp_task_self())) {
        return wait_for_lock(call);
    }
    pp_contention_cool(call->argument[0]);
    return call_real(call);
}

/* The try takes a recursive mutex once more, as the lock function does. */
static long lock_mutex(const pp_wait_call *call, long busy)
{
    if (!may_try(call)) {
        return call_real(call);
    }
    if (pp_mutex_try_harms(call->argument[0])) {
        return lock_robust(call);
    }
    long result = try_real(call);
    if ((int)result != busy) {
        pp_contention_cool(call->argument[0]);
        return result;
    }
    bool refuses = pp_mutex_checks_errors(call->argument[0]) &&
                   pp_mutex_is_owner(call->argument[0], pp_task_self());
    return refuses ? call_real(call) : wait_for_lock(call);
}

static long lock_rwlock(const pp_wait_call *call)
{
    if (!may_try(call)) {
        return call_real(call);
    }
    long result = try_real(call);
    if ((int)result != EBUSY) {
        pp_contention_cool(call->argument[0]);
        return result;
    }
    int writer = pp_rwlock_writer(call->argument[0]);
    return writer == pp_task_self() ? call_real(call) : wait_for_lock(call); /* EDEADLK */
}

static long lock_spin(const pp_wait_call *call)
{
    if (may_try(call) && (int)try_real(call) == 0) {
        pp_contention_cool(call->argument[0]);
        return 0;
    }
    return wait_for_lock(call);
}

/* The functions of semaphores are cancellation points also when they do not wait, except
 * sem_clockwait(). */
static long wait_for_semaphore(const pp_wait_call *call)
{
    if (!may_try(call)) {
        return call_real(call);
    }
    int saved_errno = errno;
    if (call->hook->limit != PP_WAIT_CLOCK) {
        pthread_testcancel();
    }
    if ((int)try_real(call) == 0) {
        return 0;
    }
    errno = saved_errno;
    return wait_for(call, PP_WAIT_FOR_UNIT);
}

static long wait_for_thread(const pp_wait_call *call)
{
    if (may_try(call)) {
        long result = try_real(call);
        if ((int)result != EBUSY) {
            return result; /* glibc's join is no cancellation point if it does not wait */
        }
    }
    return wait_for(call, PP_WAIT_FOR_EVENT);
}

/* Waits at a barrier. The last thread that comes does not wait. */
static long wait_for_others(const pp_wait_call *call)
{
    pp_caller caller = caller_of(call);
    pp_wait wait = pp_wait_begin(call->argument[0], PP_WAIT_FOR_EVENT, &caller);
    long result = call_real(call);
    if ((int)result == PTHREAD_BARRIER_SERIAL_THREAD) {
        pp_wait_cancel(wait);
    } else {
        pp_wait_end(wait);
    }
    return result;
}

/* ---- releasing ---- */

static long unlock(const pp_wait_call *call)
{
    pp_release release;
    if (!pp_release_begin(call->argument[0], &release)) {
        return call_real(call);
    }
    pp_caller caller = caller_of(call);
    long result = call_real(call);
    pp_release_record(&release, &caller);
    return result;
}

/* Whether an unlock leaves the mutex locked: the inner unlock of a recursive mutex, or an unlock
 * that an error-checking mutex refuses. */
static bool stays_locked(uintptr_t mutex)
{
    if (pp_mutex_is_recursive(mutex)) {
        return pp_mutex_is_nested(mutex);
    }
    return pp_mutex_checks_errors(mutex) && !pp_mutex_is_owner(mutex, pp_task_self());
}

static long unlock_mutex(const pp_wait_call *call)
{
    return stays_locked(call->argument[0]) ? call_real(call) : unlock(call);
}

/* Waits for a condition, which releases the mutex. The release is recorded before the wait, since
 * the function returns only after it. */
static long wait_for_condition(const pp_wait_call *call)
{
    pp_release release;
    if (!stays_locked(call->argument[1]) && pp_release_begin(call->argument[1], &release)) {
        pp_caller caller = caller_of(call);
        pp_release_record(&release, &caller);
    }
    return wait_for(call, PP_WAIT_FOR_EVENT);
}

/* ---- the slow path ---- */

/* The result of a function that libc does not have. */
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
    if (is_off() || pp_own_work_has((uintptr_t)call)) {
        return call_real(call);
    }
    switch (call->hook->shape) {
    case PP_WAIT_MUTEX:
        return lock_mutex(call, EBUSY);
    case PP_WAIT_MTX:
        return lock_mutex(call, thrd_busy);
    case PP_WAIT_RDLOCK:
    case PP_WAIT_WRLOCK:
        return lock_rwlock(call);
    case PP_WAIT_SPIN:
        return lock_spin(call);
    case PP_WAIT_UNMUTEX:
        return unlock_mutex(call);
    case PP_WAIT_UNLOCK:
        return unlock(call);
    case PP_WAIT_COND:
        return wait_for_condition(call);
    case PP_WAIT_SEM:
        return wait_for_semaphore(call);
    case PP_WAIT_JOIN:
        return wait_for_thread(call);
    case PP_WAIT_BARRIER:
        return wait_for_others(call);
    default:
        return wait_for(call, PP_WAIT_FOR_EVENT);
    }
}

/* ---- threads ---- */

static void begins(uintptr_t entry, const pp_caller *caller)
{
    (void)entry;
    (void)caller;
    pp_contention_thread_begin();
}

const pp_sampler pp_contention_sampler = {
    .on = {[PP_THREAD_IS_FIRST] = pp_hook_waits_prepare_for_threads,
           [PP_THREAD_ENDS] = pp_contention_thread_end},
    .thread_begins = begins,
};
