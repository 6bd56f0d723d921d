/* SPDX-License-Identifier: MIT
 *
 * rule_cache.h: rules of PCs that walks have met before. All threads share them, and read them
 * without locks.
 *
 * A direct-mapped table has one entry of 8 bytes for a PC. The key is the return address (see
 * pp_cache_key()): its low bits choose the entry, which keeps its high bits as the tag.
 *
 *    key             [           tag             ][index 14]
 *    entry           [           tag             ][packed rule, with the generation in its free bits]
 *
 *                    tag and packed rule: 33 and 31 bits on x86-64, 32 and 32 on aarch64
 *
 *   generation  0: the module is permanent; else when the rule was computed
 *
 * A second, smaller table keeps a rule that does not fit, with a sequence lock for each slot.
 *
 * Generations: a rule of a module that may be unloaded holds only as long as the loader's epoch
 * does not change. A walk begins with the current epoch and gets its generation; entries of other
 * generations are misses. A walk publishes a rule only if the epoch has not changed since the walk
 * began. So no walk finds, after an unload, a rule that was computed before. When the 63
 * generations are used up, all entries but the permanent ones are cleared, at a moment at which no
 * thread publishes.
 *
 * Zone: SIGNAL.
 * Locks: one try-lock for a change of generation, for which nobody waits.
 * Owns: both tables (184 KiB of .bss, untouched until the first walk).
 */
#ifndef PP_UNWIND_RULE_CACHE_H
#define PP_UNWIND_RULE_CACHE_H

#include "arch/registers.h"
#include "arch/rule.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PP_CACHE_INDEX_BITS = 14,
    PP_CACHE_ENTRIES = 1 << PP_CACHE_INDEX_BITS,
    PP_CACHE_BIG_RULES = 1024,
    PP_CACHE_TAG_BITS = PP_ADDRESS_BITS - PP_CODE_SHIFT - PP_CACHE_INDEX_BITS
};
_Static_assert(PP_CACHE_TAG_BITS + PP_PACKED_BITS == 64, "an entry is one word");

/* The generation of a walk that may neither use nor publish rules of modules that may be unloaded
 * (removable modules). */
#define PP_GENERATION_UNKNOWN 64u

/* A rule that does not fit into one word. A slot whose sequence is odd is being written
 * (base/words.h). */
typedef struct pp_big_rule {
    uint32_t sequence;
    uint32_t generation;
    uintptr_t pc;
    pp_rule rule;
} pp_big_rule;

/* Inline functions and walks read the entries; the other members are those of rule_cache.c. */
typedef struct pp_rule_cache_state {
    uint64_t entries[PP_CACHE_ENTRIES];
    uint64_t epoch;      /* of `generation` */
    unsigned generation; /* 0 until the first walk */
    unsigned publishers; /* threads that may be about to store a rule of a removable module */
    bool renewing;       /* a thread is changing the generation */
    pp_big_rule big[PP_CACHE_BIG_RULES];
} pp_rule_cache_state;

extern pp_rule_cache_state pp_rule_cache;

/*
 * The key of an instruction is its number, counted from address 0, plus 1: where instructions begin
 * at any address, the key of a caller is its return address. The low bits of code addresses are as
 * good as a hash, and cost the walk's critical path only one operation.
 */
static inline uintptr_t pp_cache_key(uintptr_t instruction)
{
    return (instruction >> PP_CODE_SHIFT) + 1;
}

/* The key of the instruction before the return address `pc`. */
static inline uintptr_t pp_cache_key_of_caller(uintptr_t pc)
{
    return (pc + (((uintptr_t)1 << PP_CODE_SHIFT) - 1)) >> PP_CODE_SHIFT;
}

static inline size_t pp_cache_index(uintptr_t key)
{
    return key & ((1u << PP_CACHE_INDEX_BITS) - 1);
}

/* An address beyond PP_ADDRESS_BITS has a tag that no entry has. */
static inline uint64_t pp_cache_tag(uintptr_t key)
{
    return key >> PP_CACHE_INDEX_BITS;
}

static inline unsigned pp_cache_generation(uint64_t entry)
{
    return (unsigned)(entry >> PP_PACKED_FREE_SHIFT) & 63;
}

/* Whether the entry is of this key and its CFA is computed from sp or fp. One comparison is
 * enough, since the bit that marks the other bases is just below the tag. An empty entry, with an
 * offset of 0, can pass. */
static inline bool pp_cache_is_usual(uint64_t entry, uintptr_t key)
{
    return entry >> (PP_PACKED_BITS - 1) == pp_cache_tag(key) << 1;
}

/* The entry of `pc` if it holds in `generation`, else 0. No entry is 0, since no tag is 0. */
static inline uint64_t pp_rule_cache_lookup(uintptr_t pc, unsigned generation)
{
    uintptr_t key = pp_cache_key(pc);
    uint64_t entry = __atomic_load_n(&pp_rule_cache.entries[pp_cache_index(key)], __ATOMIC_RELAXED);
    unsigned made = pp_cache_generation(entry);
    if (entry >> PP_PACKED_BITS != pp_cache_tag(key) || (made != 0 && made != generation)) {
        return 0;
    }
    return entry;
}

/* The generation of the loader's `epoch`. Begins another generation if the epoch is new. */
unsigned pp_rule_cache_generation(uint64_t epoch);

/* Finds the rule of a PP_BASE_OTHER entry whose offset is 1. Returns false, with anything in *rule,
 * if another PC has the slot. */
bool pp_rule_cache_big(uintptr_t pc, unsigned generation, pp_rule *rule);

/*
 * Publishes the rule of `pc` that was computed by a walk that began at `epoch` in `generation`.
 * Does nothing if the epoch has changed since. The caller has blocked signals: a publisher that was
 * left by a jump out of a handler would be counted for ever.
 */
void pp_rule_cache_publish(uintptr_t pc, const pp_rule *rule, uint64_t epoch, unsigned generation);

/* Ends, in the child of fork, what other threads of the parent were doing. */
void pp_rule_cache_after_fork_in_child(void);

/* Empties both tables, for tests and benchmarks. No other thread may walk meanwhile. */
void pp_rule_cache_clear(void);

#endif
