/* SPDX-License-Identifier: MIT
 *
 * errors.c: see errors.h.
 *
 * Zone: tests.
 */
#include "torture/errors.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>

enum { ERRORS_MAX = 4 };

#define CALL(name, ...)                                                                            \
    {                                                                                              \
        SYS_##name, #name,                                                                         \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

static const struct known_call {
    long number;
    const char *name;
    int errors[ERRORS_MAX]; /* the last one is 0 */
} known[] = {
    CALL(getpid, 0),
    CALL(gettid, 0),
    CALL(getppid, 0),
    CALL(getuid, 0),
    CALL(geteuid, 0),
    CALL(getgid, 0),
    CALL(getegid, 0),
    CALL(exit, 0),
    CALL(exit_group, 0),
    CALL(execve, 0), /* the program's */
    CALL(rt_sigreturn, 0),
    CALL(restart_syscall, 0),
    CALL(rt_sigprocmask, 0),
    CALL(rt_sigpending, 0),
    CALL(sched_yield, 0),
    CALL(tgkill, 0),
    CALL(set_robust_list, 0),
    CALL(rseq, ENOSYS),
    CALL(openat, EMFILE, ENOENT, EACCES),
    CALL(read, EIO, EINTR),
    CALL(pread64, EIO, EINTR),
    CALL(write, ENOSPC, EINTR, EPIPE),
    CALL(close, EIO, EINTR),
    CALL(mmap, ENOMEM, EPERM),
    CALL(mremap, ENOMEM),
    CALL(munmap, ENOMEM),
    CALL(mprotect, ENOMEM, EACCES),
    CALL(madvise, ENOMEM, EINVAL),
    CALL(brk, ENOMEM),
    CALL(fstat, EOVERFLOW, EBADF),
    CALL(newfstatat, ENOENT, EACCES),
    CALL(faccessat, ENOENT),
    CALL(getdents64, ENOENT, EIO),
    CALL(getcwd, ENOENT, ERANGE),
    CALL(fchmod, EPERM),
    CALL(ftruncate, EINVAL, EPERM),
    CALL(flock, EINTR, ENOLCK),
    CALL(timer_create, EAGAIN, EPERM),
    CALL(timer_settime, EINVAL),
    CALL(timer_delete, EINVAL),
    CALL(setitimer, EINVAL),
    CALL(rt_sigaction, EPERM),
    CALL(rt_sigtimedwait, EAGAIN, EINTR),
    CALL(sigaltstack, ENOMEM, EPERM),
    CALL(clone, EAGAIN, EPERM),
    CALL(clone3, EAGAIN, ENOMEM),
    CALL(wait4, EINTR),
    CALL(nanosleep, EINTR),
    CALL(futex, EINTR, EAGAIN),
    CALL(socket, EMFILE, EACCES),
    CALL(socketpair, EMFILE),
    CALL(bind, EADDRINUSE, EACCES),
    CALL(listen, EADDRINUSE),
    CALL(accept4, EMFILE, ECONNABORTED),
    CALL(connect, ECONNREFUSED, EINTR),
    CALL(getsockname, ENOBUFS),
    CALL(getsockopt, ENOPROTOOPT),
    CALL(setsockopt, ENOMEM),
    CALL(recvfrom, ECONNRESET, EINTR),
    CALL(recvmsg, ECONNRESET, EINTR),
    CALL(sendto, EPIPE, EINTR),
    CALL(sendmsg, EPIPE, EAGAIN),
    CALL(shutdown, ENOTCONN),
    CALL(pipe2, EMFILE),
    CALL(fcntl, EMFILE, EBADF),
    CALL(ioctl, ENOTTY, EINVAL),
    CALL(perf_event_open, EMFILE, EACCES),
    CALL(process_vm_readv, EPERM, EFAULT),
    CALL(pidfd_open, EMFILE),
    CALL(pidfd_getfd, EPERM),
    CALL(close_range, EMFILE),
    CALL(memfd_create, EMFILE),
    CALL(prctl, EINVAL),
    CALL(prlimit64, EPERM),
    CALL(getrusage, EINVAL),
    CALL(getrandom, EINTR, ENOSYS),
    CALL(clock_gettime, EINVAL),
    CALL(sched_setattr, EPERM),
    CALL(capget, EPERM),
    CALL(readlinkat, EACCES, ENOENT),
    CALL(renameat, ENOSPC, EACCES),
    CALL(renameat2, ENOSPC, EACCES),
    CALL(unlinkat, EACCES, ENOENT),
    CALL(mkdirat, EACCES, ENOSPC),
    CALL(fchmodat, EPERM),
    CALL(ppoll, EINTR, ENOMEM),
#ifdef SYS_open /* what only older architectures have */
    CALL(arch_prctl, 0),
    CALL(open, EMFILE, ENOENT, EACCES),
    CALL(stat, ENOENT, EACCES),
    CALL(lstat, ENOENT, EACCES),
    CALL(access, ENOENT),
    CALL(readlink, EACCES, ENOENT),
    CALL(rename, ENOSPC, EACCES),
    CALL(unlink, EACCES, ENOENT),
    CALL(mkdir, EACCES, ENOSPC),
    CALL(chmod, EPERM),
    CALL(poll, EINTR, ENOMEM),
#endif
};

static const struct known_call *find(long number)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].number == number) {
            return &known[i];
        }
    }
    return NULL;
}

const int *errors_of(long number)
{
    static const int other[] = {EPERM, 0};
    const struct known_call *call = find(number);
    return call != NULL ? call->errors : other;
}

const char *errors_call_name(long number)
{
    static char text[32];
    const struct known_call *call = find(number);
    snprintf(text, sizeof text, "call %ld", number);
    return call != NULL ? call->name : text;
}

bool errors_after(long number)
{
    return number == SYS_close || number == SYS_timer_delete;
}
