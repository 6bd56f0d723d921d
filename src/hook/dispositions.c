/* SPDX-License-Identifier: MIT
 *
 * dispositions.c: sigaction and signal, for the signals whose handlers are ours.
 *
 * The host sees what it set, and is not told of us:
 *
 *   SIGTERM, SIGINT   where the host wants the default action stands our handler, which writes the
 *                     profile and then ends the process in the same way. Python, for one, asks
 *                     whether SIGINT is at SIG_DFL before it makes Ctrl-C a KeyboardInterrupt.
 *   SIGPROF           once the sampler has it, the host's action is kept aside and gets the signals
 *                     that are not ours. Programs that put "clean up and die" on every signal that
 *                     can end them (sort, vim) would die of the first sample otherwise.
 *
 * Zone: HOOK. Both may be called from the host's signal handlers.
 * Locks: none.
 * Owns: nothing.
 */
#include "hook/process.h"

#include "arch/system_call.h"
#include "hook/real.h"
#include "sample/cpu_signal.h"

#include <errno.h>
#include <signal.h>

typedef int sigaction_function(int, const struct sigaction *, struct sigaction *);
typedef sighandler_t signal_function(int, sighandler_t);

static const int fatal_signals[] = {SIGTERM, SIGINT};

static bool fatal_signals_wanted;
static void *real_sigaction;
static void *real_signal;

static int call_sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
    sigaction_function *real = (sigaction_function *)pp_real(&real_sigaction, "sigaction");
    if (real == NULL) {
        errno = ENOSYS;
        return -1;
    }
    return real(signal, action, old);
}

static void on_fatal_signal(int signal)
{
    int saved_errno = errno;
    struct sigaction fatal = {.sa_handler = SIG_DFL};
    pp_hook_tell_end(true);
    call_sigaction(signal, &fatal, NULL);
    /* Blocked while its handler runs: it strikes on return, with the state that the host was in. */
    pp_system_call(SYS_tgkill, pp_system_call(SYS_getpid), pp_system_call(SYS_gettid), signal);
    errno = saved_errno;
}

static const struct sigaction our_fatal_action = {.sa_handler = on_fatal_signal,
                                                  .sa_flags = SA_RESTART};

static bool is_fatal_signal(int signal)
{
    for (size_t i = 0; i < sizeof fatal_signals / sizeof *fatal_signals; i++) {
        if (fatal_signals[i] == signal) {
            return fatal_signals_wanted;
        }
    }
    return false;
}

static bool is_default(const struct sigaction *action)
{
    return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL;
}

void pp_hook_fatal_signals(void)
{
    if (pp_system_call(SYS_getpid) == 1) {
        return; /* the first process of a container: the default action does not end it */
    }
    fatal_signals_wanted = true;
    for (size_t i = 0; i < sizeof fatal_signals / sizeof *fatal_signals; i++) {
        struct sigaction now;
        if (call_sigaction(fatal_signals[i], NULL, &now) == 0 && is_default(&now)) {
            call_sigaction(fatal_signals[i], &our_fatal_action, NULL);
        }
    }
}

static int change_fatal_signal(int signal, const struct sigaction *action, struct sigaction *old)
{
    if (action != NULL && is_default(action)) {
        action = &our_fatal_action;
    }
    int result = call_sigaction(signal, action, old);
    if (result == 0 && old != NULL && !(old->sa_flags & SA_SIGINFO) &&
        old->sa_handler == on_fatal_signal) {
        *old = (struct sigaction){.sa_handler = SIG_DFL};
    }
    return result;
}

/* Whether the host's wish is only written down: see pp_cpu_signal_host_action(). */
static bool is_kept_aside(int signal)
{
    return signal == SIGPROF && pp_cpu_signal_owned() && pp_hook_is_owner();
}

/* libc's header has its own names for these. */
__attribute__((visibility("default"))) int
sigaction(/* NOLINT(readability-inconsistent-declaration-parameter-name) */
          int signal, const struct sigaction *restrict action, struct sigaction *restrict old)
{
    if (is_kept_aside(signal)) {
        pp_cpu_signal_host_action(action, old);
        return 0;
    }
    if (is_fatal_signal(signal)) {
        return change_fatal_signal(signal, action, old);
    }
    return call_sigaction(signal, action, old);
}

__attribute__((visibility("default"))) sighandler_t
signal(/* NOLINT(readability-inconsistent-declaration-parameter-name) */
       int number, sighandler_t handler)
{
    signal_function *real = (signal_function *)pp_real(&real_signal, "signal");
    if (real == NULL) {
        errno = ENOSYS;
        return SIG_ERR;
    }
    if (handler == SIG_ERR || (!is_kept_aside(number) && !is_fatal_signal(number))) {
        return real(number, handler);
    }
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct sigaction old;
    sigaddset(&action.sa_mask, number);
    return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

void pp_hook_dispositions_init(void)
{
    pp_real(&real_sigaction, "sigaction");
    pp_real(&real_signal, "signal");
}
