/* SPDX-License-Identifier: MIT
 *
 * process.c: fork, exit and fatal signals.
 *
 * fork() is followed through pthread_atfork, which libc's own callers (system, popen, daemon,
 * forkpty) pass as well. All signals are blocked for its length: a SIGPROF that arrives while the
 * kernel copies a large address space restarts the copy, and at a high enough rate it never ends.
 *
 * No lock is held over the fork: handlers that were registered before ours run after it and may
 * wait for threads of the host, which may want that lock. The child resets what it inherited
 * instead.
 *
 * A child of vfork, or of a raw clone, has not passed there; it is told by its process id.
 *
 * Zone: HOOK. _exit and sigaction may be called from the host's signal handlers.
 * Locks: none.
 * Owns: the owner's process id; the signal mask from before the fork (8 bytes of TLS).
 */
#include "hook/process.h"

#include "arch/system_call.h"
#include "base/compiler.h"
#include "hook/real.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int sigaction_function(int, const struct sigaction *, struct sigaction *);
typedef sighandler_t signal_function(int, sighandler_t);

static const int fatal_signals[] = {SIGTERM, SIGINT};

static pp_process_events events;
static int owner_pid;
static bool fatal_signals_wanted;
static void *real_sigaction;
static void *real_signal;
static PP_TLS uint64_t mask_before_fork;

/* Not getpid(): a raw clone with CLONE_VM shares our memory, whatever libc remembers. */
static int raw_pid(void)
{
    return (int)pp_system_call(SYS_getpid);
}

static void tell_end(bool fatal_signal)
{
    if (events.at_end != NULL && raw_pid() == owner_pid) {
        events.at_end(fatal_signal);
    }
}

void pp_hook_before_confinement(void)
{
    if (events.before_confinement != NULL && raw_pid() == owner_pid) {
        events.before_confinement();
    }
}

/* ---- fork ---- */

static void before_fork(void)
{
    sigset_t all;
    sigset_t old;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    if (events.before_fork != NULL) {
        events.before_fork();
    }
    memcpy(&mask_before_fork, &old,
           sizeof mask_before_fork); /* the kernel's 64 signals come first */
}

static void restore_mask(void)
{
    sigset_t old;
    sigemptyset(&old);
    memcpy(&old, &mask_before_fork, sizeof mask_before_fork);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void after_fork_in_parent(void)
{
    restore_mask();
}

static void after_fork_in_child(void)
{
    owner_pid = raw_pid();
    if (events.after_fork_in_child != NULL) {
        events.after_fork_in_child();
    }
    restore_mask();
}

/* ---- the end ---- */

static void end_process(int status)
{
    tell_end(false);
    for (;;) {
        pp_system_call(SYS_exit_group, status);
    }
}

__attribute__((visibility("default"), noreturn)) void _exit(int status)
{
    end_process(status);
    __builtin_unreachable();
}

__attribute__((visibility("default"), noreturn)) void _Exit(int status)
{
    end_process(status);
    __builtin_unreachable();
}

static void at_quick_end(void)
{
    tell_end(false);
}

/* Runs after the host's own atexit handlers, since we were loaded before they were registered. */
__attribute__((destructor)) static void at_normal_end(void)
{
    tell_end(false);
}

/* ---- fatal signals ---- */

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
    tell_end(true);
    call_sigaction(signal, &fatal, NULL);
    /* Blocked while its handler runs: it strikes on return, with the state that the host was in. */
    pp_system_call(SYS_tgkill, raw_pid(), pp_system_call(SYS_gettid), signal);
    errno = saved_errno;
}

static const struct sigaction our_fatal_action = {.sa_handler = on_fatal_signal,
                                                  .sa_flags = SA_RESTART};

static bool is_fatal_signal(int signal)
{
    for (size_t i = 0; i < sizeof fatal_signals / sizeof *fatal_signals; i++) {
        if (fatal_signals[i] == signal) {
            return true;
        }
    }
    return false;
}

void pp_hook_fatal_signals(void)
{
    fatal_signals_wanted = true;
    for (size_t i = 0; i < sizeof fatal_signals / sizeof *fatal_signals; i++) {
        struct sigaction now;
        if (call_sigaction(fatal_signals[i], NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
            now.sa_handler == SIG_DFL) {
            call_sigaction(fatal_signals[i], &our_fatal_action, NULL);
        }
    }
}

static bool is_default(const struct sigaction *action)
{
    return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL;
}

/* The host sees and sets SIG_DFL; what stands there is our handler, which ends in the same way. */
/* libc's header has its own names. */
__attribute__((visibility("default"))) int
sigaction(/* NOLINT(readability-inconsistent-declaration-parameter-name) */
          int signal, const struct sigaction *restrict action, struct sigaction *restrict old)
{
    bool ours = fatal_signals_wanted && is_fatal_signal(signal);
    if (ours && action != NULL && is_default(action)) {
        action = &our_fatal_action;
    }
    int result = call_sigaction(signal, action, old);
    if (result == 0 && ours && old != NULL && !(old->sa_flags & SA_SIGINFO) &&
        old->sa_handler == on_fatal_signal) {
        old->sa_handler = SIG_DFL;
        old->sa_flags = 0;
    }
    return result;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
__attribute__((visibility("default"))) sighandler_t signal(int number, sighandler_t handler)
{
    signal_function *real = (signal_function *)pp_real(&real_signal, "signal");
    if (real == NULL) {
        errno = ENOSYS;
        return SIG_ERR;
    }
    bool ours = fatal_signals_wanted && is_fatal_signal(number);
    sighandler_t old = real(number, ours && handler == SIG_DFL ? on_fatal_signal : handler);
    return ours && old == on_fatal_signal ? SIG_DFL : old;
}

/* ---- unloading ---- */

typedef int dlclose_function(void *);
static void *real_dlclose;

/* Remembers what is about to go, as long as its samples have no mapping yet. */
__attribute__((visibility("default"))) int dlclose(void *handle)
{
    dlclose_function *real = (dlclose_function *)pp_real(&real_dlclose, "dlclose");
    if (real == NULL) {
        return -1;
    }
    if (events.before_unload != NULL) {
        events.before_unload();
    }
    return real(handle);
}

void pp_hook_process_init(const pp_process_events *wanted)
{
    pp_real(&real_sigaction, "sigaction");
    pp_real(&real_signal, "signal");
    pp_real(&real_dlclose, "dlclose");
    pp_hook_sandbox_init();
    pp_hook_sigwait_init();
    owner_pid = raw_pid();
    events = *wanted;
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    at_quick_exit(at_quick_end);
}
