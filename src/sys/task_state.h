/* SPDX-License-Identifier: MIT
 *
 * task_state.h: what a thread of this process is doing, as /proc tells it.
 *
 *   /proc/self/task/T/syscall   "running", or the call that it waits in, its arguments, SP and PC
 *   /proc/self/task/T/stat      a letter, where that file is closed to us (after a setuid(), or where
 *                               the process is not dumpable)
 *   /proc/self/task/T/status    the signals that it blocks, and those that wait for it
 *   /proc/self/task/T/comm      its name
 *
 * Zone: SIGNAL (system calls alone).
 */
#ifndef PP_SYS_TASK_STATE_H
#define PP_SYS_TASK_STATE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PP_TASK_NAME_BYTES = 16,     /* TASK_COMM_LEN */
    PP_TASK_STATUS_BYTES = 2048, /* of `status`: what is looked for stands in the first 1 200 */
    PP_TASK_ANY_FOLDER = -1
};

typedef enum pp_task_activity {
    PP_TASK_GONE,
    PP_TASK_RUNS,   /* or wants to */
    PP_TASK_WAITS,  /* in the kernel, at a place that is known */
    PP_TASK_UNKNOWN /* that file is closed to us */
} pp_task_activity;

/* Where a thread waits. */
typedef struct pp_task_place {
    long call; /* number of the system call; -1: in none (a page fault) */
    uintptr_t sp, pc;
} pp_task_place;

/* A descriptor of /proc/self/task for the functions below, or -errno. To be closed by
 * pp_task_close(). */
int pp_task_open(void);
void pp_task_close(int folder);

/* *place is filled in for PP_TASK_WAITS alone. */
pp_task_activity pp_task_look(int folder, int tid, pp_task_place *place);

/* The letter of /proc/self/task/T/stat: R runs, S sleeps, D sleeps deeply, T stopped, Z dead; 0 if
 * the thread is gone. */
char pp_task_letter(int folder, int tid);

/* Whether it blocks `signal`. False if it is gone. PP_TASK_ANY_FOLDER: the folder is looked up for
 * this call. `text` is room to work in. */
bool pp_task_blocks(int folder, int tid, int signal, char text[PP_TASK_STATUS_BYTES]);

/* Whether `signal` was sent to it and has not reached it yet. False if it is gone. */
bool pp_task_has_pending(int tid, int signal, char text[PP_TASK_STATUS_BYTES]);

/* Its name, "" if it is gone. */
void pp_task_name(int folder, int tid, char name[PP_TASK_NAME_BYTES]);

/* The name of a system call, or NULL. */
const char *pp_task_call_name(long call);

#endif
