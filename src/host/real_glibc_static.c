/* SPDX-License-Identifier: MIT
 *
 * real_glibc_static.c: the real functions of a fully static program, by libc's internal names.
 *
 * Such a program has no loader that could find them. The linker takes our pthread_create and the
 * other hooks instead of those of libc.a. But nearly each function of libc.a is an alias of one
 * with an internal name, and a reference to the internal name makes the linker take its file. The
 * few functions without another name are made here of one that has such a name, or of a system
 * call.
 *
 * The names are glibc's (2.34 or newer). Where they cannot be linked, libpprof_static.a is not
 * built. malloc_static.c has the names for malloc.
 *
 * Zone: HOOK.
 * Tested by: e2e.static
 */
#include "host/real.h"

#include "arch/system_call.h"
#include "host/kind.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* hook, internal name; functions of any type */
#define ALIASES(X)                                                                                 \
    X(pthread_create, __pthread_create_2_1)                                                        \
    X(thrd_create, __thrd_create)                                                                  \
    X(dlclose, __dlclose)                                                                          \
    X(sigaction, __sigaction)                                                                      \
    X(signal, __bsd_signal)                                                                        \
    X(sigaltstack, __sigaltstack)                                                                  \
    X(pthread_cancel, __pthread_cancel)                                                            \
    X(prctl, __prctl)                                                                              \
    X(setuid, __setuid)                                                                            \
    X(setgid, __setgid)                                                                            \
    X(setreuid, __setreuid)                                                                        \
    X(setregid, __setregid)                                                                        \
    X(setresuid, __setresuid)                                                                      \
    X(setresgid, __setresgid)                                                                      \
    X(execve, __execve)                                                                            \
    X(execvpe, __execvpe)                                                                          \
    X(posix_spawn, __posix_spawn)                                                                  \
    X(posix_spawnp, __posix_spawnp)                                                                \
    X(pthread_mutex_lock, ___pthread_mutex_lock)                                                   \
    X(pthread_mutex_timedlock, ___pthread_mutex_timedlock)                                         \
    X(pthread_mutex_clocklock, ___pthread_mutex_clocklock)                                         \
    X(pthread_mutex_unlock, ___pthread_mutex_unlock)                                               \
    X(pthread_mutex_trylock, pthread_mutex_trylock)                                                \
    X(mtx_lock, __mtx_lock)                                                                        \
    X(mtx_timedlock, __mtx_timedlock)                                                              \
    X(mtx_unlock, __mtx_unlock)                                                                    \
    X(mtx_trylock, mtx_trylock)                                                                    \
    X(pthread_rwlock_rdlock, ___pthread_rwlock_rdlock)                                             \
    X(pthread_rwlock_timedrdlock, ___pthread_rwlock_timedrdlock)                                   \
    X(pthread_rwlock_clockrdlock, ___pthread_rwlock_clockrdlock)                                   \
    X(pthread_rwlock_tryrdlock, pthread_rwlock_tryrdlock)                                          \
    X(pthread_rwlock_wrlock, ___pthread_rwlock_wrlock)                                             \
    X(pthread_rwlock_timedwrlock, ___pthread_rwlock_timedwrlock)                                   \
    X(pthread_rwlock_clockwrlock, ___pthread_rwlock_clockwrlock)                                   \
    X(pthread_rwlock_trywrlock, pthread_rwlock_trywrlock)                                          \
    X(pthread_rwlock_unlock, ___pthread_rwlock_unlock)                                             \
    X(pthread_spin_lock, __pthread_spin_lock)                                                      \
    X(pthread_spin_unlock, __pthread_spin_unlock)                                                  \
    X(pthread_spin_trylock, pthread_spin_trylock)                                                  \
    X(pthread_cond_wait, ___pthread_cond_wait)                                                     \
    X(pthread_cond_timedwait, ___pthread_cond_timedwait)                                           \
    X(pthread_cond_clockwait, ___pthread_cond_clockwait)                                           \
    X(cnd_wait, __cnd_wait)                                                                        \
    X(cnd_timedwait, __cnd_timedwait)                                                              \
    X(sem_wait, __new_sem_wait)                                                                    \
    X(sem_timedwait, ___sem_timedwait)                                                             \
    X(sem_clockwait, ___sem_clockwait)                                                             \
    X(sem_trywait, sem_trywait)                                                                    \
    X(pthread_barrier_wait, ___pthread_barrier_wait)                                               \
    X(pthread_join, ___pthread_join)                                                               \
    X(pthread_timedjoin_np, ___pthread_timedjoin_np)                                               \
    X(pthread_clockjoin_np, ___pthread_clockjoin_np)                                               \
    X(pthread_tryjoin_np, pthread_tryjoin_np)                                                      \
    X(thrd_join, __thrd_join)

#define DECLARE(hooked, alias) extern void libc_##hooked(void) __asm__(#alias);
ALIASES(DECLARE)

extern int libc_exec(const char *, char *const[], char *const[]) __asm__("__execve");
extern int libc_exec_from_path(const char *, char *const[], char *const[]) __asm__("__execvpe");

/* ---- functions that have no other name ---- */

static int own_execv(const char *path, char *const argv[])
{
    return libc_exec(path, argv, environ);
}

static int own_execvp(const char *file, char *const argv[])
{
    return libc_exec_from_path(file, argv, environ);
}

static int own_execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
    return (int)pp_real_result(pp_system_call(SYS_execveat, fd, path, argv, envp, flags));
}

static int own_fexecve(int fd, char *const argv[], char *const envp[])
{
    if (fd < 0 || argv == NULL || envp == NULL) {
        errno = EINVAL;
        return -1;
    }
    return own_execveat(fd, "", argv, envp, AT_EMPTY_PATH);
}

/* ---- older forms of signal() ---- */

extern int libc_change_action(int, const struct sigaction *,
                              struct sigaction *) __asm__("__sigaction");
extern int libc_change_mask(int, const sigset_t *, sigset_t *) __asm__("__sigprocmask");

static sighandler_t own_sysv_signal(int signal, sighandler_t handler)
{
    const struct sigaction action = {.sa_handler = handler,
                                     .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
    struct sigaction old;
    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    return libc_change_action(signal, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

static sighandler_t own_sigset(int signal, sighandler_t handler)
{
    const struct sigaction action = {.sa_handler = handler};
    const bool holds = handler == SIG_HOLD;
    struct sigaction old;
    sigset_t set;
    sigset_t blocked;
    if (handler == SIG_ERR || sigemptyset(&set) != 0 || sigaddset(&set, signal) != 0) {
        errno = EINVAL;
        return SIG_ERR;
    }
    if (libc_change_action(signal, holds ? NULL : &action, &old) != 0 ||
        libc_change_mask(holds ? SIG_BLOCK : SIG_UNBLOCK, &set, &blocked) != 0) {
        return SIG_ERR;
    }
    return sigismember(&blocked, signal) == 1 ? SIG_HOLD : old.sa_handler;
}

static long own_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    return pp_real_result(pp_system_call(number, a, b, c, d, e, f));
}

/* ---- the caller's identity ---- */

extern int libc_set_users(uid_t, uid_t, uid_t) __asm__("__setresuid");
extern int libc_set_groups(gid_t, gid_t, gid_t) __asm__("__setresgid");

static const uid_t as_it_is = (uid_t)-1;

static int own_seteuid(uid_t euid)
{
    if (euid == as_it_is) {
        errno = EINVAL;
        return -1;
    }
    return libc_set_users(as_it_is, euid, as_it_is);
}

static int own_setegid(gid_t egid)
{
    if (egid == as_it_is) {
        errno = EINVAL;
        return -1;
    }
    return libc_set_groups(as_it_is, egid, as_it_is);
}

static int own_capset(void *header, const void *data)
{
    return (int)pp_real_result(pp_system_call(SYS_capset, header, data));
}

static int own_unshare(int flags)
{
    return (int)pp_real_result(pp_system_call(SYS_unshare, flags));
}

static int own_setns(int fd, int type)
{
    return (int)pp_real_result(pp_system_call(SYS_setns, fd, type));
}

/* ---- the table ---- */

PP_NEEDS_KINDS;

typedef struct real {
    const char *name;
    void (*function)(void);
} real;

#define ALIAS_ROW(hooked, alias) {#hooked, libc_##hooked},

static const real reals[] = {
    ALIASES(ALIAS_ROW){"execv", (void (*)(void))own_execv},
    {"execvp", (void (*)(void))own_execvp},
    {"execveat", (void (*)(void))own_execveat},
    {"fexecve", (void (*)(void))own_fexecve},
    {"syscall", (void (*)(void))own_syscall},
    {"seteuid", (void (*)(void))own_seteuid},
    {"setegid", (void (*)(void))own_setegid},
    {"capset", (void (*)(void))own_capset},
    {"unshare", (void (*)(void))own_unshare},
    {"setns", (void (*)(void))own_setns},
    {"bsd_signal", libc_signal},
    {"__sysv_signal", (void (*)(void))own_sysv_signal},
    {"sigset", (void (*)(void))own_sigset},
};

void *pp_real_find(const char *name)
{
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        if (strcmp(reals[i].name, name) == 0) {
            return (void *)(uintptr_t)reals[i].function;
        }
    }
    return NULL;
}

/* A static program has one version of each function. */
void *pp_real_find_version(const char *name, const char *version)
{
    (void)name;
    (void)version;
    return NULL;
}
