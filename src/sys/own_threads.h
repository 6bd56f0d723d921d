/* SPDX-License-Identifier: MIT
 *
 * own_threads.h: the ids of libpprof's own threads, which no profile shows.
 *
 * Some of them act for another thread for a moment (sys/apart.h). They are not counted, and
 * pp_tasks_each() (sys/tasks.h) leaves them out.
 *
 * Zone: SIGNAL.
 * Owns: the lists: of eight, further threads are profiled like the program's; of 32 that act for
 *       others. The marks of each thread (16 bytes of TLS).
 */
#ifndef PP_SYS_OWN_THREADS_H
#define PP_SYS_OWN_THREADS_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stdint.h>

/* What the calling thread does for the library. A host has little room for thread-local storage
 * (tools/check-zones). Each mark belongs to one file. */
typedef struct pp_marks {
    uint8_t place; /* sys/apart.c */
    /* The loader looks up a hook's real function, and may call the hook: waits_real.c, fd_hooks.c,
     * malloc_real.c. */
    bool finds_wait, finds_descriptor, finds_malloc;
    int acts_for;          /* own_threads.c: a thread's id, or 0 */
    uintptr_t own_work_sp; /* own_work.h */
} pp_marks;

extern PP_TLS pp_marks pp_thread_marks;

/* Replaces an id by another one; 0: by nothing, or nothing by it. */
void pp_own_threads_replace(int from, int to);

/* Whether `tid` is in the list, and how many are. */
bool pp_own_threads_have(int tid);
unsigned pp_own_threads_count(void);

/* A thread is about to be created that acts for thread `self`, which calls this. Returns where the
 * kernel stores its id (CLONE_PARENT_SETTID), or NULL: there is no room. */
int *pp_own_threads_lend(int self);

/* That thread is gone, or was not created. NULL is ignored. */
void pp_own_threads_take_back(int *place);

/* The calling thread, one of the library's own, acts for itself: pp_task_self() does not ask the kernel until it is told 0.
 * Meanwhile no code of the program may run on it, which could fork. */
void pp_own_threads_act_for(int self);

/* For whom the calling thread acts: a thread's id, or 0. */
int pp_own_threads_acts_for(void);

/* Whether `tid` acts for another thread. Waits while such a thread is being created, for a moment. */
bool pp_own_threads_acts(int tid);

/* How many such threads the kernel may list now. */
unsigned pp_own_threads_lent(void);

/* The number of all threads of the process, from the link count of /proc/self/task; 0 if /proc cannot
 * be read. */
unsigned pp_tasks_count_all(void);

/* In the child of fork, which has none of them. */
void pp_own_threads_after_fork_in_child(void);

#endif
