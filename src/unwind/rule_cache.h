/* SPDX-License-Identifier: MIT
 *
 * rule_cache.h: the rules of PCs seen before, shared by all threads, read without locks.
 *
 * One 8-byte entry a PC, in a direct-mapped table. The low bits of the key (the return address, see
 * pp_cache_key) choose the entry, its high bits are kept as the tag: together they are the key.
 *
 *    key             [           tag 33          ][index 14]
 *    entry           [           tag 33          ][base 3][generation 6][fp 5][bx 5][offset 12]
 *                     63                        31
 *
 *   base        what the CFA stands on: rsp, rbp or rbx; or one of signal, end, other
 *   offset      CFA minus base, in words
 *   fp, bx      31: unchanged; n: saved at CFA - 256 + 8n, so that 31 too names a word that may be
 *               read (the return address), and the walk can choose without a branch
 *   generation  0: the module is permanent; else when the rule was computed
 *
 * A rule that does not fit is kept whole in a second, smaller table, one sequence lock a slot.
 *
 * Generations: a rule of a module that may be unloaded holds only as long as the loader's epoch
 * stays what it was. A walk opens with the current epoch and gets its generation; entries of others
 * are misses. A rule is published only if the epoch has not moved since the walk began, so one that
 * was computed before an unload is never found after it. When the 63 generations are used up, all
 * entries but the permanent ones are cleared, at a moment at which nobody publishes.
 *
 * Zone: SIGNAL.
 * Locks: one try-lock for a change of generation, never waited for.
 * Owns: both tables (192 KiB of .bss, untouched until the first walk).
 */
#ifndef PP_UNWIND_RULE_CACHE_H
#define PP_UNWIND_RULE_CACHE_H

#include "arch/registers.h"
#include "unwind/rule.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PP_CACHE_INDEX_BITS = 14,
    PP_CACHE_TAG_BITS = PP_ADDRESS_BITS - PP_CACHE_INDEX_BITS,
    PP_CACHE_PAYLOAD_BITS = 31
};
_Static_assert(PP_CACHE_TAG_BITS + PP_CACHE_PAYLOAD_BITS == 64, "an entry is one word");

typedef enum pp_base {
    PP_BASE_SP,
    PP_BASE_FP,
    /* From here on not for the walk's inner loop: the highest of the three bits is set. */
    PP_BASE_BX = 4,
    PP_BASE_SIGNAL,
    PP_BASE_END,
    PP_BASE_OTHER /* offset 0: no rule for this PC; 1: the rule is in the second table */
} pp_base;

/* The generation of a walk that may neither use nor publish rules of removable modules. */
#define PP_GENERATION_UNKNOWN 64u

extern uint64_t pp_rule_cache_entries[1u << PP_CACHE_INDEX_BITS];

/*
 * A caller's key is its return address as it stands, that of an instruction the address plus 1. The
 * low bits of code addresses are as good as a hash, and one operation is all that the walk's
 * critical path has to pay for it.
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

/* Where a saved register lies: words above CFA - 256. */
enum { PP_CACHE_UNCHANGED = 31, PP_CACHE_SAVES_BELOW_CFA = 256 };

static inline unsigned pp_cache_fp(uint64_t entry)
{
    return (unsigned)(entry >> 17) & 31;
}

static inline unsigned pp_cache_bx(uint64_t entry)
{
    return (unsigned)(entry >> 12) & 31;
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

/* Whether the entry is for this key and stands on rsp or rbp: one comparison, since the bit that
 * marks the other bases lies just below the tag. An empty entry can pass, with an offset of 0. */
static inline bool pp_cache_is_usual(uint64_t entry, uintptr_t key)
{
    return entry >> (PP_CACHE_PAYLOAD_BITS - 1) == pp_cache_tag(key) << 1;
}

/* The entry of `pc` if it holds in `generation`, else 0 (which no entry is: its tag is not 0). */
static inline uint64_t pp_rule_cache_lookup(uintptr_t pc, unsigned generation)
{
    uintptr_t key = pp_cache_key(pc);
    uint64_t entry = __atomic_load_n(&pp_rule_cache_entries[pp_cache_index(key)], __ATOMIC_RELAXED);
    unsigned made = pp_cache_generation(entry);
    if (entry >> PP_CACHE_PAYLOAD_BITS != pp_cache_tag(key) || (made != 0 && made != generation)) {
        return 0;
    }
    return entry;
}

/* The generation that belongs to the loader's `epoch`; changes it if the epoch is new. */
unsigned pp_rule_cache_generation(uint64_t epoch);

/* The whole rule of a PP_BASE_BIG entry; false, and *rule is anything, if the slot has been given
 * to another PC. */
bool pp_rule_cache_big(uintptr_t pc, unsigned generation, pp_rule *rule);

/*
 * Publishes the rule of `pc`, computed by a walk that began at `epoch` in `generation`. Does
 * nothing if the loader has moved on since. With signals blocked: a publisher whom a jump out of a
 * handler has left counts for ever.
 */
void pp_rule_cache_publish(uintptr_t pc, const pp_rule *rule, uint64_t epoch, unsigned generation);

/* In the child of fork: other threads that were in the middle of something do not exist. */
void pp_rule_cache_after_fork_in_child(void);

/* Forgets everything (tests, benchmarks). Not while another thread walks. */
void pp_rule_cache_clear(void);

#endif
