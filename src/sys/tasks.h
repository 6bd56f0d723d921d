/* SPDX-License-Identifier: MIT
 *
 * tasks.h: the threads of this process, as the kernel lists them, and their CPU clocks.
 *
 * Zone: SIGNAL (system calls only). May change errno.
 */
#ifndef PP_SYS_TASKS_H
#define PP_SYS_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* The calling thread's id, or that of the thread for which it acts (sys/apart.h). */
int pp_task_self(void);

/* The process's id. Libraries replace libc's getpid() (libfaketime), and a raw clone
 * deceives it. */
int pp_task_process(void);

/* Whether the calling thread has thread-local variables, errno among them. A program may load a
 * value of its own into the register that leads to them, and a signal may find it so. */
bool pp_task_has_variables(void);

/* The number of threads, from the link count of /proc/self/task, without those that act for others;
 * 0 if /proc cannot be read. May be one too low while one of these ends; pp_tasks_count_all()
 * (sys/own_threads.h) is not. */
unsigned pp_tasks_count(void);

/* Calls `visit` with the id of each thread that acts for no other. `buffer` of `size` bytes holds
 * directory entries meanwhile. Returns the number of calls, or -errno if /proc/self/task cannot be
 * read. While threads end, the kernel also leaves out others that live: then that number is less than
 * pp_tasks_count(). */
typedef void pp_task_visit(int tid, void *context);
int pp_tasks_each(void *buffer, size_t size, pp_task_visit *visit, void *context);

/* The clock of the CPU time of thread `tid`: clock_getcpuclockid(3) builds this value for
 * processes; here it has the kernel's per-thread bit (CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED). */
static inline clockid_t pp_task_cpu_clock(int tid)
{
    return (clockid_t)((~(unsigned)tid << 3) | 6);
}

/* The CPU time of thread `tid` so far in nanoseconds, or -1 if the thread is gone. */
int64_t pp_task_cpu_ns(int tid);

/* Makes a timer on the clock that sends the signal to thread `tid`, with the value. 0 and *timer, or
 * -errno and -1. */
int pp_task_timer_create(int tid, clockid_t clock, int signal, void *value, int *timer);

#endif
