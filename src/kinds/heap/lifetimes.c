/* SPDX-License-Identifier: MIT
 *
 * lifetimes.c: the key of an entry is three words in the place of a stack.
 *
 * Zone: HOOK.
 * Tested by: e2e.lifetime
 */
#include "kinds/heap/lifetimes.h"

#include "base/stack_hash.h"
#include "kinds/heap/heap.h"
#include "kinds/heap/live_table.h"
#include "sys/address_space.h"
#include "sys/clock.h"
#include "unwind/scratch.h"

#include <errno.h>

enum {
    DEPTH = 256,            /* frames of a stack, as of those that allocate (heap.c) */
    TABLE_BYTES = 64 << 20, /* at most; it grows from 1 MiB as it fills */
    TABLE_SHARE = 20,       /* one part in so many of a limited address space */
    NS_PER_US = 1000
};

enum { BUCKET, CLASS, FREED, KEY_WORDS };

static struct {
    pp_stack_counts *table; /* not NULL: frees are recorded */
    pp_label_cells *cells;
    uint64_t lost;
    uint64_t since_ns;
} lifetimes;

int pp_lifetimes_want(void)
{
    if (pp_lifetimes_are_wanted()) {
        return 0;
    }
    pp_stack_counts *made =
        pp_stack_counts_new_growing(pp_address_space_share(TABLE_BYTES, TABLE_SHARE));
    pp_stack_counts *none = NULL;
    if (made == NULL) {
        return -ENOMEM;
    }
    pp_live_table_keep_births();
    uint64_t never = 0;
    __atomic_compare_exchange_n(&lifetimes.since_ns, &never, pp_clock_ns(CLOCK_MONOTONIC), false,
                                __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    if (!__atomic_compare_exchange_n(&lifetimes.table, &none, made, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
        pp_stack_counts_free(made); /* another thread was first */
    }
    return 0;
}

bool pp_lifetimes_are_wanted(void)
{
    return __atomic_load_n(&lifetimes.table, __ATOMIC_ACQUIRE) != NULL;
}

static const pp_trie_stack *stack_of(const pp_caller *caller)
{
    pp_scratch *scratch = pp_scratch_take_at(caller->sp);
    if (scratch == NULL) {
        return NULL;
    }
    pp_walk *walk = &scratch->walk;
    scratch->pcs[0] = caller->leaf + 1; /* like a return address (profile/model.h) */
    *walk = (pp_walk){.pcs = scratch->pcs + 1,
                      .space = &scratch->space,
                      .capacity = DEPTH - 1,
                      .wants_hash = true};
    pp_walk_from_caller(caller, walk);
    const pp_trie_stack *stack = pp_stack_trie_find(
        scratch->pcs, walk->depth + 1, pp_stack_hash_extend(walk->hash, scratch->pcs[0]));
    pp_scratch_give(scratch);
    return stack;
}

/* 0 for less than one microsecond, 1 for 1, 2 for 2 and 3, and so on. */
static unsigned class_of(uint64_t us)
{
    return us == 0 ? 0 : 64 - (unsigned)__builtin_clzll(us);
}

/* The block keeps the cell of its labels until it counts as freed, so they are there. */
static void add_labels(const pp_stack_entry *entry, pp_heap_block block, uint64_t us)
{
    const pprof_labels *labels = pp_heap_block_labels(block);
    if (labels != NULL) {
        pp_label_cell *cell = pp_label_cell_take(pp_label_cells_at(&lifetimes.cells), entry,
                                                 (pprof_labels *)labels, 1);
        pp_label_cell_add(cell, PP_LIFETIME_CELL_BLOCKS, 1);
        pp_label_cell_add(cell, PP_LIFETIME_CELL_SUM, us);
        pp_label_cell_give(cell);
    }
}

static bool record(pp_heap_block block, uint64_t us, const pp_caller *caller)
{
    const pp_trie_stack *freed = stack_of(caller);
    const uintptr_t key[KEY_WORDS] = {[BUCKET] = (uintptr_t)pp_heap_block_bucket(block),
                                      [CLASS] = class_of(us),
                                      [FREED] = (uintptr_t)freed};
    pp_stack_entry *entry = freed != NULL ? pp_stack_counts_record(lifetimes.table, key, KEY_WORDS,
                                                                   pp_stack_hash(key, KEY_WORDS), 1)
                                          : NULL;
    if (entry == NULL) {
        return false;
    }
    __atomic_add_fetch(&entry->amount, us, __ATOMIC_RELAXED);
    add_labels(entry, block, us);
    return true;
}

void pp_lifetimes_record(pp_heap_block block, uint64_t birth_ns, const pp_caller *caller)
{
    if (birth_ns == 0 || !pp_heap_is_block(block) || !pp_lifetimes_are_wanted()) {
        return;
    }
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    int saved_errno = errno;
    uint64_t us = now_ns > birth_ns ? (now_ns - birth_ns) / NS_PER_US : 0;
    if (!record(block, us, caller)) {
        __atomic_add_fetch(&lifetimes.lost, 1, __ATOMIC_RELAXED);
    }
    errno = saved_errno;
}

/* ---- reading ---- */

const pp_stack_counts *pp_lifetimes_table(void)
{
    return __atomic_load_n(&lifetimes.table, __ATOMIC_ACQUIRE);
}

pp_lifetime pp_lifetime_of(const pp_stack_entry *entry)
{
    uint64_t class = entry->pc[CLASS];
    return (pp_lifetime){.bucket = (const pp_heap_bucket *)entry->pc[BUCKET],
                         .freed = (const pp_trie_stack *)entry->pc[FREED],
                         .least_us = class == 0 ? 0 : UINT64_C(1) << (class - 1),
                         .blocks = __atomic_load_n(&entry->count, __ATOMIC_RELAXED),
                         .sum_us = __atomic_load_n(&entry->amount, __ATOMIC_RELAXED)};
}

pp_label_cells *pp_lifetimes_labels(void)
{
    return __atomic_load_n(&lifetimes.cells, __ATOMIC_ACQUIRE);
}

uint64_t pp_lifetimes_lost(void)
{
    return __atomic_load_n(&lifetimes.lost, __ATOMIC_RELAXED);
}

uint64_t pp_lifetimes_since(void)
{
    return __atomic_load_n(&lifetimes.since_ns, __ATOMIC_RELAXED);
}
