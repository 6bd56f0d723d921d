/* SPDX-License-Identifier: MIT
 *
 * stack_counts.c: the lock-free table of stacks (drawing in the header).
 *
 * Zone: SIGNAL (new and free, which map memory, are called by NORMAL code).
 * Locks: none. Insertion: the entry is written whole, then linked by compare-and-swap; the loser of
 *        a race searches the chain again and, if the winner brought the same stack, adds to that.
 * Owns: the mapping of each table.
 */
#include "store/stack_counts.h"

#include "base/compiler.h"
#include "base/memory.h"

#include <string.h>

enum {
    CHAINS = 1 << 14, /* 64 KiB of heads; 100 000 distinct stacks are 6 to a chain */
    WORD = 8,
    SMALLEST = 1 << 20 /* less is not worth a profile */
};

struct pp_stack_counts {
    size_t bytes;
    uint64_t used_words; /* next free word; may run past the end */
    uint64_t limit_words;
    uint32_t heads[CHAINS];
    uint64_t entries[];
};

pp_stack_counts *pp_stack_counts_new(size_t bytes)
{
    for (; bytes >= SMALLEST; bytes /= 2) {
        pp_stack_counts *counts = pp_memory_map(bytes);
        if (counts != NULL) {
            counts->bytes = bytes;
            counts->used_words = sizeof *counts / WORD;
            counts->limit_words = bytes / WORD;
            return counts;
        }
    }
    return NULL;
}

void pp_stack_counts_free(pp_stack_counts *counts)
{
    if (counts != NULL) {
        pp_memory_unmap(counts, counts->bytes);
    }
}

static pp_stack_entry *entry_at(const pp_stack_counts *counts, uint32_t offset)
{
    return (pp_stack_entry *)((uintptr_t)counts + (uintptr_t)offset * WORD);
}

static pp_stack_entry *find(const pp_stack_counts *counts, uint32_t offset, uint64_t hash,
                            const uintptr_t *pcs, uint32_t depth)
{
    while (offset != 0) {
        pp_stack_entry *entry = entry_at(counts, offset);
        if (entry->hash == hash && entry->depth == depth &&
            memcmp(entry->pc, pcs, depth * sizeof *pcs) == 0) {
            return entry;
        }
        offset = entry->next;
    }
    return NULL;
}

/* A filled entry that is not linked yet; 0 if there is no room. */
static uint32_t allocate(pp_stack_counts *counts, uint64_t hash, const uintptr_t *pcs,
                         uint32_t depth, uint64_t weight)
{
    uint64_t words = sizeof(pp_stack_entry) / WORD + depth;
    uint64_t limit = counts->limit_words;
    uint64_t at = __atomic_load_n(&counts->used_words, __ATOMIC_RELAXED);
    do {
        if (at + words > limit || at + words > UINT32_MAX) {
            return 0;
        }
    } while (!__atomic_compare_exchange_n(&counts->used_words, &at, at + words, true,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    pp_stack_entry *entry = entry_at(counts, (uint32_t)at);
    entry->hash = hash;
    entry->count = weight;
    memcpy(entry->pc, pcs, depth * sizeof *pcs);
    entry->depth = depth;
    return (uint32_t)at;
}

pp_stack_entry *pp_stack_counts_record(pp_stack_counts *counts, const uintptr_t *pcs,
                                       uint32_t depth, uint64_t hash, uint64_t weight)
{
    uint32_t *head = &counts->heads[hash % CHAINS];
    uint32_t first = __atomic_load_n(head, __ATOMIC_ACQUIRE);
    uint32_t mine = 0;
    for (;;) {
        pp_stack_entry *entry = find(counts, first, hash, pcs, depth);
        if (entry != NULL) {
            /* An entry of ours that lost the race stays behind unlinked: a few words. */
            __atomic_add_fetch(&entry->count, weight, __ATOMIC_RELAXED);
            return entry;
        }
        if (mine == 0) {
            mine = allocate(counts, hash, pcs, depth, weight);
            if (mine == 0) {
                return NULL;
            }
        }
        entry = entry_at(counts, mine);
        entry->next = first;
        if (__atomic_compare_exchange_n(head, &first, mine, false, __ATOMIC_RELEASE,
                                        __ATOMIC_ACQUIRE)) {
            return entry;
        }
    }
}

void pp_stack_counts_each(const pp_stack_counts *counts, pp_stack_visit *visit, void *context)
{
    for (unsigned chain = 0; chain < CHAINS; chain++) {
        uint32_t offset = __atomic_load_n(&counts->heads[chain], __ATOMIC_ACQUIRE);
        while (offset != 0) {
            const pp_stack_entry *entry = entry_at(counts, offset);
            visit(entry, context);
            offset = entry->next;
        }
    }
}
