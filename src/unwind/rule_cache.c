/* SPDX-License-Identifier: MIT
 *
 * rule_cache.c: publishing and retiring of rules.
 *
 * Zone: SIGNAL.
 * Locks: one try-lock for a change of generation, one sequence lock for each big slot. Their
 *        holders, and threads that are counted as publishers, have signals blocked. Otherwise a
 *        handler of the host that jumped out of a malloc in the middle of a walk would leave a lock
 *        taken for ever, and a handler that forked would leave it taken in the child. Only misses
 *        take these locks.
 * Owns: the two tables.
 */
#include "unwind/rule_cache.h"

#include "base/compiler.h"
#include "base/words.h"
#include "modules/loader.h"
#include "sys/signal_mask.h"

#include <string.h>

enum {
    GENERATIONS = 64 /* 6 bits; 0 is "permanent" */
};

_Static_assert(sizeof(pp_rule) % sizeof(pp_word) == 0 &&
                   offsetof(pp_big_rule, rule) % sizeof(pp_word) == 0,
               "copied by words");

pp_rule_cache_state pp_rule_cache __attribute__((aligned(64)));

/* ---- generations ---- */

static void clear_removable(void)
{
    for (size_t i = 0; i < PP_CACHE_ENTRIES; i++) {
        uint64_t entry = __atomic_load_n(&pp_rule_cache.entries[i], __ATOMIC_RELAXED);
        if (pp_cache_generation(entry) != 0) {
            __atomic_store_n(&pp_rule_cache.entries[i], 0, __ATOMIC_RELAXED);
        }
    }
}

/* Begins a generation, for an epoch that is new. The caller holds `renewing`. */
PP_RAW_MEMORY static unsigned next_generation(uint64_t epoch)
{
    unsigned next = __atomic_load_n(&pp_rule_cache.generation, __ATOMIC_RELAXED) + 1;
    if (next == GENERATIONS) {
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        if (__atomic_load_n(&pp_rule_cache.publishers, __ATOMIC_ACQUIRE) != 0) {
            return PP_GENERATION_UNKNOWN; /* a publisher may still store an entry of generation 1 */
        }
        clear_removable();
        next = 1;
    }
    __atomic_store_n(&pp_rule_cache.generation, next, __ATOMIC_RELEASE);
    __atomic_store_n(&pp_rule_cache.epoch, epoch, __ATOMIC_RELEASE);
    return next;
}

/* The caller has blocked signals. */
static unsigned try_to_renew(uint64_t epoch)
{
    if (__atomic_exchange_n(&pp_rule_cache.renewing, true, __ATOMIC_ACQUIRE)) {
        return PP_GENERATION_UNKNOWN;
    }
    unsigned generation = PP_GENERATION_UNKNOWN;
    if (pp_loader_epoch_is_known() &&
        epoch == pp_loader_epoch()) { /* not so in a walk that was held up and has an old one */
        generation = next_generation(epoch);
    }
    __atomic_store_n(&pp_rule_cache.renewing, false, __ATOMIC_RELEASE);
    return generation;
}

PP_COLD_PATH static unsigned renew(uint64_t epoch)
{
    pp_signal_mask old = 0;
    pp_signals_block(&old);
    unsigned generation = try_to_renew(epoch);
    pp_signals_restore(&old);
    return generation;
}

unsigned pp_rule_cache_generation(uint64_t epoch)
{
    /* The epoch is read first: a generation that is newer than the epoch is harmless, since a
     * publisher reads the epoch again. */
    if (pp_likely(__atomic_load_n(&pp_rule_cache.epoch, __ATOMIC_ACQUIRE) == epoch)) {
        unsigned generation = __atomic_load_n(&pp_rule_cache.generation, __ATOMIC_ACQUIRE);
        if (pp_likely(generation != 0)) {
            return generation;
        }
    }
    return renew(epoch);
}

/* ---- the second table ---- */

static bool big_was_used; /* else a child of fork does not touch the table */

static pp_big_rule *big_slot_of(uintptr_t pc)
{
    return &pp_rule_cache.big[pp_cache_key(pc) % PP_CACHE_BIG_RULES];
}

PP_RAW_MEMORY bool pp_rule_cache_big(uintptr_t pc, unsigned generation, pp_rule *rule)
{
    const pp_big_rule *slot = big_slot_of(pc);
    uint32_t before = __atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE);
    if (before & 1) {
        return false;
    }
    pp_words_load(rule, &slot->rule, sizeof *rule);
    uintptr_t of = __atomic_load_n(&slot->pc, __ATOMIC_RELAXED);
    uint32_t made = __atomic_load_n(&slot->generation, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&slot->sequence, __ATOMIC_RELAXED) == before && of == pc &&
           (made == 0 || made == generation);
}

PP_RAW_MEMORY static bool publish_big(uintptr_t pc, const pp_rule *rule, unsigned generation)
{
    pp_big_rule *slot = big_slot_of(pc);
    __atomic_store_n(&big_was_used, true, __ATOMIC_RELAXED);
    uint32_t sequence = __atomic_load_n(&slot->sequence, __ATOMIC_RELAXED);
    if ((sequence & 1) || !__atomic_compare_exchange_n(&slot->sequence, &sequence, sequence + 1,
                                                       false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
        return false;
    }
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n(&slot->pc, pc, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->generation, generation, __ATOMIC_RELAXED);
    pp_words_store(&slot->rule, rule, sizeof *rule);
    __atomic_store_n(&slot->sequence, sequence + 2, __ATOMIC_RELEASE);
    return true;
}

/* ---- publishing ---- */

/* A single store, which cannot be left half done. */
static void store_entry(uintptr_t pc, uint64_t payload, unsigned generation)
{
    uintptr_t key = pp_cache_key(pc);
    uint64_t entry = pp_cache_tag(key) << PP_PACKED_BITS | payload |
                     (uint64_t)generation << PP_PACKED_FREE_SHIFT;
    __atomic_store_n(&pp_rule_cache.entries[pp_cache_index(key)], entry, __ATOMIC_RELAXED);
}

static void store(uintptr_t pc, const pp_rule *rule, uint64_t payload, unsigned generation)
{
    if (payload != PP_PACKED_BIG_RULE || publish_big(pc, rule, generation)) {
        store_entry(pc, payload, generation);
    }
}

/*
 * Of the two fences, one is here and one in next_generation(). A publisher reads the epoch after it
 * has counted itself. The thread that reuses generation 1 reads the count after it has seen a new
 * epoch. The fences make one of the two see the other; without them both might read too early,
 * whatever the memory orders of the operations are.
 */
PP_RAW_MEMORY static void store_removable(uintptr_t pc, const pp_rule *rule, uint64_t payload,
                                          uint64_t epoch, unsigned generation)
{
    __atomic_add_fetch(&pp_rule_cache.publishers, 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (pp_loader_epoch() == epoch) {
        store(pc, rule, payload, generation);
    }
    __atomic_sub_fetch(&pp_rule_cache.publishers, 1, __ATOMIC_RELEASE);
}

void pp_rule_cache_publish(uintptr_t pc, const pp_rule *rule, uint64_t epoch, unsigned generation)
{
    uint64_t payload = pp_rule_pack(rule);
    if (rule->permanent) {
        store(pc, rule, payload, 0);
    } else if (generation != PP_GENERATION_UNKNOWN) {
        store_removable(pc, rule, payload, epoch, generation);
    }
}

void pp_rule_cache_after_fork_in_child(void)
{
    pp_rule_cache.publishers = 0;
    pp_rule_cache.renewing = false;
    for (size_t i = 0; big_was_used && i < PP_CACHE_BIG_RULES; i++) {
        if (pp_rule_cache.big[i].sequence & 1) {
            pp_rule_cache.big[i].pc = 0;
            pp_rule_cache.big[i].sequence++;
        }
    }
}

void pp_rule_cache_clear(void)
{
    memset(pp_rule_cache.entries, 0, sizeof pp_rule_cache.entries);
    memset(pp_rule_cache.big, 0, sizeof pp_rule_cache.big);
}
