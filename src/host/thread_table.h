/* SPDX-License-Identifier: MIT
 *
 * thread_table.h: what is known of each thread since it was created.
 *
 * The kernel lists threads; who made one, and what for, is known only to whoever was there. A
 * thread has its record from its begin to its end. Records lie in chunks that stay, a bit for each:
 *
 *   taken  [1101 0000 ...]        chunks -> [record|record|......] 1024 each; the first lies in .bss, others
 *                                           are mapped when needed
 *
 * A record's serial is odd while it belongs to a thread, and that of a later one is higher: readers
 * copy, and look at it again.
 *
 * Zone: HOOK (bare mmap and munmap).
 * Locks: none. remove() waits for readers that look into the thread's own memory.
 * Owns: the records, for ever.
 */
#ifndef PP_HOST_THREAD_TABLE_H
#define PP_HOST_THREAD_TABLE_H

#include "store/stack_counts.h"

#include "pprof.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_thread_record {
    uint64_t serial;
    uint32_t readers; /* inside pp_thread_table_look() */
    int tid;
    int creator;                    /* its tid; 0 = not known */
    bool ours;                      /* no thread of the program */
    uintptr_t entry;                /* start routine; 0 = not known */
    const pp_stack_entry *creation; /* where it was created; NULL = not known */
    const void *place;              /* of something in the thread's own memory */
} pp_thread_record;

/* Keeps a copy of `content` for a thread; NULL if there is no room. */
pp_thread_record *pp_thread_table_add(const pp_thread_record *content);

/* The thread is about to end. Afterwards nobody looks at its `place` any more. NULL is ignored. */
void pp_thread_table_remove(pp_thread_record *record);

/* From now on it is no thread of the program. */
void pp_thread_table_disown(pp_thread_record *record);

/* Copies up to `capacity` records that are there now; returns how many. `from[i]`, if not NULL, is
 * what copies[i] was copied from. */
size_t pp_thread_table_read(pp_thread_record *copies, pp_thread_record **from, size_t capacity);

/* How many there may be, and how many of them are no threads of the program. */
size_t pp_thread_table_count(void);
size_t pp_thread_table_count_ours(void);

/*
 * Calls `look` with the place of the record that `copy` is of, if the thread has it still; the
 * thread does not end meanwhile. Not to be interrupted by signals.
 */
typedef void pp_thread_look(const void *place, void *context);
bool pp_thread_table_look(pp_thread_record *record, const pp_thread_record *copy,
                          pp_thread_look *look, void *context);

/* In the child of fork: all but the calling thread's record, `mine`, are free. */
void pp_thread_table_after_fork_in_child(pp_thread_record *mine, int tid);

#endif
