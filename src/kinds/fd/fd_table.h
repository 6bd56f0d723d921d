/* SPDX-License-Identifier: MIT
 *
 * fd_table.h: maps each descriptor to the stack that opened it and the labels of that thread.
 *
 * Descriptors are small numbers, so the table is an array, in pieces that are mapped when they are
 * needed. Single stores change its slots, so no thread waits for another one here: not a signal
 * handler for the thread that it has interrupted, and not the child of fork for a thread of its
 * parent.
 *
 *   pieces[fd / 1024] -> [ stack, labels ][ ... ]
 *
 * Zone: SIGNAL.
 * Owns: the pieces, for ever; references to labels.
 */
#ifndef PP_KINDS_FD_FD_TABLE_H
#define PP_KINDS_FD_FD_TABLE_H

#include "store/labels.h"
#include "store/stack_trie.h"

#include <stdbool.h>

enum { PP_FD_MAX = 1 << 24 /* numbers that have a slot; the kernel's default limit is 2^20 */ };

/* Stores stack and labels of `fd`. The table gets the caller's reference to `labels` (NULL = none),
 * also if there is no memory. */
void pp_fd_table_set(int fd, const pp_trie_stack *stack, pprof_labels *labels);

/* Stores the stack of `fd`, without labels, unless the table has one already. */
void pp_fd_table_set_unknown(int fd, const pp_trie_stack *stack);

/* Removes what the table has of the descriptors from `first` to `last`. */
void pp_fd_table_clear(unsigned first, unsigned last);

/* Returns the stack of `fd`, and in *labels a reference to its labels. NULL: the table has none. */
const pp_trie_stack *pp_fd_table_get(int fd, pprof_labels **labels);

#endif
