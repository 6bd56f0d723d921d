/* SPDX-License-Identifier: MIT
 *
 * cancel.c: pthread_cancel, which shares its signal with our timers (sys/sampling_signal.h).
 *
 * glibc installs its handler of that signal in the first call. Ours goes back in front of it after
 * each call. Until then our signals come to glibc's, which takes no notice of any but those of
 * tgkill.
 *
 * Ours has SA_ONSTACK, glibc's has not. So where the thread has an alternate stack that is too
 * small for a signal (host/small_stacks.h), ours steps aside until the thread has taken the one
 * that it is sent.
 *
 * Zone: HOOK.
 * Locks: the one of sampling_handler.c, before and after the real call.
 */
#include "host/process.h"

#include "arch/system_call.h"
#include "host/real.h"
#include "host/sampling_handler.h"
#include "host/small_stacks.h"
#include "sys/sampling_signal.h"
#include "sys/signal_mask.h"
#include "sys/task_state.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>

typedef int cancel_function(pthread_t);

static void *real_pthread_cancel;

/* A thread that cancels itself asynchronously does not come back: it does so a moment later, when
 * it becomes asynchronous again. */
static int cancel_self(cancel_function *real, pthread_t thread)
{
    int type = PTHREAD_CANCEL_DEFERRED;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    int result = real(thread);
    pp_sampling_handler_reinstall();
    pthread_setcanceltype(type, NULL);
    return result;
}

/* A thread that is stopped, or blocks the signal for long, is not waited for. */
static void wait_until_taken(int tid)
{
    enum { ATTEMPTS = 500, PAUSE_NS = 200 * 1000 };
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    char text[PP_TASK_STATUS_BYTES];
    for (int i = 0; i < ATTEMPTS && pp_task_has_pending(tid, PP_SAMPLING_SIGNAL, text); i++) {
        pp_system_call(SYS_nanosleep, &pause, NULL);
    }
}

/* With all signals blocked: should the caller be cancelled itself, it is so afterwards. */
static int cancel_on_small_stack(cancel_function *real, pthread_t thread, int tid)
{
    pp_signal_mask old = 0;
    pp_signals_block(&old);
    pp_sampling_handler_step_aside();
    int result = real(thread);
    wait_until_taken(tid);
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
