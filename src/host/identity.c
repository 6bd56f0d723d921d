/* SPDX-License-Identifier: MIT
 *
 * identity.c: setuid and its kin, setgroups, capset, unshare, setns. The library's own threads
 * pause around these calls (host/pausable.h).
 *
 *   libc's setuid() and its kin change all threads of the process, by a signal to each, and abort
 *   the program if the kernel refuses one of them what it has allowed to another: a thread of ours
 *   that does not keep its capabilities as the caller does (PR_SET_KEEPCAPS) would be the end of
 *   the program. Where ours are like the caller, they stay, and libc changes them with it.
 *
 *   capset(2), unshare(2), setns(2) change the calling thread only, and so does each call that a
 *   program makes by syscall(). A program with one thread means the process by that, and the kernel
 *   refuses a user namespace to a process with two. A program that has several threads means the
 *   one: ours stay as they are then. But what one thread gives up by capset(2), ours give up, too.
 *
 * A program without threads of ours pays for a comparison.
 *
 * Zone: NORMAL (new threads are created).
 * Locks: those of pausable.c.
 * Tested by: e2e.identity
 */
#include "host/hooks.h"

#include "arch/system_call.h"
#include "host/pausable.h"
#include "host/real.h"
#include "modules/single_thread.h"
#include "sys/sampling_signal.h"
#include "sys/tasks.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/types.h>
#include <unistd.h>

enum { NAMESPACE_TYPE = 0xb703 /* NS_GET_NSTYPE of <linux/nsfs.h>, Linux 4.11 */ };

/* Namespaces that only children of the caller will be in. It can create no thread from then on. */
static const long of_children = CLONE_NEWPID | CLONE_NEWTIME;

static struct {
    void *setuid;
    void *setgid;
    void *seteuid;
    void *setegid;
    void *setreuid;
    void *setregid;
    void *setresuid;
    void *setresgid;
    void *capset;
    void *unshare;
    void *setns;
} real_functions;

typedef int one_id(unsigned);
typedef int two_ids(unsigned, unsigned);
typedef int three_ids(unsigned, unsigned, unsigned);
typedef int capset_function(cap_user_header_t, cap_user_data_t);
typedef int unshare_function(int);
typedef int setns_function(int, int);

static int fail(void)
{
    errno = ENOSYS;
    return -1;
}

/* ---- around the calls ---- */

static bool concerns_us(void)
{
    return pp_pausables_concern_caller() && pp_hook_is_owner();
}

/* No handler of the program may jump out of the pause, and the thread must not be cancelled in it.
 * But it is sampled: a profile that one of our threads is about to start waits for that. */
static void keep_caller(pp_identity_change *change)
{
    pp_signal_mask sampling = pp_signal_bit(PP_SAMPLING_SIGNAL);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &change->cancel_state);
    pp_signals_block(&change->mask);
    sampling &= ~change->mask;
    pp_system_call(SYS_rt_sigprocmask, SIG_UNBLOCK, &sampling, NULL, sizeof sampling);
}

static void pause_if(pp_identity_change *change, bool pauses)
{
    change->pauses = pauses;
    if (pauses) {
        keep_caller(change);
        pp_pausables_stop();
    }
}

void pp_identity_begin(pp_identity_change *change)
{
    change->hides_again = pp_single_thread_tell();
    pause_if(change, concerns_us() && pp_pausables_differ_from_caller());
}

void pp_identity_end(const pp_identity_change *change)
{
    int saved_errno = errno;
    if (change->hides_again) {
        pp_single_thread_hide_again();
    }
    if (change->pauses) {
        pp_pausables_go_on();
        pp_signals_restore(&change->mask);
        pthread_setcancelstate(change->cancel_state, NULL);
    }
    errno = saved_errno;
}

/* ---- system calls that change the calling thread ---- */

static bool is_single(void)
{
    return pp_tasks_count() <= 1 + pp_pausables_count();
}

/* Without threads of ours the program could only fail in a user namespace's case. */
static bool moves_caller(long namespaces)
{
    return (namespaces & CLONE_NEWUSER) != 0 ||
           (namespaces != 0 && (namespaces & of_children) == 0);
}

/* `type` 0: whatever the descriptor is. */
static bool enters(int fd, long type)
{
    long found = type != 0 ? type : pp_system_call(SYS_ioctl, fd, NAMESPACE_TYPE, 0);
    return found > 0 && moves_caller(found);
}

static bool changes_caller(long number, long a, long b)
{
    switch (number) {
    case SYS_setuid:
    case SYS_setgid:
    case SYS_setreuid:
    case SYS_setregid:
    case SYS_setresuid:
    case SYS_setresgid:
    case SYS_setgroups:
        return is_single();
    case SYS_unshare:
        return moves_caller((int)a) && is_single();
    case SYS_setns:
        return enters((int)a, (int)b) && is_single();
    case SYS_prctl:
        return (int)a == PR_SET_SECUREBITS || (int)a == PR_SET_NO_NEW_PRIVS;
    default:
        return number == SYS_capset;
    }
}

void pp_identity_begin_call(pp_identity_change *change, long number, long a, long b)
{
    change->hides_again = false;
    pause_if(change, concerns_us() && changes_caller(number, a, b));
}

/* ---- the hooks: users and groups ---- */

static int call_one(one_id *real, unsigned id)
{
    pp_identity_change change;
    if (real == NULL) {
        return fail();
    }
    pp_identity_begin(&change);
    int result = real(id);
    pp_identity_end(&change);
    return result;
}

static int call_two(two_ids *real, unsigned first, unsigned second)
{
    pp_identity_change change;
    if (real == NULL) {
        return fail();
    }
    pp_identity_begin(&change);
    int result = real(first, second);
    pp_identity_end(&change);
    return result;
}

static int call_three(three_ids *real, unsigned first, unsigned second, unsigned third)
{
    pp_identity_change change;
    if (real == NULL) {
        return fail();
    }
    pp_identity_begin(&change);
    int result = real(first, second, third);
    pp_identity_end(&change);
    return result;
}

__attribute__((visibility("default"))) int setuid(uid_t uid)
{
    return call_one((one_id *)pp_real(&real_functions.setuid, "setuid"), uid);
}

__attribute__((visibility("default"))) int setgid(gid_t gid)
{
    return call_one((one_id *)pp_real(&real_functions.setgid, "setgid"), gid);
}

__attribute__((visibility("default"))) int seteuid(uid_t uid)
{
    return call_one((one_id *)pp_real(&real_functions.seteuid, "seteuid"), uid);
}

__attribute__((visibility("default"))) int setegid(gid_t gid)
{
    return call_one((one_id *)pp_real(&real_functions.setegid, "setegid"), gid);
}

__attribute__((visibility("default"))) int setreuid(uid_t ruid, uid_t euid)
{
    return call_two((two_ids *)pp_real(&real_functions.setreuid, "setreuid"), ruid, euid);
}

__attribute__((visibility("default"))) int setregid(gid_t rgid, gid_t egid)
{
    return call_two((two_ids *)pp_real(&real_functions.setregid, "setregid"), rgid, egid);
}

__attribute__((visibility("default"))) int setresuid(uid_t ruid, uid_t euid, uid_t suid)
{
    return call_three((three_ids *)pp_real(&real_functions.setresuid, "setresuid"), ruid, euid,
                      suid);
}

__attribute__((visibility("default"))) int setresgid(gid_t rgid, gid_t egid, gid_t sgid)
{
    return call_three((three_ids *)pp_real(&real_functions.setresgid, "setresgid"), rgid, egid,
                      sgid);
}

/* ---- the hooks: capabilities and namespaces ---- */

/* libc has no header for it. */
int capset(cap_user_header_t header, cap_user_data_t data);

__attribute__((visibility("default"))) int capset(cap_user_header_t header, cap_user_data_t data)
{
    capset_function *real = (capset_function *)pp_real(&real_functions.capset, "capset");
    pp_identity_change change;
    if (real == NULL) {
        return fail();
    }
    pp_identity_begin_call(&change, SYS_capset, 0, 0);
    int result = real(header, data);
    pp_identity_end(&change);
    return result;
}

__attribute__((visibility("default"))) int unshare(int flags)
{
    unshare_function *real = (unshare_function *)pp_real(&real_functions.unshare, "unshare");
    pp_identity_change change;
    if (real == NULL) {
        return fail();
    }
    pp_identity_begin_call(&change, SYS_unshare, flags, 0);
    int result = real(flags);
    pp_identity_end(&change);
    return result;
}

__attribute__((visibility("default"))) int setns(int fd, int type)
{
    setns_function *real = (setns_function *)pp_real(&real_functions.setns, "setns");
    pp_identity_change change;
    if (real == NULL) {
        return fail();
    }
    pp_identity_begin_call(&change, SYS_setns, fd, type);
    int result = real(fd, type);
    pp_identity_end(&change);
    return result;
}

void pp_hook_identity_init(void)
{
    pp_real(&real_functions.setuid, "setuid");
    pp_real(&real_functions.setgid, "setgid");
    pp_real(&real_functions.seteuid, "seteuid");
    pp_real(&real_functions.setegid, "setegid");
    pp_real(&real_functions.setreuid, "setreuid");
    pp_real(&real_functions.setregid, "setregid");
    pp_real(&real_functions.setresuid, "setresuid");
    pp_real(&real_functions.setresgid, "setresgid");
    pp_real(&real_functions.capset, "capset");
    pp_real(&real_functions.unshare, "unshare");
    pp_real(&real_functions.setns, "setns");
}
