/* SPDX-License-Identifier: MIT
 *
 * interruptions.c: see interruptions.h.
 *
 * Sources: signal(7), "Interruption of system calls and library functions"; the kernel's net/socket.c
 * (recvmmsg), fs/aio.c (io_getevents), fs/open.c (close).
 *
 * Tested by: e2e.cpprof_attach, e2e.cpprof_attach_transfers
 */
#include "remote/interruptions.h"

#include "arch/system_call.h"

#include <linux/futex.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* Calls that begin again as if nothing had been, whatever their arguments. */
static const long exact[] = {
    /* they wait for something outside */
    SYS_read,
    SYS_pread64,
    SYS_readv,
    SYS_ppoll,
    PP_CALL_SELECT,
    SYS_pselect6,
    SYS_wait4,
    SYS_waitid,
    PP_CALL_PAUSE,
    SYS_rt_sigsuspend,
    SYS_connect,
    SYS_msgrcv,
    SYS_msgsnd,
    SYS_semop,
    SYS_flock,
    SYS_fcntl,
    SYS_mq_timedreceive,
    SYS_mq_timedsend,
    /* they are not interrupted before their end */
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_madvise,
    SYS_brk,
    PP_CALL_FORK,
    PP_CALL_VFORK,
    SYS_clone,
    SYS_clone3,
    SYS_rt_sigreturn,
};

static bool is_exact(long call)
{
    size_t i = 0;
    while (i < sizeof exact / sizeof *exact && exact[i] != call) {
        i++;
    }
    return i < sizeof exact / sizeof *exact;
}

/* A receiver of several pieces has some of them when it is interrupted. */
static pp_interruption of_receiver(bool wants_all)
{
    /* with SO_RCVTIMEO the time begins anew; few sockets have it */
    return wants_all ? PP_INTERRUPTION_CUT : PP_INTERRUPTION_BY_KERNEL;
}

static pp_interruption of_messages(const uintptr_t *argument)
{
    bool wants_all = argument[2] > 1 && (argument[3] & MSG_WAITFORONE) == 0;
    return of_receiver(wants_all || (argument[3] & MSG_WAITALL) != 0 || argument[4] != 0);
}

static pp_interruption of_futex(const uintptr_t *argument)
{
    bool has_relative_time =
        (argument[1] & (uintptr_t)FUTEX_CMD_MASK) == FUTEX_WAIT && argument[3] != 0;
    return has_relative_time ? PP_INTERRUPTION_BY_KERNEL : PP_INTERRUPTION_EXACT;
}

static pp_interruption of_time(bool has_time, pp_interruption interruption)
{
    return has_time ? interruption : PP_INTERRUPTION_EXACT;
}

pp_interruption pp_interruption_of(long call, const uintptr_t argument[PP_TASK_ARGUMENTS])
{
    enum { ABSOLUTE = 1 /* TIMER_ABSTIME */ };
    switch (call) {
    case SYS_futex:
        return of_futex(argument);
    case SYS_restart_syscall:
    case SYS_nanosleep:
    case SYS_accept:
    case SYS_accept4:
        return PP_INTERRUPTION_BY_KERNEL;
    case SYS_recvfrom:
        return of_receiver((argument[3] & MSG_WAITALL) != 0);
    case SYS_recvmsg:
        return of_receiver((argument[2] & MSG_WAITALL) != 0);
    case SYS_recvmmsg:
        return of_messages(argument);
    case SYS_clock_nanosleep:
        return of_time((argument[1] & ABSOLUTE) == 0, PP_INTERRUPTION_BY_KERNEL);
    case PP_CALL_POLL:
        return of_time((int)argument[2] >= 0, PP_INTERRUPTION_BY_KERNEL);
    case PP_CALL_EPOLL_WAIT:
    case SYS_epoll_pwait:
        return of_time((int)argument[3] >= 0, PP_INTERRUPTION_INEXACT);
    case SYS_rt_sigtimedwait:
    case SYS_semtimedop:
        return PP_INTERRUPTION_INEXACT;
    case SYS_io_getevents:
        return argument[1] > 1 ? PP_INTERRUPTION_CUT : PP_INTERRUPTION_INEXACT;
    default:
        return is_exact(call) ? PP_INTERRUPTION_EXACT : PP_INTERRUPTION_CUT;
    }
}
