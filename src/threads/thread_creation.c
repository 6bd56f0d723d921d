/* SPDX-License-Identifier: MIT
 *
 * thread_creation.c: takes the creator's stack, and keeps the thread's record.
 *
 * Zone: HOOK.
 * Owns: the stacks; each thread's pointer to its record.
 * Tested by: e2e.thread_profile, e2e.threads
 */
#include "threads/thread_creation.h"

#include "base/compiler.h"
#include "base/stack_hash.h"
#include "store/labels.h"
#include "sys/address_space.h"
#include "sys/tasks.h"
#include "threads/thread_table.h"
#include "unwind/callers.h"
#include "unwind/own_frames.h"
#include "unwind/stack_memory.h"

#include "pprof.h"

#include <stddef.h>

enum {
    TABLE_BYTES = 4 << 20, /* at most: 20 000 stacks of 20 frames */
    TABLE_SHARE = 200,     /* one part in so many of a limited address space */
    OWN_FRAMES = 8         /* of libpprof, at the leaf, at most */
};

static pp_stack_counts *stacks;
static PP_TLS pp_thread_record *mine;

static pp_stack_counts *table(void)
{
    pp_stack_counts *now = __atomic_load_n(&stacks, __ATOMIC_ACQUIRE);
    if (now != NULL) {
        return now;
    }
    pp_stack_counts *fresh =
        pp_stack_counts_new_growing(pp_address_space_share(TABLE_BYTES, TABLE_SHARE));
    if (fresh != NULL && !__atomic_compare_exchange_n(&stacks, &now, fresh, false, __ATOMIC_ACQ_REL,
                                                      __ATOMIC_ACQUIRE)) {
        pp_stack_counts_free(fresh);
        return now;
    }
    return fresh;
}

pp_thread_creation pp_thread_creation_take(uintptr_t leaf, uintptr_t return_address)
{
    uintptr_t pcs[PPROF_MAX_STACK + OWN_FRAMES];
    pp_thread_creation creation = {.creator = mine != NULL ? mine->tid : pp_task_self()};
    pp_stack_counts *places = table();
    size_t depth = places != NULL ? pp_callers_uncut(0, pcs, sizeof pcs / sizeof *pcs) : 0;
    size_t first = 0;
    while (first < depth && first < OWN_FRAMES && pcs[first] != return_address) {
        first++;
    }
    if (first == 0 || first == depth || first == OWN_FRAMES) {
        return creation;
    }
    uint32_t callers = pp_own_frames_leave_out(pcs + first, (uint32_t)(depth - first));
    pcs[--first] = leaf + 1; /* as if the hook had called something (profile/model.h) */
    uint32_t kept = callers + 1 < PPROF_MAX_STACK ? callers + 1 : PPROF_MAX_STACK;
    creation.stack =
        pp_stack_counts_record(places, pcs + first, kept, pp_stack_hash(pcs + first, kept), 1);
    return creation;
}

void pp_thread_creation_begin(uintptr_t entry, const pp_thread_creation *creation)
{
    if (mine != NULL) { /* the library initialises itself on a thread of its own */
        return;
    }
    mine = pp_thread_table_add(&(pp_thread_record){.tid = pp_task_self(),
                                                   .creator = creation->creator,
                                                   .entry = entry,
                                                   .creation = creation->stack,
                                                   .place = pp_labels_place(),
                                                   .stack = pp_stack_limit()});
}

void pp_thread_creation_end(void)
{
    pp_thread_record *record = mine;
    mine = NULL;
    pp_thread_table_end(record);
}

void pp_thread_creation_disown(void)
{
    pp_thread_creation_begin(0, &(pp_thread_creation){.stack = NULL});
    pp_thread_table_disown(mine);
}

/* The child's thread keeps its start routine and creation. */
void pp_thread_creation_after_fork_in_child(void)
{
    pp_thread_table_after_fork_in_child(mine, pp_task_self());
}
