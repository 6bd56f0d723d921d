/* SPDX-License-Identifier: MIT
 *
 * heap_profile.c: from raw samples to estimates, sorted.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Locks: none.
 * Owns: nothing.
 */
#include "profile/heap_profile.h"

#include "base/exponential.h"
#include "base/sort.h"
#include "base/text.h"
#include "sample/heap.h"
#include "sample/cpu_session.h"
#include "store/heap_buckets.h"
#include "store/heap_peak.h"
#include "sys/modules.h"

#include <errno.h>
#include <string.h>
#include <time.h>

enum { ALLOC_OBJECTS, ALLOC_SPACE, INUSE_OBJECTS, INUSE_SPACE, VALUES };

enum { MAX_COMMENTS = 3 };

typedef struct row {
    const pp_heap_stack *stack;
    uint64_t size; /* of the bucket: rows of one stack and size differ in the rate alone */
    uint64_t alloc_objects, alloc_bytes; /* raw */
    int64_t value[VALUES];
} row;

typedef struct rows {
    row *list;
    size_t count;
    int first_value; /* by which they are ordered */
} rows;

/* ---- estimates ---- */

static int64_t rounded(double value)
{
    return value < 9.2e18 ? (int64_t)(value + 0.5) : INT64_MAX;
}

/* Never 0 blocks of some bytes: a block stands for at least itself. */
static void scale(uint64_t objects, uint64_t bytes, uint64_t rate, int64_t *blocks, int64_t *space)
{
    if (objects == 0) {
        *blocks = *space = 0;
        return;
    }
    double each = pp_blocks_per_sample((double)bytes / (double)objects, rate);
    *blocks = rounded((double)objects * each);
    *space = rounded((double)bytes * each);
}

/* What is gone of mappings that are not whole weighs as much as they do. */
static int64_t scale_trimmed(const pp_heap_bucket *bucket, const pp_heap_counts *counts)
{
    if (counts->trimmed_bytes == 0) {
        return 0;
    }
    double whole = (double)(counts->alloc_bytes - counts->free_bytes) /
                   (double)(counts->alloc_objects - counts->free_objects);
    return rounded((double)counts->trimmed_bytes * pp_blocks_per_sample(whole, bucket->rate));
}

static void fill_row(row *r, const pp_heap_bucket *bucket, const pp_heap_counts *counts)
{
    r->stack = bucket->stack;
    r->size = bucket->size;
    r->alloc_objects = counts->alloc_objects;
    r->alloc_bytes = counts->alloc_bytes;
    scale(counts->alloc_objects, counts->alloc_bytes, bucket->rate, &r->value[ALLOC_OBJECTS],
          &r->value[ALLOC_SPACE]);
    scale(counts->alloc_objects - counts->free_objects, counts->alloc_bytes - counts->free_bytes,
          bucket->rate, &r->value[INUSE_OBJECTS], &r->value[INUSE_SPACE]);
    r->value[INUSE_SPACE] -= scale_trimmed(bucket, counts);
}

/* ---- order ---- */

static int compare_stacks(const pp_heap_stack *x, const pp_heap_stack *y)
{
    for (uint32_t i = 0; i < x->depth && i < y->depth; i++) {
        if (x->pc[i] != y->pc[i]) {
            return x->pc[i] < y->pc[i] ? -1 : 1;
        }
    }
    return (x->depth > y->depth) - (x->depth < y->depth);
}

static int compare_places(const row *x, const row *y)
{
    int order = x->stack != y->stack ? compare_stacks(x->stack, y->stack) : 0;
    return order != 0 ? order : (x->size > y->size) - (x->size < y->size);
}

static int by_place(const void *a, const void *b, void *context)
{
    const rows *all = context;
    return compare_places(&all->list[*(const uint32_t *)a], &all->list[*(const uint32_t *)b]);
}

static int by_value(const void *a, const void *b, void *context)
{
    const rows *all = context;
    const row *x = &all->list[*(const uint32_t *)a];
    const row *y = &all->list[*(const uint32_t *)b];
    int64_t u = x->value[all->first_value];
    int64_t v = y->value[all->first_value];
    if (u != v) {
        return u > v ? -1 : 1;
    }
    return compare_places(x, y);
}

/* By way of indices: an item of the sort has to be small. */
static bool sort_rows(rows *all, pp_sort_compare *compare, pp_arena *arena)
{
    uint32_t *order = pp_arena_array(arena, all->count + 1, sizeof *order);
    row *sorted = pp_arena_array(arena, all->count + 1, sizeof *sorted);
    if (order == NULL || sorted == NULL) {
        return false;
    }
    for (size_t i = 0; i < all->count; i++) {
        order[i] = (uint32_t)i;
    }
    pp_sort(order, all->count, sizeof *order, compare, all);
    for (size_t i = 0; i < all->count; i++) {
        sorted[i] = all->list[order[i]];
    }
    all->list = sorted;
    return true;
}

/* Rows of one place that were sampled at different rates become one, now that they are scaled. */
static void merge_rates(rows *all)
{
    size_t kept = 0;
    for (size_t i = 0; i < all->count; i++) {
        row *last = kept > 0 ? &all->list[kept - 1] : NULL;
        if (last == NULL || compare_places(last, &all->list[i]) != 0) {
            all->list[kept++] = all->list[i];
            continue;
        }
        last->alloc_objects += all->list[i].alloc_objects;
        last->alloc_bytes += all->list[i].alloc_bytes;
        for (int k = 0; k < VALUES; k++) {
            last->value[k] += all->list[i].value[k];
        }
    }
    all->count = kept;
}

static bool collect_current(rows *all, pp_arena *arena)
{
    const pp_heap_bucket *newest = pp_heap_buckets_newest();
    size_t capacity = 0;
    for (const pp_heap_bucket *b = newest; b != NULL; b = b->next) {
        capacity++;
    }
    all->list = pp_arena_array(arena, capacity + 1, sizeof *all->list);
    if (all->list == NULL) {
        return false;
    }
    for (const pp_heap_bucket *b = newest; b != NULL; b = b->next) {
        pp_heap_counts counts;
        pp_heap_bucket_counts(b, &counts);
        row *r = &all->list[all->count];
        fill_row(r, b, &counts);
        all->count += r->alloc_objects > 0;
    }
    return true;
}

static bool collect_peak(rows *all, pp_arena *arena)
{
    pp_heap_peak_copy copy;
    pp_heap_peak_take(&copy);
    all->list = pp_arena_array(arena, copy.count + 1, sizeof *all->list);
    if (all->list != NULL) {
        for (size_t i = 0; i < copy.count; i++) {
            fill_row(&all->list[i], copy.entries[i].bucket, &copy.entries[i].counts);
        }
        all->count = copy.count;
    }
    pp_heap_peak_give(&copy);
    return all->list != NULL;
}

static bool collect_rows(pp_heap_view view, rows *all, pp_arena *arena)
{
    if (!(view == PP_HEAP_PEAK ? collect_peak(all, arena) : collect_current(all, arena))) {
        return false;
    }
    if (!sort_rows(all, by_place, arena)) {
        return false;
    }
    merge_rates(all);
    return sort_rows(all, by_value, arena);
}

/* ---- the model ---- */

static void fill_lost(pp_profile_sample *sample, uintptr_t *pc, const pp_heap_facts *facts)
{
    *pc = (uintptr_t)pprof_lost_samples + 1;
    *sample = (pp_profile_sample){.pc = pc, .depth = 1};
    sample->value[ALLOC_OBJECTS] = rounded(facts->lost_objects);
    sample->value[ALLOC_SPACE] = rounded(facts->lost_bytes);
}

static int fill_samples(const rows *all, const pp_heap_facts *facts, pp_arena *arena,
                        pp_profile *profile)
{
    pp_profile_sample *samples = pp_arena_array(arena, all->count + 1, sizeof *samples);
    pp_sample_label *labels = pp_arena_array(arena, all->count + 1, sizeof *labels);
    uintptr_t *lost = pp_arena_array(arena, 1, sizeof *lost);
    if (samples == NULL || labels == NULL || lost == NULL) {
        return -ENOMEM;
    }
    size_t count = all->count;
    for (size_t i = 0; i < count; i++) {
        const row *r = &all->list[i];
        labels[i] = (pp_sample_label){.key = "bytes",
                                      .number = (int64_t)(r->alloc_bytes / r->alloc_objects),
                                      .unit = "bytes"};
        samples[i] = (pp_profile_sample){
            .pc = r->stack->pc, .depth = r->stack->depth, .label_count = 1, .labels = &labels[i]};
        memcpy(samples[i].value, r->value, sizeof r->value);
    }
    if (facts->lost_samples > 0) {
        fill_lost(&samples[count++], lost, facts);
    }
    profile->samples = samples;
    profile->sample_count = count;
    return 0;
}

/* ---- comments ---- */

static void add_part(pp_text *text, uint64_t count, const char *what)
{
    if (count > 0) {
        pp_text_add(text, ", ");
        pp_text_add_number(text, count);
        pp_text_add(text, what);
    }
}

static const char *finish(pp_arena *arena, const pp_text *text)
{
    return pp_arena_text(arena, text->data, text->length);
}

static const char *comment_on_stacks(const pp_heap_facts *facts, pp_arena *arena)
{
    uint64_t total = 0;
    for (unsigned i = 0; i < PP_STOP_COUNT; i++) {
        total += facts->stops[i];
    }
    pp_text text = PP_TEXT_INIT;
    pp_text_add(&text, "libpprof: of ");
    pp_text_add_number(&text, total);
    pp_text_add(&text, " blocks sampled ");
    pp_text_add_number(&text, facts->stops[PP_STOP_END] - facts->guessed_whole);
    pp_text_add(&text, " have whole stacks");
    add_part(&text, facts->guessed_whole,
             " reached the end by a guess at a frame without unwind information");
    add_part(&text, facts->stops[PP_STOP_TRUNCATED], " are deeper than the buffer");
    add_part(&text, facts->stops[PP_STOP_NO_RULE], " end in code without unwind information");
    add_part(&text, facts->stops[PP_STOP_BAD_READ], " end at an unreadable frame");
    return finish(arena, &text);
}

static int add_comments(const pp_heap_facts *facts, pp_arena *arena, pp_profile *profile)
{
    const char **list = pp_arena_array(arena, MAX_COMMENTS, sizeof *list);
    if (list == NULL) {
        return -ENOMEM;
    }
    list[profile->comment_count++] = comment_on_stacks(facts, arena);
    if (facts->lost_samples > 0) {
        pp_text text = PP_TEXT_INIT;
        pp_text_add(&text, "libpprof: ");
        pp_text_add_number(&text, facts->lost_samples);
        pp_text_add(&text, " samples lost: no memory for them; whether they are in use is unknown");
        list[profile->comment_count++] = finish(arena, &text);
    }
    profile->comments = list;
    return arena->failed ? -ENOMEM : 0;
}

static int64_t wall_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int pp_heap_profile_build(pp_heap_view view, pp_arena *arena, pp_profile *profile)
{
    *profile = (pp_profile){
        .sample_type_count = VALUES,
        .sample_type = {{"alloc_objects", "count"},
                        {"alloc_space", "bytes"},
                        {"inuse_objects", "count"},
                        {"inuse_space", "bytes"}},
        .default_sample_type = view == PP_HEAP_ALLOCS ? "alloc_space" : "inuse_space",
        .period_type = {"space", "bytes"},
        .period = pp_heap_rate(),
        .time_ns = wall_clock_ns(),
        .symbolize = PP_SYMBOLIZE_NAMES,
    };
    pp_heap_facts facts;
    pp_heap_facts_read(&facts);
    rows all = {.first_value = view == PP_HEAP_ALLOCS ? ALLOC_SPACE : INUSE_SPACE};
    if (!collect_rows(view, &all, arena)) {
        return -ENOMEM;
    }
    int error = fill_samples(&all, &facts, arena, profile);
    if (error == 0) {
        error = add_comments(&facts, arena, profile);
    }
    if (error != 0) {
        return error;
    }
    pp_mapping *mappings = NULL;
    size_t count = 0;
    error = pp_modules_mappings(arena, &mappings, &count);
    if (error == -ENOMEM) {
        return error;
    }
    profile->mappings = mappings; /* without /proc/self/maps: the objects alone */
    profile->mapping_count = count;
    return 0;
}
