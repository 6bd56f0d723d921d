/* SPDX-License-Identifier: MIT
 *
 * heap.c: draws the intervals between samples, and records samples and their frees.
 *
 * Zone: HOOK.
 * Owns: the rate; the TLS of the sampler; the counts of lost samples.
 */
#include "kinds/heap/heap.h"

#include "arch/registers.h"
#include "base/exponential.h"
#include "base/random.h"
#include "base/stack_hash.h"
#include "kinds/heap/heap_buckets.h"
#include "kinds/heap/heap_peak.h"
#include "kinds/heap/live_filter.h"
#include "kinds/heap/live_table.h"
#include "kinds/heap/memory_probes.h"
#include "modules/late.h"
#include "store/labels.h"
#include "sys/clock.h"
#include "sys/own_work.h"
#include "unwind/scratch.h"

#include <errno.h>

enum {
    /* The most frames of a stack, with the hook. The trie keeps each stack for ever: a deep
     * recursion must not leave kilobytes for each depth that it has reached. */
    DEPTH = 256,
    FIRST_GENERATION = 1 /* a new thread has 0 */
};

PP_TLS uint64_t pp_heap_countdown;

typedef struct interval {
    uint64_t rest;       /* bytes between the end of the countdown and the next sample */
    uint64_t rate;       /* the rate of the draw */
    uint64_t random;     /* 0 = not seeded */
    uint32_t generation; /* of the rate */
    bool mark;           /* pp_heap_mark(), where there is room */
} interval;

static PP_TLS interval thread;

/* A change writes the generation last: a thread that sees the new generation sees the new rate. */
static struct {
    int64_t rate;
    uint32_t generation;
    uint64_t look_bytes; /* each thread calls pp_heap_due() at least once in so many bytes */
    bool missed;         /* an allocation may be no sample */
    _Alignas(64) pp_heap_facts facts; /* a cache line that threads write */
    uint64_t seeded;                  /* threads that have seeded their generator */
} sampler = {.generation = FIRST_GENERATION, .look_bytes = PP_HEAP_LOOK_BYTES};

/* ---- intervals ---- */

static void seed_by_clock(void)
{
    uint64_t state = pp_clock_ns(CLOCK_MONOTONIC) ^ (uintptr_t)&thread;
    state += __atomic_add_fetch(&sampler.seeded, 1, __ATOMIC_RELAXED) << 48;
    thread.random = pp_random_next(&state) | 1;
}

void pp_heap_seed(uint64_t seed)
{
    thread.random = seed | 1;
    thread.generation = 0;
    pp_heap_countdown = 0;
}

static void set_distance(uint64_t bytes)
{
    uint64_t countdown = bytes < sampler.look_bytes ? bytes : sampler.look_bytes;
    thread.rest = bytes - countdown;
    pp_heap_countdown = countdown;
}

static void draw(void)
{
    if (thread.rate <= 1) {
        set_distance(0); /* the caller checks for 0, which is off */
    } else {
        set_distance(pp_draw_exponential(&thread.random, thread.rate));
    }
}

PP_COLD_PATH static void adopt_rate(uint32_t generation)
{
    if (thread.random == 0) {
        seed_by_clock();
    }
    thread.generation = generation;
    thread.rate = (uint64_t)__atomic_load_n(&sampler.rate, __ATOMIC_RELAXED);
    if (thread.rate != 1 && !pp_own_work_has(PP_FRAME_TOP())) {
        __atomic_store_n(&sampler.missed, true, __ATOMIC_RELAXED);
    }
    draw();
}

uint64_t pp_heap_due(uint64_t size)
{
    uint32_t generation = __atomic_load_n(&sampler.generation, __ATOMIC_ACQUIRE);
    if (pp_unlikely(generation != thread.generation)) {
        adopt_rate(generation);
    }
    if (thread.rate == 0) {
        pp_heap_countdown = sampler.look_bytes;
        return 0;
    }
    uint64_t distance = pp_heap_countdown + thread.rest;
    if (size < distance) {
        set_distance(distance - size);
        return 0;
    }
    draw();
    return thread.rate;
}

int64_t pp_heap_rate(void)
{
    return __atomic_load_n(&sampler.rate, __ATOMIC_RELAXED);
}

int64_t pp_heap_set_rate(int64_t rate)
{
    pp_live_table_init();
    int64_t before = __atomic_exchange_n(&sampler.rate, rate, __ATOMIC_RELAXED);
    __atomic_add_fetch(&sampler.generation, 1, __ATOMIC_RELEASE);
    pp_heap_countdown = 0;
    return before;
}

bool pp_heap_has_all(void)
{
    return !pp_late_is() && pp_heap_rate() == 1 &&
           !__atomic_load_n(&sampler.missed, __ATOMIC_RELAXED);
}

void pp_heap_note_missed(void)
{
    __atomic_store_n(&sampler.missed, true, __ATOMIC_RELAXED);
}

bool pp_heap_rate_is_known(void)
{
    return __atomic_load_n(&sampler.generation, __ATOMIC_RELAXED) != FIRST_GENERATION;
}

void pp_heap_look_at_all(void)
{
    __atomic_store_n(&sampler.look_bytes, 0, __ATOMIC_RELAXED);
    pp_heap_set_rate(pp_heap_rate()); /* countdowns that have begun end soon */
    pp_live_filter_pass_all();
}

/* ---- samples ---- */

static void add_double(double *sum, double value)
{
    double before = 0;
    double after = 0;
    __atomic_load(sum, &before, __ATOMIC_RELAXED);
    do {
        after = before + value;
    } while (
        !__atomic_compare_exchange(sum, &before, &after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

PP_COLD_PATH void pp_heap_lose(uint64_t size, uint64_t rate)
{
    double blocks = pp_blocks_per_sample((double)size, rate);
    add_double(&sampler.facts.lost_objects, blocks);
    add_double(&sampler.facts.lost_bytes, blocks * (double)size);
    __atomic_add_fetch(&sampler.facts.lost_samples, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&sampler.missed, true, __ATOMIC_RELAXED);
}

pp_heap_block pp_heap_find_block(uintptr_t kind, uint64_t size, uint64_t rate,
                                 const pp_caller *caller, pp_heap_block_finder *find)
{
    pp_scratch *scratch = pp_scratch_take_at(caller->sp);
    if (scratch == NULL) {
        return 0;
    }
    uintptr_t *pcs = scratch->pcs;
    unsigned depth = 0;
    if (kind != 0) {
        pcs[depth++] = kind + 1; /* a return address, as in each frame (profile/model.h) */
    }
    if (caller->leaf != 0) {
        pcs[depth++] = caller->leaf + 1;
    }
    pp_walk *walk = &scratch->walk;
    *walk = (pp_walk){.pcs = pcs + depth,
                      .space = &scratch->space,
                      .capacity = DEPTH - depth,
                      .wants_hash = true};
    pp_walk_from_caller(caller, walk);
    uint64_t hash = walk->hash;
    for (unsigned i = depth; i-- > 0;) {
        hash = pp_stack_hash_extend(hash, pcs[i]);
    }
    pp_heap_block block = find(pcs, walk->depth + depth, hash, size, rate, pp_labels_current());
    pp_stops_count(&sampler.facts.stops, walk, 1);
    pp_scratch_give(scratch);
    return block;
}

/* If the address has a record, the program freed that block without calling a hook. */
static bool forget_stale(uintptr_t address)
{
    uint64_t record = pp_heap_detach(address);
    if (record != 0) {
        pp_memory_probe_free(address);
        pp_heap_freed(record);
    }
    return record != 0;
}

bool *pp_heap_mark(void)
{
    return &thread.mark;
}

void pp_heap_count_whole_stack(void)
{
    __atomic_add_fetch(&sampler.facts.stops.count[PP_STOP_END], 1, __ATOMIC_RELAXED);
}

bool pp_heap_record_block(uintptr_t address, uint64_t size, uint64_t rate, pp_heap_block block)
{
    int saved_errno = errno;
    bool was_there = forget_stale(address);
    if (block == 0) {
        pp_heap_lose(size, rate);
    } else {
        pp_heap_block_allocated(block);
        if (!pp_live_table_insert(address, block)) {
            pp_heap_block_forgotten(block);
            pp_heap_lose(size, rate);
        } else {
            if (pp_heap_peak_is_wanted()) {
                pp_heap_peak_add((int64_t)pp_heap_block_estimate(block));
            }
            pp_memory_probe_alloc(address, size, rate);
        }
    }
    errno = saved_errno;
    return was_there;
}

void pp_heap_record(uintptr_t address, uint64_t size, uint64_t rate, const pp_caller *caller)
{
    pp_heap_record_block(address, size, rate,
                         pp_heap_find_block(0, size, rate, caller, pp_heap_block_find));
}

uint64_t pp_heap_detach(uintptr_t address)
{
    uint64_t record = 0;
    if (!pp_live_filter_may_have(address) || !pp_live_table_remove(address, &record)) {
        return 0;
    }
    return record;
}

void pp_heap_freed(uint64_t record)
{
    if (!pp_heap_is_block(record)) {
        return;
    }
    bool counts = pp_heap_peak_is_wanted();
    int64_t bytes = counts ? (int64_t)pp_heap_block_estimate(record) : 0;
    pp_heap_block_freed(record); /* now its cell may become that of another bucket */
    if (counts) {
        pp_heap_peak_add(-bytes);
    }
}

void pp_heap_reattach(uintptr_t address, uint64_t record, uint64_t birth_ns)
{
    if (!pp_live_table_insert_again(address, record, birth_ns)) {
        pp_heap_freed(record);
    }
}

bool pp_heap_remember(uintptr_t address)
{
    pp_live_table_init();
    return pp_live_table_insert(address, PP_HEAP_FOREIGN);
}

static bool forget_block(uint64_t record)
{
    pp_heap_freed(record);
    return record != PP_HEAP_FOREIGN;
}

void pp_heap_forget_blocks(void)
{
    pp_live_table_remove_all(forget_block);
}

/* ---- reading ---- */

void pp_heap_facts_read(pp_heap_facts *read)
{
    pp_stops_read(&sampler.facts.stops, &read->stops);
    __atomic_load(&sampler.facts.lost_objects, &read->lost_objects, __ATOMIC_RELAXED);
    __atomic_load(&sampler.facts.lost_bytes, &read->lost_bytes, __ATOMIC_RELAXED);
    read->lost_samples = __atomic_load_n(&sampler.facts.lost_samples, __ATOMIC_RELAXED);
}

void pp_heap_after_fork_in_child(void)
{
    pp_live_table_after_fork_in_child();
    pp_heap_peak_after_fork_in_child();
    /* The intervals are to differ from those of the parent and of its other children. */
    thread = (interval){0};
    pp_heap_countdown = 0;
}
