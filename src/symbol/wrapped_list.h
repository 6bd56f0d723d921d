/* SPDX-License-Identifier: MIT
 *
 * wrapped_list.h: lists the hooks, other than those of the allocator, of a fully static program for musl, one line each:
 *
 *   X(NAME)
 *
 * The archive has them as __wrap_NAME, and the linker's --wrap redirects calls of NAME there (host/real_musl_static.c).
 * src/CMakeLists.txt reads the lines; symbol/names.c shows such a function under the name that the program calls.
 *
 * Zone: NORMAL (no code).
 */
#ifndef PP_SYMBOL_WRAPPED_LIST_H
#define PP_SYMBOL_WRAPPED_LIST_H

/* Sorted. */
/* clang-format off */
#define PP_WRAPPED_LIST(X) \
    X(__sysv_signal) \
    X(bsd_signal) \
    X(capset) \
    X(cnd_timedwait) \
    X(cnd_wait) \
    X(dlclose) \
    X(execv) \
    X(execve) \
    X(execvp) \
    X(execvpe) \
    X(fexecve) \
    X(mtx_lock) \
    X(mtx_timedlock) \
    X(mtx_unlock) \
    X(posix_spawn) \
    X(posix_spawnp) \
    X(prctl) \
    X(pthread_barrier_wait) \
    X(pthread_cancel) \
    X(pthread_cond_timedwait) \
    X(pthread_cond_wait) \
    X(pthread_create) \
    X(pthread_join) \
    X(pthread_mutex_lock) \
    X(pthread_mutex_timedlock) \
    X(pthread_mutex_unlock) \
    X(pthread_rwlock_rdlock) \
    X(pthread_rwlock_timedrdlock) \
    X(pthread_rwlock_timedwrlock) \
    X(pthread_rwlock_unlock) \
    X(pthread_rwlock_wrlock) \
    X(pthread_spin_lock) \
    X(pthread_spin_unlock) \
    X(pthread_timedjoin_np) \
    X(sem_timedwait) \
    X(sem_wait) \
    X(setegid) \
    X(seteuid) \
    X(setgid) \
    X(setns) \
    X(setregid) \
    X(setresgid) \
    X(setresuid) \
    X(setreuid) \
    X(setuid) \
    X(sigaction) \
    X(sigaltstack) \
    X(signal) \
    X(sigset) \
    X(syscall) \
    X(thrd_create) \
    X(thrd_join) \
    X(unshare)
/* clang-format on */

#endif
