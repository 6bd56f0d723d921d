/* SPDX-License-Identifier: MIT
 *
 * running.h: one sample of a running thread of another process, by a perf event.
 *
 * The kernel's software clock takes it: registers, and a copy of the leaf-most part of the stack
 * from the same moment. The thread goes on. perf_event_open(2), PERF_SAMPLE_REGS_USER and
 * PERF_SAMPLE_STACK_USER.
 */
#ifndef PP_REMOTE_RUNNING_H
#define PP_REMOTE_RUNNING_H

#include "arch/registers.h"

#include <stddef.h>
#include <stdint.h>

enum { PP_RUNNING_STACK_BYTES = 32 * 1024 };

typedef struct pp_running_sample {
    pp_registers registers;
    size_t stack_bytes;
    uint8_t stack[PP_RUNNING_STACK_BYTES];
} pp_running_sample;

typedef struct pp_running {
    int fd;
    void *ring;
    pp_running_sample *sample;
} pp_running;

/* Begins to sample the thread. 0, or -errno (-EACCES, -EPERM: the kernel grants no perf event). */
int pp_running_open(pp_running *running, int tid);

/* Waits for a sample, at most `ms` milliseconds. NULL: there was none, the thread does not run. The
 * sample is there until the next call. */
const pp_running_sample *pp_running_wait(pp_running *running, int ms);

void pp_running_close(pp_running *running);

#endif
