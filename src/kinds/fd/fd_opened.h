/* SPDX-License-Identifier: MIT
 *
 * fd_opened.h: who opened the descriptors that are open: the sampler of the fd profile. It
 * records every opening, none is left out.
 *
 *   open() ... --> hook --> pp_fd_opened --> walk --> the stack's place in the trie --> table
 *   close() ... --> hook --> pp_fd_closed ------------------------------------------> table
 *
 * What is not hooked (libc's own calls, bare system calls) is found when a profile is made, by
 * asking the kernel what is open (kinds/fd/fd_rows.h).
 *
 * Zone: HOOK. Nothing allocates but our own memory, errno is preserved, callable in handlers.
 * Owns: nothing; see kinds/fd/fd_table.h.
 */
#ifndef PP_KINDS_FD_FD_OPENED_H
#define PP_KINDS_FD_FD_OPENED_H

#include "store/stack_trie.h"
#include "unwind/caller.h"

#include <stdint.h>

void pp_fd_opened(int fd, const pp_caller *caller);

/* Before they are closed: behind that somebody else may have the number. */
void pp_fd_closed(unsigned first, unsigned last);

/* It is open, and nothing may have been recorded of it: it was open before anything was. */
void pp_fd_was_open(int fd);

/* The stack of a descriptor that nobody saw being opened; NULL: no memory. */
const pp_trie_stack *pp_fd_unseen(void);

#endif
