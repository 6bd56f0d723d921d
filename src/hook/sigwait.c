/* SPDX-License-Identifier: MIT
 *
 * sigwait.c: keeps our SIGPROF out of the hands of threads that wait for signals.
 *
 * A classic server blocks all signals everywhere and has one thread sigwait() for the full set, or
 * read a signalfd. That thread has a timer like any other; it must not be told of a signal that it
 * never heard of and treats as an error. So while a profile runs, or threads are asked for their
 * stacks, SIGPROF is taken out of such sets. A host that waits for SIGPROF alone means its own.
 *
 * Zone: HOOK. sigwait and its kin are cancellation points: nothing is held when they are called.
 * Locks: none.
 * Owns: nothing.
 */
#include "hook/process.h"

#include "hook/real.h"
#include "sample/cpu_session.h"
#include "sample/thread_answers.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>

typedef int sigwait_function(const sigset_t *, int *);
typedef int sigwaitinfo_function(const sigset_t *, siginfo_t *);
typedef int sigtimedwait_function(const sigset_t *, siginfo_t *, const struct timespec *);
typedef int signalfd_function(int, const sigset_t *, int);

static void *real_sigwait;
static void *real_sigwaitinfo;
static void *real_sigtimedwait;
static void *real_signalfd;

static bool is_alone(const sigset_t *set)
{
    for (int signal = 1; signal < NSIG; signal++) {
        if (signal != SIGPROF && sigismember(set, signal) == 1) {
            return false;
        }
    }
    return true;
}

/* The set to wait for: the host's, or *copy without SIGPROF. */
static const sigset_t *without_ours(const sigset_t *set, sigset_t *copy)
{
    bool in_use = __atomic_load_n(&pp_cpu.active, __ATOMIC_RELAXED) || pp_answers_are_awaited();
    if (set == NULL || !in_use || sigismember(set, SIGPROF) != 1 || is_alone(set)) {
        return set;
    }
    *copy = *set;
    sigdelset(copy, SIGPROF);
    return copy;
}

__attribute__((visibility("default"))) int
sigwait(/* NOLINT(readability-inconsistent-declaration-parameter-name) */
        const sigset_t *restrict set, int *restrict signal)
{
    sigset_t copy;
    sigwait_function *real = (sigwait_function *)pp_real(&real_sigwait, "sigwait");
    return real != NULL ? real(without_ours(set, &copy), signal) : ENOSYS;
}

__attribute__((visibility("default"))) int
sigwaitinfo(/* NOLINT(readability-inconsistent-declaration-parameter-name) */
            const sigset_t *restrict set, siginfo_t *restrict info)
{
    sigset_t copy;
    sigwaitinfo_function *real = (sigwaitinfo_function *)pp_real(&real_sigwaitinfo, "sigwaitinfo");
    if (real == NULL) {
        errno = ENOSYS;
        return -1;
    }
    return real(without_ours(set, &copy), info);
}

__attribute__((visibility("default"))) int
sigtimedwait(/* NOLINT(readability-inconsistent-declaration-parameter-name) */
             const sigset_t *restrict set, siginfo_t *restrict info,
             const struct timespec *restrict timeout)
{
    sigset_t copy;
    sigtimedwait_function *real =
        (sigtimedwait_function *)pp_real(&real_sigtimedwait, "sigtimedwait");
    if (real == NULL) {
        errno = ENOSYS;
        return -1;
    }
    return real(without_ours(set, &copy), info, timeout);
}

/* The symbol's entry is in arch/ (hook/descriptors.c). */
int pp_hook_signalfd(int fd, const sigset_t *set, int flags)
{
    sigset_t copy;
    signalfd_function *real = (signalfd_function *)pp_real(&real_signalfd, "signalfd");
    if (real == NULL) {
        errno = ENOSYS;
        return -1;
    }
    return real(fd, without_ours(set, &copy), flags);
}

void pp_hook_sigwait_init(void)
{
    pp_real(&real_sigwait, "sigwait");
    pp_real(&real_sigwaitinfo, "sigwaitinfo");
    pp_real(&real_sigtimedwait, "sigtimedwait");
    pp_real(&real_signalfd, "signalfd");
}
