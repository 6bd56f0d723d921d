/* SPDX-License-Identifier: MIT
 *
 * x86_64_system_call.h: the system call instruction of x86-64 Linux (System V ABI, AMD64, A.2.1),
 * the vDSO's name of a function that needs no system call [vdso(7)], and the thread pointer.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_X86_64_SYSTEM_CALL_H
#define PP_ARCH_X86_64_SYSTEM_CALL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#define PP_VDSO_CLOCK_GETTIME "__vdso_clock_gettime"

static inline long pp_system_call6(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

enum { PP_LIBC_SYSCALL_HAS_RETURN_ADDRESS = 1 };
#define PP_STORE_RETURN_ADDRESS()

/* Calls that newer architectures have not got. */
enum {
    PP_CALL_POLL = SYS_poll,
    PP_CALL_SELECT = SYS_select,
    PP_CALL_EPOLL_WAIT = SYS_epoll_wait,
    PP_CALL_PAUSE = SYS_pause,
    PP_CALL_FORK = SYS_fork,
    PP_CALL_VFORK = SYS_vfork,
    PP_CALL_OPEN = SYS_open,
    PP_CALL_CREAT = SYS_creat,
    PP_CALL_PIPE = SYS_pipe,
    PP_CALL_DUP2 = SYS_dup2,
    PP_CALL_EPOLL_CREATE = SYS_epoll_create,
    PP_CALL_INOTIFY_INIT = SYS_inotify_init,
    PP_CALL_NONE = -1
};

/* Makes the call of a number that this kernel has not got by one that it has. */
static inline long pp_call_missing(int number, const uintptr_t argument[6])
{
    (void)number;
    (void)argument;
    return -ENOSYS;
}

/* poll(2) of one descriptor. */
static inline long pp_call_poll(void *wanted, int timeout_ms)
{
    return pp_system_call6(SYS_poll, (long)wanted, 1, timeout_ms, 0, 0, 0);
}

static inline long pp_call_readlink(const char *path, char *to, size_t size)
{
    return pp_system_call6(SYS_readlink, (long)path, (long)to, (long)size, 0, 0, 0);
}

static inline long pp_call_rename(const char *from, const char *to)
{
    return pp_system_call6(SYS_rename, (long)from, (long)to, 0, 0, 0, 0);
}

static inline long pp_call_unlink(const char *path)
{
    return pp_system_call6(SYS_unlink, (long)path, 0, 0, 0, 0, 0);
}

/* Returns the calling thread's FS base: the address of its thread control block, which begins with
 * this address (System V ABI). 0 if the kernel does not say. */
static inline uintptr_t pp_thread_pointer_from_kernel(void)
{
    enum { ARCH_PRCTL = 158, GET_FS = 0x1003 /* ARCH_GET_FS of <asm/prctl.h> */ };
    uintptr_t base = 0;
    return pp_system_call6(ARCH_PRCTL, GET_FS, (long)&base, 0, 0, 0, 0) == 0 ? base : 0;
}

static inline bool pp_is_control_block(uintptr_t pointer, uintptr_t word)
{
    return word == pointer;
}

/* The kernel's pages. */
enum { PP_PAGE_BYTES_MAX = 4096 };

static inline size_t pp_page_bytes(void)
{
    return PP_PAGE_BYTES_MAX;
}

static inline void pp_spin_hint(void) /* Intel SDM, volume 2, PAUSE */
{
    __builtin_ia32_pause();
}

#endif
