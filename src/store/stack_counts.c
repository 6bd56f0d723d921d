/* SPDX-License-Identifier: MIT
 *
 * stack_counts.c: the lock-free table of stacks (drawing in the header).
 *
 * Zone: SIGNAL (new and free, which map memory, are called by other code).
 * Locks: none. A thread writes the whole entry, then links it by compare-and-swap. A thread that
 *        loses the race searches the chain again and, if the winner linked the same stack, adds to
 *        the winner's entry.
 * Owns: the mappings of each table.
 */
#include "store/stack_counts.h"

#include "base/compiler.h"
#include "base/memory.h"

#include <string.h>

enum {
    CHAINS = 1 << 14, /* 64 KiB of heads; 100 000 distinct stacks are 6 to a chain */
    WORD = 8,
    SMALLEST = 1 << 20, /* a smaller table is not worth a profile */
    PIECES = 8          /* after the first; 256 MiB together */
};

struct pp_stack_counts {
    size_t bytes;
    uint64_t used_words; /* next free word; may exceed limit_words */
    uint64_t limit_words;
    uint64_t first_words; /* in the first piece, the table's own mapping */
    uint64_t *pieces[PIECES];
    uint32_t heads[CHAINS];
    uint64_t entries[];
};

/* ---- pieces ---- */

/* The piece that holds word `offset`, which is not in the first piece: 0 is the second piece. */
static unsigned piece_of(const pp_stack_counts *counts, uint64_t offset)
{
    return 63 - (unsigned)__builtin_clzll(offset / counts->first_words);
}

/* The first word of `piece`; the piece has as many words as all pieces before it. */
static uint64_t piece_begin(const pp_stack_counts *counts, unsigned piece)
{
    return counts->first_words << piece;
}

static pp_stack_entry *entry_at(const pp_stack_counts *counts, uint32_t offset)
{
    if (pp_likely(offset < counts->first_words)) {
        return (pp_stack_entry *)((uintptr_t)counts + (uintptr_t)offset * WORD);
    }
    unsigned piece = piece_of(counts, offset);
    uint64_t *words = __atomic_load_n(&counts->pieces[piece], __ATOMIC_ACQUIRE);
    return (pp_stack_entry *)(void *)(words + (offset - piece_begin(counts, piece)));
}

static bool have_piece(pp_stack_counts *counts, unsigned piece)
{
    uint64_t *there = __atomic_load_n(&counts->pieces[piece], __ATOMIC_ACQUIRE);
    if (there != NULL) {
        return true;
    }
    size_t bytes = (size_t)piece_begin(counts, piece) * WORD;
    uint64_t *mine = pp_memory_map(bytes);
    if (mine != NULL && !__atomic_compare_exchange_n(&counts->pieces[piece], &there, mine, false,
                                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        pp_memory_unmap(mine, bytes);
        return true;
    }
    return mine != NULL;
}

/* The first place for `words` words at or after `at`; 0 if there is no room. */
static uint64_t place_for(pp_stack_counts *counts, uint64_t at, uint64_t words)
{
    uint64_t end = counts->first_words;
    if (at >= end) {
        end = piece_begin(counts, piece_of(counts, at)) * 2;
    }
    uint64_t place = at + words <= end ? at : end;
    if (place + words > counts->limit_words || place + words > UINT32_MAX) {
        return 0;
    }
    return place < counts->first_words || have_piece(counts, piece_of(counts, place)) ? place : 0;
}

/* ---- tables ---- */

static void begin(pp_stack_counts *counts, size_t bytes, size_t limit)
{
    counts->bytes = bytes;
    counts->used_words = sizeof *counts / WORD;
    counts->first_words = bytes / WORD;
    counts->limit_words = limit / WORD;
}

pp_stack_counts *pp_stack_counts_new(size_t bytes)
{
    for (; bytes >= SMALLEST; bytes /= 2) {
        pp_stack_counts *counts = pp_memory_map(bytes);
        if (counts != NULL) {
            begin(counts, bytes, bytes);
            return counts;
        }
    }
    return NULL;
}

pp_stack_counts *pp_stack_counts_new_growing(size_t most)
{
    size_t limit = SMALLEST;
    for (unsigned piece = 0; piece < PIECES && limit * 2 <= most; piece++) {
        limit *= 2;
    }
    pp_stack_counts *counts = pp_memory_map(SMALLEST);
    if (counts != NULL) {
        begin(counts, SMALLEST, limit);
    }
    return counts;
}

void pp_stack_counts_free(pp_stack_counts *counts)
{
    if (counts == NULL) {
        return;
    }
    for (unsigned piece = 0; piece < PIECES; piece++) {
        if (counts->pieces[piece] != NULL) {
            pp_memory_unmap(counts->pieces[piece], (size_t)piece_begin(counts, piece) * WORD);
        }
    }
    pp_memory_unmap(counts, counts->bytes);
}

/* ---- entries ---- */

static pp_stack_entry *lookup(const pp_stack_counts *counts, uint32_t offset, uint64_t hash,
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

/* The offset of a filled entry that is not linked yet; 0 if there is no room. */
static uint32_t allocate(pp_stack_counts *counts, uint64_t hash, const uintptr_t *pcs,
                         uint32_t depth, uint64_t weight)
{
    uint64_t words = sizeof(pp_stack_entry) / WORD + depth;
    uint64_t used = __atomic_load_n(&counts->used_words, __ATOMIC_RELAXED);
    uint64_t at = 0;
    do {
        at = place_for(counts, used, words);
        if (at == 0) {
            return 0;
        }
    } while (!__atomic_compare_exchange_n(&counts->used_words, &used, at + words, true,
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
        pp_stack_entry *entry = lookup(counts, first, hash, pcs, depth);
        if (entry != NULL) {
            /* If our own entry lost the race, it stays unlinked: this costs a few words. */
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

bool pp_stack_counts_is_empty(const pp_stack_counts *counts)
{
    return __atomic_load_n(&counts->used_words, __ATOMIC_RELAXED) == sizeof *counts / WORD;
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
