/* SPDX-License-Identifier: MIT
 *
 * fd_opened.h: records which stack opened which descriptor. Every opening is recorded, not a
 * sample of them.
 *
 *   open() ... --> hook --> pp_fd_opened --> walk --> the stack's place in the trie --> table
 *   close() ... --> hook --> pp_fd_closed --------------------------------------------> table
 *
 * Calls without a hook (libc's own, bare system calls) are not recorded here. The profile finds
 * such descriptors when it asks the kernel what is open (kinds/fd/fd_rows.h).
 *
 * Zone: HOOK. Memory is libpprof's own, errno is preserved, signal handlers may call everything.
 * Owns: nothing; see kinds/fd/fd_table.h.
 */
#ifndef PP_KINDS_FD_FD_OPENED_H
#define PP_KINDS_FD_FD_OPENED_H

#include "store/stack_trie.h"
#include "unwind/caller.h"

#include <stdint.h>

/* Records that the caller's stack, with the calling thread's labels, has opened `fd`. */
void pp_fd_opened(int fd, const pp_caller *caller);

/* Records that the descriptors from `first` to `last` are closed. The caller closes them after this
 * call, since after a close another thread may get the number. */
void pp_fd_closed(unsigned first, unsigned last);

/* Records that `fd` was open before the recording began, unless there is a record of it. */
void pp_fd_was_open(int fd);

/* Returns the stack of a descriptor that no hook saw being opened; NULL: no memory. */
const pp_trie_stack *pp_fd_unseen(void);

#endif
