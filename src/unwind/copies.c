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
static bool was_used; /* else a child of fork does not touch the slots */

static slot *slot_of(uintptr_t at)
{
    return &slots[at / PP_CHUNK_BYTES % SLOTS];
}

/* Copies the words of `from` that have the bytes at [at, at + most), or what there is of them. `from`
 * may be changing: its bounds are checked, and the caller checks the sequence. */
PP_RAW_MEMORY static bool copy_words(pp_chunk *to, const pp_chunk *from, uintptr_t at, size_t most)
{
    const size_t word = sizeof(pp_word);
    uintptr_t lo = __atomic_load_n(&from->lo, __ATOMIC_RELAXED);
    uintptr_t hi = __atomic_load_n(&from->hi, __ATOMIC_RELAXED);
    if (hi - lo > PP_CHUNK_BYTES || at >= hi) {
        return false;
    }
    size_t first = at > lo ? (at - lo) / word * word : 0;
    size_t end = hi - lo;
    if (end - first > most + word) {
        end = first + (most / word + 1) * word;
    }
    to->lo = lo + first;
    to->hi = lo + end;
    pp_words_load(to->bytes, from->bytes + first, (end - first + word - 1) / word * word);
    return true;
}

PP_RAW_MEMORY bool pp_copies_find(uintptr_t at, size_t most, uint64_t epoch, pp_chunk *chunk)
{
    const slot *s = slot_of(at);
    uint32_t before = __atomic_load_n(&s->sequence, __ATOMIC_ACQUIRE);
    if ((before & 1) || __atomic_load_n(&s->begin, __ATOMIC_RELAXED) != pp_chunk_begin(at) ||
        __atomic_load_n(&s->epoch, __ATOMIC_RELAXED) != epoch ||
        !copy_words(chunk, &s->chunk, at, most)) {
        return false;
    }
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&s->sequence, __ATOMIC_RELAXED) == before;
}

PP_RAW_MEMORY void pp_copies_keep(uintptr_t begin, uint64_t epoch, const pp_chunk *chunk)
{
    __atomic_store_n(&was_used, true, __ATOMIC_RELAXED);
    __atomic_thread_fence(
        __ATOMIC_ACQUIRE); /* the chunk was copied before the epoch is read here */
    if (pp_loader_epoch() != epoch) {
        return;
    }
    slot *s = slot_of(begin);
    uint32_t sequence = __atomic_load_n(&s->sequence, __ATOMIC_RELAXED);
    if ((sequence & 1) || !__atomic_compare_exchange_n(&s->sequence, &sequence, sequence + 1, false,
                                                       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
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
    for (size_t i = 0; was_used && i < SLOTS; i++) {
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
