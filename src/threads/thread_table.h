/* SPDX-License-Identifier: MIT
 *
 * thread_table.h: a record of each thread, with what the library has seen at its creation.
 *
 * The kernel lists threads, but does not say who created them, where, and with which start routine.
 * A thread has its record from its begin until some time after its end, since the kernel lists it until it
 * has removed it. Records lie in chunks that stay mapped. A bit says whether a record is in use:
 *
 *   taken  [1101 0000 ...]     chunks -> [record|record|......] 1024 each; the first lies in .bss,
 *                                        others are mapped when needed
 *
 * A record's serial is odd while it belongs to a thread, and higher for each later thread. Readers
 * copy the record, and check that the serial has not changed.
 *
 * Zone: HOOK (bare mmap and munmap).
 * Locks: none. The end of a record waits for readers of the thread's own memory.
 * Owns: the records, for ever.
 */
#ifndef PP_THREADS_THREAD_TABLE_H
#define PP_THREADS_THREAD_TABLE_H

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
    bool ours;                      /* libpprof's own thread */
    uintptr_t entry;                /* start routine; 0 = not known */
    const pp_stack_entry *creation; /* where it was created; NULL = not known */
    const void *place;              /* of the labels, in the thread's own memory */
    uintptr_t stack;                /* its lower end; 0 = not known */
} pp_thread_record;

/* Keeps a copy of `content` for a thread; NULL if there is no room. */
pp_thread_record *pp_thread_table_add(const pp_thread_record *content);

/* The thread is about to end. After this call no thread reads its `place`, but its record stays until
 * 256 more threads have ended: the kernel has removed the thread by then. NULL is ignored. */
void pp_thread_table_end(pp_thread_record *record);

/* As pp_thread_table_end(), of a thread that is gone. */
void pp_thread_table_remove(pp_thread_record *record);

/* From now on the thread counts as libpprof's own. */
void pp_thread_table_disown(pp_thread_record *record);

/* Copies up to `capacity` records of threads that exist now; returns how many. If `from` is not
 * NULL, from[i] is the record of copies[i]. */
size_t pp_thread_table_read(pp_thread_record *copies, pp_thread_record **from, size_t capacity);

/* How many records there may be, and how many of them are of libpprof's own threads. */
size_t pp_thread_table_count(void);
size_t pp_thread_table_count_ours(void);

/*
 * Calls `look` with the record's place, if the record still belongs to the thread of `copy`. The
 * thread does not end meanwhile. The caller blocks signals. False: the thread is gone.
 */
typedef void pp_thread_look(const void *place, void *context);
bool pp_thread_table_look(pp_thread_record *record, const pp_thread_record *copy,
                          pp_thread_look *look, void *context);

/* In the child of fork: frees all records except `mine`, the calling thread's, whose id becomes
 * `tid`. */
void pp_thread_table_after_fork_in_child(pp_thread_record *mine, int tid);

#endif
