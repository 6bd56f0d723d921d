/* SPDX-License-Identifier: MIT
 *
 * call_names.h: names of the system calls in which a thread may wait.
 *
 * Zone: SIGNAL (data only).
 */
#ifndef PP_ARCH_CALL_NAMES_H
#define PP_ARCH_CALL_NAMES_H

#include <stddef.h>
#include <sys/syscall.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449 /* Linux 5.16 */
#endif

static const struct pp_call_name {
    long number;
    const char *name;
} pp_call_names[] = {
#ifdef SYS_open /* what later architectures have only in newer forms */
    {SYS_open, "open"},
    {SYS_poll, "poll"},
    {SYS_select, "select"},
    {SYS_pause, "pause"},
    {SYS_epoll_wait, "epoll_wait"},
    {SYS_stat, "stat"},
    {SYS_lstat, "lstat"},
    {SYS_access, "access"},
    {SYS_readlink, "readlink"},
    {SYS_unlink, "unlink"},
    {SYS_mkdir, "mkdir"},
    {SYS_rmdir, "rmdir"},
    {SYS_rename, "rename"},
    {SYS_link, "link"},
    {SYS_symlink, "symlink"},
    {SYS_vfork, "vfork"},
#endif
    {SYS_read, "read"},
    {SYS_write, "write"},
    {SYS_close, "close"},
    {SYS_ioctl, "ioctl"},
    {SYS_pread64, "pread64"},
    {SYS_pwrite64, "pwrite64"},
    {SYS_readv, "readv"},
    {SYS_writev, "writev"},
    {SYS_msync, "msync"},
    {SYS_nanosleep, "nanosleep"},
    {SYS_sendfile, "sendfile"},
    {SYS_connect, "connect"},
    {SYS_accept, "accept"},
    {SYS_sendto, "sendto"},
    {SYS_recvfrom, "recvfrom"},
    {SYS_sendmsg, "sendmsg"},
    {SYS_recvmsg, "recvmsg"},
    {SYS_wait4, "wait4"},
    {SYS_semop, "semop"},
    {SYS_msgsnd, "msgsnd"},
    {SYS_msgrcv, "msgrcv"},
    {SYS_fcntl, "fcntl"},
    {SYS_flock, "flock"},
    {SYS_fsync, "fsync"},
    {SYS_fdatasync, "fdatasync"},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait"},
    {SYS_rt_sigsuspend, "rt_sigsuspend"},
    {SYS_sync, "sync"},
    {SYS_futex, "futex"},
    {SYS_io_getevents, "io_getevents"},
    {SYS_restart_syscall, "restart_syscall"},
    {SYS_semtimedop, "semtimedop"},
    {SYS_clock_nanosleep, "clock_nanosleep"},
    {SYS_mq_timedsend, "mq_timedsend"},
    {SYS_mq_timedreceive, "mq_timedreceive"},
    {SYS_waitid, "waitid"},
    {SYS_openat, "openat"},
    {SYS_pselect6, "pselect6"},
    {SYS_ppoll, "ppoll"},
    {SYS_splice, "splice"},
    {SYS_epoll_pwait, "epoll_pwait"},
    {SYS_accept4, "accept4"},
    {SYS_preadv, "preadv"},
    {SYS_pwritev, "pwritev"},
    {SYS_recvmmsg, "recvmmsg"},
    {SYS_sendmmsg, "sendmmsg"},
    {SYS_io_uring_enter, "io_uring_enter"},
    {SYS_epoll_pwait2, "epoll_pwait2"},
    {SYS_futex_waitv, "futex_waitv"},
    {SYS_preadv2, "preadv2"},
    {SYS_pwritev2, "pwritev2"},
    {SYS_syncfs, "syncfs"},
    {SYS_sync_file_range, "sync_file_range"},
    {SYS_tee, "tee"},
    {SYS_vmsplice, "vmsplice"},
    {SYS_copy_file_range, "copy_file_range"},
    {SYS_readahead, "readahead"},
    {SYS_fadvise64, "fadvise64"},
    {SYS_fallocate, "fallocate"},
    {SYS_ftruncate, "ftruncate"},
    {SYS_truncate, "truncate"},
    {SYS_getdents64, "getdents64"},
    {SYS_statx, "statx"},
    {SYS_newfstatat, "newfstatat"},
    {SYS_fstat, "fstat"},
    {SYS_faccessat, "faccessat"},
    {SYS_faccessat2, "faccessat2"},
    {SYS_readlinkat, "readlinkat"},
    {SYS_unlinkat, "unlinkat"},
    {SYS_mkdirat, "mkdirat"},
    {SYS_renameat, "renameat"},
    {SYS_renameat2, "renameat2"},
    {SYS_linkat, "linkat"},
    {SYS_symlinkat, "symlinkat"},
    {SYS_clone, "clone"},
    {SYS_clone3, "clone3"},
};

#endif
