/* SPDX-License-Identifier: MIT
 *
 * lifetime_profile.c: joins the two stacks of a lifetime, and adds up blocks that differ only in
 * size.
 *
 *   the joined stack, from its root:   main -> make -> pprof_freed -> main -> drop
 *                                      \_ allocated _/               \_ freed _/
 *   label   lifetime    what the blocks lived at least: 0, 1, 2, 4, 8 ... microseconds
 *
 * The first stack is the heap profile's, so that a flame graph of both looks alike; the leaf, and so
 * a flat value, is the function that frees.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: e2e.lifetime
 */
#include "kinds/heap/lifetime_profile.h"

#include "base/exponential.h"
#include "base/pseudo_frame.h"
#include "base/sort.h"
#include "base/text.h"
#include "encode/location_names.h"
#include "encode/proto.h"
#include "kinds/heap/heap.h"
#include "kinds/heap/lifetimes.h"
#include "output/symbolize.h"
#include "profile/label_shares.h"
#include "profile/mappings.h"
#include "profile/samples.h"
#include "symbol/omitted_functions.h"
#include "sys/clock.h"

#include <errno.h>
#include <string.h>

PP_PSEUDO_FRAME(pprof_freed)

enum {
    SLACK = 1024, /* entries that are made meanwhile */
    PASSING = 3, /* functions that call each other down to the hook: operator new[], operator new */
    MAX_COMMENTS = 2
};

enum { FREED_OBJECTS, FREED_SPACE, LIFETIME, VALUES };

/* ---- rows ---- */

typedef struct row {
    const pp_trie_stack *allocated, *freed;
    const pprof_labels *labels;
    uint64_t least_us;
    double value[VALUES];
} row;

typedef struct rows {
    pp_label_shares shares;
    row *list;
    size_t count, capacity;
} rows;

static void count_entry(const pp_stack_entry *entry, void *context)
{
    (void)entry;
    ++*(size_t *)context;
}

size_t pp_lifetime_profile_count(void)
{
    size_t count = 0;
    if (pp_lifetimes_are_wanted()) {
        pp_stack_counts_each(pp_lifetimes_table(), count_entry, &count);
    }
    return count;
}

/* The number of blocks, and their bytes, that one sample represents: means in a class of sizes. */
static void weigh(const pp_heap_bucket *bucket, double *blocks, double *bytes)
{
    pp_heap_counts counts;
    *blocks = bucket->least_blocks;
    *bytes = *blocks * (double)bucket->size;
    if (bucket->is_class) {
        pp_heap_bucket_counts(bucket, &counts);
        if (counts.free_objects > 0) {
            double size = (double)counts.free_bytes / (double)counts.free_objects;
            *blocks = pp_blocks_per_sample(size, bucket->rate);
            *bytes = *blocks * size;
        }
    }
}

static void add_row(rows *r, const pp_lifetime *from, const pprof_labels *labels, uint64_t blocks,
                    uint64_t sum_us)
{
    double each = 0;
    double bytes = 0;
    if (blocks == 0 || r->count == r->capacity) {
        return;
    }
    weigh(from->bucket, &each, &bytes);
    r->list[r->count++] = (row){
        .allocated = from->bucket->stack,
        .freed = from->freed,
        .labels = labels,
        .least_us = from->least_us,
        .value = {(double)blocks * each, (double)blocks * bytes, (double)sum_us * each},
    };
}

static uint64_t lesser(uint64_t x, uint64_t y)
{
    return x < y ? x : y;
}

static void read_entry(const pp_stack_entry *entry, void *context)
{
    rows *r = context;
    pp_lifetime from = pp_lifetime_of(entry);
    size_t parts = 0;
    const pp_label_share *share = pp_label_shares_of(&r->shares, entry, &parts);
    for (size_t i = 0; i < parts; i++) {
        uint64_t blocks = lesser(share[i].value[PP_LIFETIME_CELL_BLOCKS], from.blocks);
        uint64_t sum_us = lesser(share[i].value[PP_LIFETIME_CELL_SUM], from.sum_us);
        from.blocks -= blocks;
        from.sum_us -= sum_us;
        add_row(r, &from, share[i].labels, blocks, sum_us);
    }
    add_row(r, &from, NULL, from.blocks, from.sum_us);
}

static int order(uintptr_t x, uintptr_t y)
{
    return (x > y) - (x < y);
}

static int compare(const void *a, const void *b, void *unused)
{
    (void)unused;
    const row *x = a;
    const row *y = b;
    int by_stack = order((uintptr_t)x->allocated, (uintptr_t)y->allocated);
    int by_freed = order((uintptr_t)x->freed, (uintptr_t)y->freed);
    int by_class = order(x->least_us, y->least_us);
    return by_stack != 0   ? by_stack
           : by_freed != 0 ? by_freed
           : by_class != 0 ? by_class
                           : order((uintptr_t)x->labels, (uintptr_t)y->labels);
}

static void merge(rows *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->count; i++) {
        if (kept == 0 || compare(&r->list[kept - 1], &r->list[i], NULL) != 0) {
            r->list[kept++] = r->list[i];
            continue;
        }
        for (unsigned v = 0; v < VALUES; v++) {
            r->list[kept - 1].value[v] += r->list[i].value[v];
        }
    }
    r->count = kept;
}

static int fill_rows(rows *r, pp_arena *arena)
{
    *r = (rows){0};
    int error = pp_label_shares_read(pp_lifetimes_labels(), arena, &r->shares);
    if (error != 0) {
        return error;
    }
    r->capacity = pp_lifetime_profile_count() + r->shares.count + SLACK;
    r->list = pp_arena_array(arena, r->capacity, sizeof *r->list);
    if (r->list == NULL) {
        return -ENOMEM;
    }
    pp_stack_counts_each(pp_lifetimes_table(), read_entry, r);
    pp_sort(r->list, r->count, sizeof *r->list, compare, NULL);
    merge(r);
    return 0;
}

/* ---- the model ---- */

/* The names of the frames next to the hooks of stacks that allocated. */
typedef struct nearest {
    pp_location_table locations;
    pp_location_names names;
} nearest;

static uint32_t count_hooks(const pp_trie_stack *stack)
{
    uint32_t hooks = 0;
    while (hooks + 1 < stack->depth && pp_code_is_allocator(stack->pc[hooks] - 1)) {
        hooks++;
    }
    return hooks;
}

/* Returns the id of the location `k` frames outside of the hooks; 0 = there is none. */
static uint32_t near_hook(nearest *near, const pp_trie_stack *stack, uint32_t hooks, uint32_t k)
{
    uintptr_t pc = hooks > 0 && hooks + k + 1 < stack->depth ? stack->pc[hooks + k] : 0;
    return pc != 0 ? pp_location_table_id(&near->locations, pc - 1) : 0;
}

static int find_nearest(const rows *r, pp_arena *arena, nearest *near)
{
    pp_profile named = {.symbolize = PP_SYMBOLIZE_NAMES};
    pp_location_table_init(&near->locations, arena);
    for (size_t i = 0; i < r->count; i++) {
        const pp_trie_stack *stack = r->list[i].allocated;
        if (i == 0 || stack != r->list[i - 1].allocated) {
            uint32_t hooks = count_hooks(stack);
            for (uint32_t k = 0; k < PASSING; k++) {
                near_hook(near, stack, hooks, k);
            }
        }
    }
    int error = near->locations.failed ? -ENOMEM : pp_profile_add_mappings(arena, &named);
    return error != 0 ? error
                      : pp_location_names_find(&named, &near->locations, arena, &near->names);
}

/* Returns the number of frames of the allocator at the leaf: hooks, and what has called them for
 * the program, as musl's calloc and C++'s operator new call malloc. */
static uint32_t count_allocator(nearest *near, const pp_trie_stack *stack)
{
    uint32_t hooks = count_hooks(stack);
    for (uint32_t k = 0; k < PASSING; k++) {
        uint32_t id = near_hook(near, stack, hooks, k);
        const pp_symbol *symbol = id != 0 ? &near->names.symbols[id - 1] : NULL;
        if (symbol == NULL || symbol->name == NULL || symbol->is_place ||
            !pp_symbol_is_allocator(symbol->name, symbol->is_local)) {
            return hooks + k;
        }
    }
    return hooks + PASSING;
}

/* The stack that allocated is outside of the other one. Its allocator's frames are left out here;
 * those of the stack that freed are at the leaf of all, where the encoder leaves them out. */
static uintptr_t *join(nearest *near, const row *r, uint32_t *depth, pp_arena *arena)
{
    uint32_t inner = count_allocator(near, r->allocated);
    uint32_t rest = r->allocated->depth - inner;
    uintptr_t *pc = pp_arena_array(arena, r->freed->depth + 1 + rest, sizeof *pc);
    if (pc != NULL) {
        memcpy(pc, r->freed->pc, r->freed->depth * sizeof *pc);
        pc[r->freed->depth] = (uintptr_t)pprof_freed + 1;
        memcpy(pc + r->freed->depth + 1, r->allocated->pc + inner, rest * sizeof *pc);
        *depth = r->freed->depth + 1 + rest;
    }
    return pc;
}

/* Rows of one pair of stacks follow each other, and share the joined one. */
static int add_samples(const rows *r, nearest *near, pp_samples *samples, pp_arena *arena)
{
    uintptr_t *pc = NULL;
    uint32_t depth = 0;
    for (size_t i = 0; i < r->count; i++) {
        const row *at = &r->list[i];
        if (i == 0 || at->allocated != at[-1].allocated || at->freed != at[-1].freed) {
            pc = join(near, at, &depth, arena);
        }
        pp_sample_label *own = pp_arena_array(arena, 1, sizeof *own);
        if (pc == NULL || own == NULL) {
            return -ENOMEM;
        }
        *own = (pp_sample_label){
            .key = "lifetime", .number = (int64_t)at->least_us, .unit = "microseconds"};
        pp_profile_sample sample = {.pc = pc, .depth = depth};
        for (unsigned v = 0; v < VALUES; v++) {
            sample.value[v] = (int64_t)(at->value[v] + 0.5);
        }
        if (!pp_labels_to_sample_labels(at->labels, own, 1, arena, &sample)) {
            return -ENOMEM;
        }
        pp_samples_add(samples, &sample);
    }
    return 0;
}

static int fill_samples(const rows *r, pp_arena *arena, pp_profile *profile)
{
    pp_samples samples;
    nearest near;
    int error = pp_samples_init(&samples, r->count, arena);
    if (error == 0) {
        error = find_nearest(r, arena, &near);
    }
    if (error == 0) {
        error = add_samples(r, &near, &samples, arena);
    }
    return error == 0 ? pp_samples_give(&samples, FREED_SPACE, arena, profile) : error;
}

static const char *tell_lost(pp_arena *arena)
{
    pp_text text = PP_TEXT_INIT;
    pp_text_add(&text, "libpprof: ");
    pp_text_add_count(&text, pp_lifetimes_lost(), " sampled [free|frees] could not be recorded");
    return pp_arena_text(arena, text.data, text.length);
}

/* A difference of two moments has a duration instead. */
static const char *tell_time(pp_arena *arena)
{
    pp_text text = PP_TEXT_INIT;
    pp_text_add(&text, "libpprof: blocks that were allocated and freed in the last ");
    pp_text_add_count(&text, (pp_clock_ns(CLOCK_MONOTONIC) - pp_lifetimes_since()) / PP_NS_PER_S,
                      " [second|seconds]");
    return pp_arena_text(arena, text.data, text.length);
}

static int add_comments(pp_arena *arena, pp_profile *profile, bool has_time)
{
    const char **list = pp_arena_array(arena, MAX_COMMENTS, sizeof *list);
    if (list == NULL) {
        return -ENOMEM;
    }
    if (has_time) {
        list[profile->comment_count++] = tell_time(arena);
    }
    if (pp_lifetimes_lost() > 0) {
        list[profile->comment_count++] = tell_lost(arena);
    }
    profile->comments = list;
    return arena->failed ? -ENOMEM : 0;
}

static int build(pp_arena *arena, pp_profile *profile, bool has_time)
{
    rows r = {0};
    *profile = (pp_profile){
        .sample_type_count = VALUES,
        .sample_type = {[FREED_OBJECTS] = {"freed_objects", "count"},
                        [FREED_SPACE] = {"freed_space", "bytes"},
                        [LIFETIME] = {"lifetime", "microseconds"}},
        .default_sample_type = "freed_space",
        .period_type = {"space", "bytes"},
        .period = pp_heap_rate(),
        .time_ns = (int64_t)pp_clock_ns(CLOCK_REALTIME),
        .hide_allocators = true,
    };
    int error = pp_lifetimes_want();
    if (error == 0) {
        error = fill_rows(&r, arena);
    }
    if (error == 0) {
        error = fill_samples(&r, arena, profile);
    }
    pp_label_shares_release(&r.shares);
    if (error == 0) {
        error = pp_profile_add_mappings(arena, profile);
    }
    return error == 0 ? add_comments(arena, profile, has_time) : error;
}

int pp_lifetime_profile_build(pp_arena *arena, pp_profile *profile)
{
    return build(arena, profile, false);
}

int pp_lifetime_profile_write(pprof_writer writer, int debug)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_profile profile;
    int error = debug == 0 ? build(&arena, &profile, true) : -ENOTSUP;
    if (error == 0) {
        profile.symbolize = pp_symbolize_wanted();
        error = pp_proto_encode(&profile, &arena, writer);
    }
    pp_arena_release(&arena);
    return error;
}
