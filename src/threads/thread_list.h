/* SPDX-License-Identifier: MIT
 *
 * thread_list.h: the threads that a snapshot is of.
 *
 * The kernel takes ten times as long to list a thousand threads as to read their clocks. So a list of
 * threads that have begun serves if it is what the kernel would list: the kernel counts as many
 * threads, and after that each thread of the list is alive. Then all of them were alive when it
 * counted, and there was no other. Such a list is that of the last snapshot, or the threads whose
 * creation the library has seen.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing; the list is in the snapshot's arena.
 */
#ifndef PP_THREADS_THREAD_LIST_H
#define PP_THREADS_THREAD_LIST_H

#include "base/arena.h"
#include "threads/kept_threads.h"

#include <stdbool.h>
#include <stddef.h>

/* The clock of a thread that was listed without reading it. */
enum { PP_CLOCK_NOT_READ = -2 };

typedef struct pp_thread_list {
    pp_sight *sights; /* the calling thread's first; serials are not set */
    size_t count, capacity;
} pp_thread_list;

/* Begins a list with `self` on it. 0 or -ENOMEM. */
int pp_thread_list_begin(pp_thread_list *list, size_t capacity, int self, pp_arena *arena);

/* A thread for which there is no room is left out. */
void pp_thread_list_add(pp_thread_list *list, int tid);

/* Adds `tid` with its clock; false: it is gone. */
bool pp_thread_list_add_living(pp_thread_list *list, int tid);

/* Makes the list that is kept, if it is the kernel's. */
bool pp_thread_list_read_kept(pp_thread_list *list, int self, pp_kept_threads *kept,
                              pp_arena *arena);

/* Lists the threads that the kernel lists. 0, -ENOMEM, or the reason why it lists none. */
int pp_thread_list_read(pp_thread_list *list, int self, pp_arena *arena);

/* Keeps a list that is the kernel's. */
void pp_thread_list_keep(const pp_thread_list *list, pp_kept_threads *kept, pp_arena *arena);

#endif
