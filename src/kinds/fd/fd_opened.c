/* SPDX-License-Identifier: MIT
 *
 * fd_opened.c: walks the stack of a thread that opens a descriptor, and records it.
 *
 * Zone: HOOK.
 * Owns: the pseudo-frames of descriptors whose stack is not known.
 * Tested by: e2e.fd
 */
#include "kinds/fd/fd_opened.h"

#include "base/pseudo_frame.h"
#include "base/stack_hash.h"
#include "kinds/fd/fd_table.h"
#include "unwind/walk.h"

#include <errno.h>

enum { DEPTH = 128 /* frames, with that of the hooked function; as many as a record has */ };

PP_PSEUDO_FRAME(pprof_unseen_descriptor)

PP_PSEUDO_FRAME(pprof_earlier_descriptor)

static const pp_trie_stack *stack_of(void (*function)(void))
{
    uintptr_t pc = (uintptr_t)function + 1; /* like a return address (profile/model.h) */
    return pp_stack_trie_find(&pc, 1, pp_stack_hash(&pc, 1));
}

const pp_trie_stack *pp_fd_unseen(void)
{
    return stack_of(pprof_unseen_descriptor);
}

static const pp_trie_stack *walk_from(const pp_caller *caller)
{
    uintptr_t pcs[DEPTH];
    pp_walk_space space;
    pcs[0] = caller->leaf + 1;
    pp_walk walk = {.pcs = pcs + 1, .space = &space, .capacity = DEPTH - 1, .wants_hash = true};
    pp_walk_from_caller(caller, &walk);
    return pp_stack_trie_find(pcs, walk.depth + 1, pp_stack_hash_extend(walk.hash, pcs[0]));
}

void pp_fd_opened(int fd, const pp_caller *caller)
{
    int saved_errno = errno;
    pprof_labels *labels = pp_labels_current();
    pp_fd_table_set(fd, walk_from(caller),
                    pp_labels_is_empty(labels) ? NULL : pp_labels_ref(labels));
    errno = saved_errno;
}

void pp_fd_closed(unsigned first, unsigned last)
{
    pp_fd_table_clear(first, last);
}

void pp_fd_was_open(int fd)
{
    pp_fd_table_set_unknown(fd, stack_of(pprof_earlier_descriptor));
}
