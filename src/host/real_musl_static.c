/* SPDX-License-Identifier: MIT
 *
 * real_musl_static.c: the real functions of a fully static program, as the linker's --wrap names them.
 *
 * musl's functions have no other names. So the archive defines __wrap_NAME for each hook, and the options of
 * libpprof_static.wrap, made of symbol/wrapped_list.h, redirect all calls of NAME there: the program's, and
 * those of libc.a by that name. __real_NAME is libc's function. One that would call another hooked function
 * is made here of a function below that, so that a call is seen once.
 *
 * Zone: HOOK.
 * Tested by: e2e.static, e2e.musl
 */
#include "host/real.h"

#include "host/kind.h"

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#define FUNCTIONS(X)                                                                               \
    X(pthread_create)                                                                              \
    X(thrd_create)                                                                                 \
    X(dlclose)                                                                                     \
    X(signal)                                                                                      \
    X(bsd_signal)                                                                                  \
    X(__sysv_signal)                                                                               \
    X(sigset)                                                                                      \
    X(sigaltstack)                                                                                 \
    X(pthread_cancel)                                                                              \
    X(prctl)                                                                                       \
    X(setuid)                                                                                      \
    X(setgid)                                                                                      \
    X(seteuid)                                                                                     \
    X(setegid)                                                                                     \
    X(setreuid)                                                                                    \
    X(setregid)                                                                                    \
    X(setresuid)                                                                                   \
    X(setresgid)                                                                                   \
    X(capset)                                                                                      \
    X(unshare)                                                                                     \
    X(setns)                                                                                       \
    X(syscall)                                                                                     \
    X(execve)                                                                                      \
    X(execvp)                                                                                      \
    X(execvpe)                                                                                     \
    X(fexecve)                                                                                     \
    X(posix_spawn)                                                                                 \
    X(posix_spawnp)                                                                                \
    X(pthread_mutex_lock)                                                                          \
    X(pthread_mutex_timedlock)                                                                     \
    X(pthread_mutex_unlock)                                                                        \
    X(mtx_timedlock)                                                                               \
    X(mtx_unlock)                                                                                  \
    X(pthread_rwlock_rdlock)                                                                       \
    X(pthread_rwlock_timedrdlock)                                                                  \
    X(pthread_rwlock_wrlock)                                                                       \
    X(pthread_rwlock_timedwrlock)                                                                  \
    X(pthread_rwlock_unlock)                                                                       \
    X(pthread_spin_lock)                                                                           \
    X(pthread_spin_unlock)                                                                         \
    X(pthread_cond_timedwait)                                                                      \
    X(cnd_timedwait)                                                                               \
    X(sem_timedwait)                                                                               \
    X(pthread_barrier_wait)                                                                        \
    X(pthread_join)                                                                                \
    X(pthread_timedjoin_np)                                                                        \
    X(thrd_join)

/* No hook has these. */
#define TRIES(X)                                                                                   \
    X(pthread_mutex_trylock)                                                                       \
    X(mtx_trylock)                                                                                 \
    X(pthread_rwlock_tryrdlock)                                                                    \
    X(pthread_rwlock_trywrlock)                                                                    \
    X(pthread_spin_trylock)                                                                        \
    X(sem_trywait)                                                                                 \
    X(pthread_tryjoin_np)

#define DECLARE(name) extern void real_##name(void) __asm__("__real_" #name);
FUNCTIONS(DECLARE)
#define DECLARE_TRY(name) extern void real_##name(void) __asm__(#name);
TRIES(DECLARE_TRY)

extern void libc_change_action(void) __asm__("__sigaction");
extern int libc_execute(const char *, char *const[], char *const[]) __asm__("__real_execve");
extern int libc_wait(pthread_cond_t *, pthread_mutex_t *,
                     const struct timespec *) __asm__("__real_pthread_cond_timedwait");
extern int libc_wait_c11(cnd_t *, mtx_t *, const struct timespec *) __asm__("__real_cnd_timedwait");
extern int libc_lock_c11(mtx_t *, const struct timespec *) __asm__("__real_mtx_timedlock");
extern int libc_take(sem_t *, const struct timespec *) __asm__("__real_sem_timedwait");

/* ---- functions that call another hooked one; a time of NULL never comes ---- */

static int own_execv(const char *path, char *const argv[])
{
    return libc_execute(path, argv, environ);
}

static int own_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    return libc_wait(condition, mutex, NULL);
}

static int own_cnd_wait(cnd_t *condition, mtx_t *mutex)
{
    return libc_wait_c11(condition, mutex, NULL);
}

static int own_mtx_lock(mtx_t *mutex)
{
    return libc_lock_c11(mutex, NULL);
}

static int own_sem_wait(sem_t *semaphore)
{
    return libc_take(semaphore, NULL);
}

/* ---- the table ---- */

PP_NEEDS_KINDS;

typedef struct real {
    const char *name;
    void (*function)(void);
} real;

#define ROW(name) {#name, real_##name},

static const real reals[] = {
    FUNCTIONS(ROW) TRIES(ROW){"sigaction", libc_change_action},
    {"execv", (void (*)(void))own_execv},
    {"pthread_cond_wait", (void (*)(void))own_cond_wait},
    {"cnd_wait", (void (*)(void))own_cnd_wait},
    {"mtx_lock", (void (*)(void))own_mtx_lock},
    {"sem_wait", (void (*)(void))own_sem_wait},
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

/* musl's functions have one version each. */
void *pp_real_find_version(const char *name, const char *version)
{
    (void)name;
    (void)version;
    return NULL;
}
