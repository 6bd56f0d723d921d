/* SPDX-License-Identifier: MIT
 *
 * thread_launches.h: what a thread that is being created will need, from its creator's call until it has
 * its record (thread_table.h). A thread exists before it has that: from the kernel's clone to the
 * thread's own first steps.
 *
 * Zone: NORMAL; the fatal-signal writer asks for births.
 * Locks: one for the free list; taken while no other lock is held.
 * Owns: the launches, which are never unmapped.
 */
#ifndef PP_THREADS_THREAD_LAUNCHES_H
#define PP_THREADS_THREAD_LAUNCHES_H

#include "threads/thread_creation.h"

#include "pprof.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_thread_launch {
    union {
        void *(*posix)(void *);
        int (*c11)(void *);
        uintptr_t address;
    } start;
    void *argument;
    size_t stack_size;
    pprof_labels *labels; /* the creator's, for the new thread; the record holds a reference */
    pp_thread_creation creation;
    uint64_t birth; /* its number, until the thread has its record; 0 = none */
    struct pp_thread_launch *next;
} pp_thread_launch;

/* Begins a birth. NULL: there is no memory. */
pp_thread_launch *pp_thread_launch_take(void);

/* Ends the birth: the thread has its record, or could not be created. */
void pp_thread_launch_give_back(pp_thread_launch *launch);

/* The number of births until now; and whether each of the first `births` of them is over. Any thread,
 * without waiting. */
uint64_t pp_thread_births(void);
bool pp_thread_births_are_over(uint64_t births);

/* In the child of fork, where what other threads were creating is never born. */
void pp_thread_launches_after_fork(void);

#endif
