/* SPDX-License-Identifier: MIT
 *
 * rule_cache.h: rules of PCs that walks have met before. All threads share them, and read them
 * without locks.
 *
 * A direct-mapped table has one entry of 8 bytes for a PC. The key is the return address (see
 * pp_cache_key()): its low bits choose the entry, which keeps its high bits as the tag.
 *
 *    key             [           tag 33          ][index 14]
 *    entry           [           tag 33          ][base 3][generation 6][fp 5][bx 5][offset 12]
 *                     63                        31
 *
 *   base        what the CFA is computed from: rsp, rbp or rbx; or one of signal, end, other
 *   offset      CFA minus base, in words
 *   fp, bx      31: unchanged; n: saved at CFA - 256 + 8n. So 31 also names a word that may be read
 *               (the return address), and the walk can choose without a branch
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
#include "unwind/reason.h"
#include "unwind/rule.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PP_CACHE_INDEX_BITS = 14,
    PP_CACHE_ENTRIES = 1 << PP_CACHE_INDEX_BITS,
    PP_CACHE_BIG_RULES = 1024,
    PP_CACHE_TAG_BITS = PP_ADDRESS_BITS - PP_CACHE_INDEX_BITS,
    PP_CACHE_PAYLOAD_BITS = 31
};
_Static_assert(PP_CACHE_TAG_BITS + PP_CACHE_PAYLOAD_BITS == 64, "an entry is one word");

typedef enum pp_base {
    PP_BASE_SP,
    PP_BASE_FP,
    /* The walk's inner loop takes none of the following: the highest of the three bits is set. */
    PP_BASE_BX = 4,
    PP_BASE_SIGNAL,
    PP_BASE_END,
    PP_BASE_OTHER /* offset 0: no rule for this PC; 1: the rule is in the second table. In the place
                   * of `bx` no rule has its pp_reason. */
} pp_base;

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
 * The key of a caller is its return address; the key of an instruction is its address plus 1. The
 * low bits of code addresses are as good as a hash, and cost the walk's critical path only one
 * operation.
 */
static inline uintptr_t pp_cache_key(uintptr_t instruction)
{
    return instruction + 1;
}

static inline size_t pp_cache_index(uintptr_t key)
{
    return key & ((1u << PP_CACHE_INDEX_BITS) - 1);
}

/* An address beyond 47 bits has a tag that no entry has. */
static inline uint64_t pp_cache_tag(uintptr_t key)
{
    return key >> PP_CACHE_INDEX_BITS;
}

static inline pp_base pp_cache_base(uint64_t entry)
{
    return (pp_base)((entry >> 28) & 7);
}

static inline unsigned pp_cache_generation(uint64_t entry)
{
    return (unsigned)(entry >> 22) & 63;
}

/* The place of a saved register, in words above CFA - 256. */
enum { PP_CACHE_UNCHANGED = 31, PP_CACHE_SAVES_BELOW_CFA = 256 };

static inline unsigned pp_cache_fp(uint64_t entry)
{
    return (unsigned)(entry >> 17) & 31;
}

static inline unsigned pp_cache_bx(uint64_t entry)
{
    return (unsigned)(entry >> 12) & 31;
}

/* Why a PC has no rule. */
static inline pp_reason pp_cache_why(uint64_t entry)
{
    return (pp_reason)pp_cache_bx(entry);
}

static inline uintptr_t pp_cache_save_address(uintptr_t cfa, unsigned place)
{
    return cfa + place * sizeof(uintptr_t) - PP_CACHE_SAVES_BELOW_CFA;
}

static inline uintptr_t pp_cache_offset(uint64_t entry)
{
    return (entry & 0xfff) * 8;
}

static inline bool pp_cache_is_on_fp(uint64_t entry)
{
    return entry >> 28 & 1;
}

/* Whether the entry is of this key and its CFA is computed from rsp or rbp. One comparison is
 * enough, since the bit that marks the other bases is just below the tag. An empty entry, with an
 * offset of 0, can pass. */
static inline bool pp_cache_is_usual(uint64_t entry, uintptr_t key)
{
    return entry >> (PP_CACHE_PAYLOAD_BITS - 1) == pp_cache_tag(key) << 1;
}

/* The entry of `pc` if it holds in `generation`, else 0. No entry is 0, since no tag is 0. */
static inline uint64_t pp_rule_cache_lookup(uintptr_t pc, unsigned generation)
{
    uintptr_t key = pp_cache_key(pc);
    uint64_t entry = __atomic_load_n(&pp_rule_cache.entries[pp_cache_index(key)], __ATOMIC_RELAXED);
    unsigned made = pp_cache_generation(entry);
    if (entry >> PP_CACHE_PAYLOAD_BITS != pp_cache_tag(key) || (made != 0 && made != generation)) {
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
