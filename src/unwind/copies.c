/* SPDX-License-Identifier: MIT
 *
 * copies.c: keeps copied chunks in slots, and finds them again.
 *
 * Zone: SIGNAL.
 * Locks: one sequence lock for each slot, only tried. Writers have signals blocked: a handler that
 *        jumped out of a writer would leave the lock taken for ever.
 * Owns: the slots.
 */
#include "unwind/copies.h"

#include "base/compiler.h"
#include "base/words.h"
#include "modules/loader.h"

#include <string.h>

enum { SLOTS = 96 };

/* A slot whose sequence is odd is being written (base/words.h). */
typedef struct slot {
    uint32_t sequence;
    uintptr_t begin; /* 0 = empty */
    uint64_t epoch;
    pp_chunk chunk;
} slot;
_Static_assert(sizeof(pp_chunk) % sizeof(pp_word) == 0, "copied by words");

static slot slots[SLOTS];

static slot *slot_of(uintptr_t begin)
{
    return &slots[begin / PP_CHUNK_BYTES % SLOTS];
}

PP_RAW_MEMORY bool pp_copies_find(uintptr_t begin, uint64_t epoch, pp_chunk *chunk)
{
    const slot *s = slot_of(begin);
    uint32_t before = __atomic_load_n(&s->sequence, __ATOMIC_ACQUIRE);
    if ((before & 1) || __atomic_load_n(&s->begin, __ATOMIC_RELAXED) != begin ||
        __atomic_load_n(&s->epoch, __ATOMIC_RELAXED) != epoch) {
        return false;
    }
    pp_words_load(chunk, &s->chunk, sizeof *chunk);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&s->sequence, __ATOMIC_RELAXED) == before;
}

PP_RAW_MEMORY void pp_copies_keep(uintptr_t begin, uint64_t epoch, const pp_chunk *chunk)
{
    slot *s = slot_of(begin);
    uint32_t sequence = __atomic_load_n(&s->sequence, __ATOMIC_RELAXED);
    __atomic_thread_fence(
        __ATOMIC_ACQUIRE); /* the chunk was copied before the epoch is read here */
    if (pp_loader_epoch() != epoch || (sequence & 1) ||
        !__atomic_compare_exchange_n(&s->sequence, &sequence, sequence + 1, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED)) {
        return;
    }
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n(&s->begin, begin, __ATOMIC_RELAXED);
    __atomic_store_n(&s->epoch, epoch, __ATOMIC_RELAXED);
    pp_words_store(&s->chunk, chunk, sizeof *chunk);
    __atomic_store_n(&s->sequence, sequence + 2, __ATOMIC_RELEASE);
}

void pp_copies_after_fork_in_child(void)
{
    for (size_t i = 0; i < SLOTS; i++) {
        if (slots[i].sequence & 1) {
            slots[i].begin = 0;
            slots[i].sequence++;
        }
    }
}

void pp_copies_clear(void)
{
    memset(slots, 0, sizeof slots);
}
