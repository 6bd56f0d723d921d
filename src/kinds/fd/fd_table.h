/* SPDX-License-Identifier: MIT
 *
 * fd_table.h: for each descriptor, the stack that opened it and the labels of that thread.
 *
 * Descriptors are small numbers, so that this is an array, in pieces that are made when they are
 * needed. Its slots are changed by single stores: whoever is interrupted by a handler that opens
 * files, or is forked from another thread, leaves nothing behind that waits.
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

enum { PP_FD_MAX = 1 << 24 /* numbers that are known; the kernel's own limit is 2^20 */ };

/* Takes over the reference to `labels` (NULL = none), whether there is memory or not. */
void pp_fd_table_set(int fd, const pp_trie_stack *stack, pprof_labels *labels);

/* The same without labels, if nothing is known of it. */
void pp_fd_table_set_unknown(int fd, const pp_trie_stack *stack);

/* From `first` to `last`; nothing is known of them any more. */
void pp_fd_table_clear(unsigned first, unsigned last);

/* Its stack, and a reference to its labels in *labels. NULL: nothing is known. */
const pp_trie_stack *pp_fd_table_get(int fd, pprof_labels **labels);

#endif
