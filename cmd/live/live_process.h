/* SPDX-License-Identifier: MIT
 *
 * live_process.h: whether a process lives, and what its threads use.
 */
#ifndef CP_LIVE_PROCESS_H
#define CP_LIVE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a thread has used. */
typedef struct cp_thread_use {
    int tid;
    uint64_t ticks; /* of CPU time */
    char name[32];
} cp_thread_use;

typedef struct cp_process_use {
    int64_t at_ns;  /* monotonic */
    int64_t cpu_ns; /* of all threads, also of those that have ended; -1: the kernel does not say */
    cp_thread_use *threads; /* by number */
    size_t thread_count;
} cp_process_use;

/* The difference between two looks at a process. */
typedef struct cp_process_load {
    double cpu;           /* the processors that it kept busy; < 0: unknown */
    size_t threads, busy; /* busy: for a twentieth of the time */
    double most;          /* the load of the busiest thread */
    char busiest[32];     /* its name; "" if none is busy */
} cp_process_load;

/* A descriptor that becomes readable when the process ends; -1 if the kernel has none. */
int cp_process_watch(int pid);

void cp_process_use_read(int pid, cp_process_use *use);
void cp_process_use_release(cp_process_use *use);

cp_process_load cp_process_load_between(const cp_process_use *before, const cp_process_use *after);

#endif
