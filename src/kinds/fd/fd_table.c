/* SPDX-License-Identifier: MIT
 *
 * fd_table.c: implements the table as an array in pieces.
 *
 * A slot has labels only while it has a stack. A writer removes the old stack, then the old labels,
 * and stores the new labels, then the new stack. A reader reads the stack again after it has the
 * labels.
 *
 * Zone: SIGNAL.
 * Owns: the pieces.
 */
#include "kinds/fd/fd_table.h"

#include "base/memory.h"

#include <stddef.h>

enum { PIECE = 1024 };

typedef struct slot {
    const pp_trie_stack *stack;
    pprof_labels *labels;
} slot;

static slot *pieces[PP_FD_MAX / PIECE];

static slot *slot_of(int fd)
{
    if (fd < 0 || fd >= PP_FD_MAX) {
        return NULL;
    }
    slot *piece = __atomic_load_n(&pieces[fd / PIECE], __ATOMIC_ACQUIRE);
    return piece != NULL ? &piece[fd % PIECE] : NULL;
}

static slot *make_slot(int fd)
{
    slot *none = NULL;
    if (fd < 0 || fd >= PP_FD_MAX || slot_of(fd) != NULL) {
        return slot_of(fd);
    }
    slot *piece = pp_memory_map(PIECE * sizeof *piece);
    if (piece != NULL && !__atomic_compare_exchange_n(&pieces[fd / PIECE], &none, piece, false,
                                                      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
        pp_memory_unmap(piece, PIECE * sizeof *piece);
    }
    return slot_of(fd);
}

static void clear(slot *s)
{
    if (__atomic_load_n(&s->stack, __ATOMIC_RELAXED) == NULL) {
        return;
    }
    __atomic_store_n(&s->stack, NULL, __ATOMIC_RELEASE);
    pp_labels_unref(__atomic_exchange_n(&s->labels, NULL, __ATOMIC_ACQ_REL));
}

void pp_fd_table_set(int fd, const pp_trie_stack *stack, pprof_labels *labels)
{
    slot *s = make_slot(fd);
    if (s == NULL) {
        pp_labels_unref(labels);
        return;
    }
    clear(s);
    pp_labels_unref(__atomic_exchange_n(&s->labels, labels, __ATOMIC_ACQ_REL));
    __atomic_store_n(&s->stack, stack, __ATOMIC_RELEASE);
}

void pp_fd_table_set_unknown(int fd, const pp_trie_stack *stack)
{
    const pp_trie_stack *none = NULL;
    slot *s = make_slot(fd);
    if (s != NULL) {
        __atomic_compare_exchange_n(&s->stack, &none, stack, false, __ATOMIC_RELEASE,
                                    __ATOMIC_RELAXED);
    }
}

void pp_fd_table_clear(unsigned first, unsigned last)
{
    last = last < PP_FD_MAX ? last : PP_FD_MAX - 1;
    for (unsigned fd = first; fd <= last; fd++) {
        slot *s = slot_of((int)fd);
        if (s != NULL) {
            clear(s);
        } else {
            fd |= PIECE - 1;
        }
    }
}

const pp_trie_stack *pp_fd_table_get(int fd, pprof_labels **labels)
{
    slot *s = slot_of(fd);
    *labels = NULL;
    if (s == NULL) {
        return NULL;
    }
    for (;;) {
        const pp_trie_stack *stack = __atomic_load_n(&s->stack, __ATOMIC_ACQUIRE);
        pprof_labels *found = stack != NULL ? pp_labels_ref_of(&s->labels) : NULL;
        if (__atomic_load_n(&s->stack, __ATOMIC_ACQUIRE) == stack) {
            *labels = found;
            return stack;
        }
        pp_labels_unref(found);
    }
}
