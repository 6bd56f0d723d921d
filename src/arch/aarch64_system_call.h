/* SPDX-License-Identifier: MIT
 *
 * aarch64_system_call.h: the system call instruction of aarch64 Linux (syscall(2)), the vDSO's name of a
 * function that needs no system call [vdso(7)], and the thread pointer.
 *
 * The kernel has none of the older calls for which newer ones stand in.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_AARCH64_SYSTEM_CALL_H
#define PP_ARCH_AARCH64_SYSTEM_CALL_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>

#define PP_VDSO_CLOCK_GETTIME "__kernel_clock_gettime"

static inline long pp_system_call6(long number, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}

/* libc's syscall() waits with its return address in a register, which the kernel does not show of a thread
 * that waits. */
enum { PP_LIBC_SYSCALL_HAS_RETURN_ADDRESS = 0 };

/* The caller has its return address in its frame, here at the latest. */
#define PP_STORE_RETURN_ADDRESS() __asm__ volatile("" ::: "x30")

/* Numbers of calls that this kernel has not got; no call has them. */
enum {
    PP_CALL_POLL = -1001,
    PP_CALL_SELECT = -1002,
    PP_CALL_EPOLL_WAIT = -1003,
    PP_CALL_PAUSE = -1004,
    PP_CALL_FORK = -1005,
    PP_CALL_VFORK = -1006,
    PP_CALL_OPEN = -1007,
    PP_CALL_CREAT = -1008,
    PP_CALL_PIPE = -1009,
    PP_CALL_DUP2 = -1010,
    PP_CALL_EPOLL_CREATE = -1011,
    PP_CALL_INOTIFY_INIT = -1012,
    PP_CALL_NONE = -1
};

/* Makes the call of a number that this kernel has not got by one that it has. */
static inline long pp_call_missing(int number, const uintptr_t argument[6])
{
    const long a = (long)argument[0];
    const long b = (long)argument[1];
    const long c = (long)argument[2];
    switch (number) {
    case PP_CALL_OPEN:
        return pp_system_call6(SYS_openat, AT_FDCWD, a, b, c, 0, 0);
    case PP_CALL_CREAT:
        return pp_system_call6(SYS_openat, AT_FDCWD, a, O_CREAT | O_WRONLY | O_TRUNC, b, 0, 0);
    case PP_CALL_PIPE:
        return pp_system_call6(SYS_pipe2, a, 0, 0, 0, 0, 0);
    case PP_CALL_DUP2:
        return a == b ? pp_system_call6(SYS_fcntl, a, F_GETFD, 0, 0, 0, 0) < 0 ? -EBADF : b
                      : pp_system_call6(SYS_dup3, a, b, 0, 0, 0, 0);
    case PP_CALL_EPOLL_CREATE:
        return pp_system_call6(SYS_epoll_create1, 0, 0, 0, 0, 0, 0);
    case PP_CALL_INOTIFY_INIT:
        return pp_system_call6(SYS_inotify_init1, 0, 0, 0, 0, 0, 0);
    default:
        return -ENOSYS;
    }
}

/* poll(2) of one descriptor. */
static inline long pp_call_poll(void *wanted, int timeout_ms)
{
    const struct timespec timeout = {timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000};
    return pp_system_call6(SYS_ppoll, (long)wanted, 1, timeout_ms < 0 ? 0 : (long)&timeout, 0, 0,
                           0);
}

static inline long pp_call_readlink(const char *path, char *to, size_t size)
{
    return pp_system_call6(SYS_readlinkat, AT_FDCWD, (long)path, (long)to, (long)size, 0, 0);
}

static inline long pp_call_rename(const char *from, const char *to)
{
    return pp_system_call6(SYS_renameat, AT_FDCWD, (long)from, AT_FDCWD, (long)to, 0, 0);
}

static inline long pp_call_unlink(const char *path)
{
    return pp_system_call6(SYS_unlinkat, AT_FDCWD, (long)path, 0, 0, 0, 0);
}

/* Returns the address of the calling thread's control block: 0 if the thread has none. */
static inline uintptr_t pp_thread_pointer_from_kernel(void)
{
    return (uintptr_t)__builtin_thread_pointer();
}

/* Whether the word at PP_CONTROL_WORD (libc/tls.h) is one that libc stores there: the address of the thread's
 * table of modules with thread-local storage (Addenda to the ABI, thread-local storage). */
static inline bool pp_is_control_block(uintptr_t pointer, uintptr_t word)
{
    return pointer != 0 && word != 0;
}

/* The kernel's pages: of 4, 16 or 64 KiB. */
enum { PP_PAGE_BYTES_MAX = 64 * 1024 };

static inline size_t pp_page_bytes(void)
{
    size_t bytes = getauxval(AT_PAGESZ);
    return bytes != 0 ? bytes : PP_PAGE_BYTES_MAX;
}

static inline void pp_spin_hint(void)
{
    __asm__ volatile("yield");
}

#endif
