/* SPDX-License-Identifier: MIT
 *
 * cancel.c: pthread_cancel, which shares its signal with our timers (sys/sampling_signal.h).
 *
 * libc installs its handler of that signal in the first call. Our handler replaces it again after
 * each call. Until then libc's handler gets our signals, and ignores them: glibc's all that were not
 * sent by tgkill, musl's all that find a thread that nobody has cancelled.
 *
 * Our handler has SA_ONSTACK, glibc's has not. Where a thread has an alternate stack that is too
 * small for a signal (threads/small_stacks.h), our handler steps aside until the thread has taken the
 * signal of the cancellation.
 *
 * Zone: HOOK.
 * Locks: the one of sampling_handler.c, before and after the real call.
 * Tested by: e2e.cancelled_anywhere, e2e.alternate_stacks
 */
#include "host/hooks.h"

#include "arch/system_call.h"
#include "host/real.h"
#include "host/sampling_handler.h"
#include "sys/apart.h"
#include "sys/sampling_signal.h"
#include "sys/signal_mask.h"
#include "sys/task_state.h"
#include "threads/small_stacks.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>

typedef int cancel_function(pthread_t);

static void *real_pthread_cancel;

/* A call by which a thread cancels itself asynchronously does not return. So the thread is made
 * deferred for the call, and ends when it becomes asynchronous again. */
static int cancel_self(cancel_function *real, pthread_t thread)
{
    int type = PTHREAD_CANCEL_DEFERRED;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    int result = real(thread);
    pp_sampling_handler_reinstall();
    pthread_setcanceltype(type, NULL);
    return result;
}

/* Waits at most 100 ms: the thread may be stopped, or block the signal for long. */
static void wait_until_taken(void *of_tid)
{
    int tid = *(const int *)of_tid;
    enum { ATTEMPTS = 500, PAUSE_NS = 200 * 1000 };
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    char text[PP_TASK_STATUS_BYTES];
    for (int i = 0; i < ATTEMPTS && pp_task_has_pending(tid, PP_SAMPLING_SIGNAL, text); i++) {
        pp_system_call(SYS_nanosleep, &pause, NULL);
    }
}

/* All signals are blocked meanwhile: if another thread cancels the caller, the caller ends after
 * that. */
static int cancel_on_small_stack(cancel_function *real, pthread_t thread, int tid)
{
    pp_signal_mask old = 0;
    pp_signals_block(&old);
    pp_sampling_handler_step_aside();
    int result = real(thread);
    pp_apart(wait_until_taken, &tid);
    pp_sampling_handler_step_back();
    pp_signals_restore(&old);
    return result;
}

/* libc's header has its own name. */
__attribute__((visibility("default"))) int
pthread_cancel(/* NOLINT(readability-inconsistent-declaration-parameter-name) */
               pthread_t thread)
{
    cancel_function *real = (cancel_function *)pp_real(&real_pthread_cancel, "pthread_cancel");
    if (real == NULL) {
        return ENOSYS;
    }
    if (pthread_equal(thread, pthread_self())) {
        return cancel_self(real, thread);
    }
    if (!pp_hook_is_owner()) {
        return real(thread);
    }
    int tid = pp_small_stacks_find((uintptr_t)thread);
    if (tid != 0) {
        return cancel_on_small_stack(real, thread, tid);
    }
    int result = real(thread);
    pp_sampling_handler_reinstall();
    return result;
}

void pp_hook_cancel_init(void)
{
    pp_real(&real_pthread_cancel, "pthread_cancel");
}
