/* SPDX-License-Identifier: MIT
 *
 * tracee.h: chooses the architecture's part of calls that another process makes for us.
 *
 * Zone: NORMAL (cpprof).
 */
#ifndef PP_ARCH_TRACEE_H
#define PP_ARCH_TRACEE_H

#include <stddef.h>
#include <stdint.h>

enum { PP_CALL_TEXT_MAX = 4096, PP_TRACEE_STATE_MAX = 16 * 1024, PP_SHADOW_WORDS = 2 };

/* A call that a stopped thread is to make: function(text, number). */
typedef struct pp_tracee_call {
    uintptr_t function;
    uintptr_t restorer; /* code of the target that makes the system call rt_sigreturn */
    const char *text;   /* less than PP_CALL_TEXT_MAX bytes */
    long number;
} pp_tracee_call;

/* What the call needs below the thread's stack pointer. */
typedef struct pp_tracee_frame {
    uintptr_t at; /* where the bytes belong; the stack pointer at the function's entry */
    size_t bytes;
    uint8_t data[PP_TRACEE_STATE_MAX + PP_CALL_TEXT_MAX + 2048];
    uintptr_t shadow_at; /* 0: the thread has no shadow stack */
    uint64_t shadow[PP_SHADOW_WORDS];
} pp_tracee_frame;

/* The system call in which a thread waited before its stop, as /proc/TID/syscall shows it. */
typedef struct pp_tracee_wait {
    long call; /* -1: the thread did not wait in one */
    uintptr_t first_argument;
    uintptr_t sp, pc; /* the PC is that after the call */
} pp_tracee_wait;

/* Of errno.h in the kernel: a system call that a signal interrupted begins again. */
enum {
    PP_ERESTARTSYS = 512,
    PP_ERESTARTNOINTR = 513,
    PP_ERESTARTNOHAND = 514,
    PP_ERESTART_RESTARTBLOCK = 516
};

#if defined(__x86_64__)
#include "arch/x86_64_tracee.h"
#elif defined(__aarch64__)
#include "arch/aarch64_tracee.h"
#else
#error "libpprof cannot attach on this architecture yet: add src/arch/<name>_tracee.h"
#endif

#endif
