/* SPDX-License-Identifier: MIT
 *
 * cancel.c: pthread_cancel, which shares its signal with our timers (sys/sampling_signal.h).
 *
 * glibc installs its handler of that signal in the first call. Ours goes back in front of it after each
 * call. Until then our signals come to glibc's, which takes no notice of any but those of tgkill.
 *
 * Zone: HOOK.
 * Locks: the one of cpu_signal.c, after the real call.
 * Owns: nothing.
 */
#include "hook/process.h"

#include "hook/real.h"
#include "sample/cpu_signal.h"

#include <errno.h>
#include <pthread.h>

typedef int cancel_function(pthread_t);

static void *real_pthread_cancel;

/* A thread that cancels itself asynchronously does not come back: it does so a moment later, when it
 * becomes asynchronous again. */
static int cancel_self(cancel_function *real, pthread_t thread)
{
    int type = PTHREAD_CANCEL_DEFERRED;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    int result = real(thread);
    pp_cpu_signal_reinstall();
    pthread_setcanceltype(type, NULL);
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
    int result = real(thread);
    if (pp_hook_is_owner()) {
        pp_cpu_signal_reinstall();
    }
    return result;
}

void pp_hook_cancel_init(void)
{
    pp_real(&real_pthread_cancel, "pthread_cancel");
}
