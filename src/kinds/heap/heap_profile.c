/* SPDX-License-Identifier: MIT
 *
 * heap_profile.c: turns rows of the heap into samples, and adds comments.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: unit.heap_threads, e2e.heap, e2e.labels
 */
#include "kinds/heap/heap_profile.h"

#include "base/pseudo_frame.h"
#include "base/text.h"
#include "encode/proto.h"
#include "kinds/heap/heap.h"
#include "kinds/heap/heap_ages.h"
#include "kinds/heap/heap_buckets.h"
#include "kinds/heap/heap_rows.h"
#include "kinds/heap/jemalloc_samples.h"
#include "output/symbolize.h"
#include "profile/mappings.h"
#include "profile/samples.h"
#include "sys/clock.h"

#include <errno.h>
#include <string.h>

enum { MAX_COMMENTS = 4 + PP_STOP_MAX_COMMENTS };

static int64_t rounded(double value)
{
    return value < 9.2e18 ? (int64_t)(value + 0.5) : INT64_MAX;
}

/* ---- the model ---- */

static void fill_lost(pp_profile_sample *sample, uintptr_t *pc, const pp_heap_facts *facts)
{
    *pc = (uintptr_t)pprof_lost_samples + 1;
    *sample = (pp_profile_sample){.pc = pc, .depth = 1};
    sample->value[PP_HEAP_ALLOC_OBJECTS] = rounded(facts->lost_objects);
    sample->value[PP_HEAP_ALLOC_SPACE] = rounded(facts->lost_bytes);
}

static int fill_samples(const pp_heap_rows *all, const pp_heap_facts *facts, pp_arena *arena,
                        pp_profile *profile)
{
    pp_profile_sample *samples = pp_arena_array_filled(arena, all->count + 1, sizeof *samples);
    pp_sample_label *labels = pp_arena_array_filled(arena, all->count + 1, sizeof *labels);
    uintptr_t *lost = pp_arena_array(arena, 1, sizeof *lost);
    if (samples == NULL || labels == NULL || lost == NULL) {
        return -ENOMEM;
    }
    size_t count = all->count;
    for (size_t i = 0; i < count; i++) {
        const pp_heap_row *r = &all->list[i];
        labels[i] = (pp_sample_label){.key = "bytes",
                                      .number = (int64_t)(r->alloc_bytes / r->alloc_objects),
                                      .unit = "bytes"};
        samples[i] = (pp_profile_sample){.pc = r->stack->pc, .depth = r->stack->depth};
        memcpy(samples[i].value, r->value, sizeof r->value);
        if (!pp_labels_to_sample_labels(r->labels, &labels[i], 1, arena, &samples[i])) {
            return -ENOMEM;
        }
    }
    if (all->scaled && facts->lost_samples > 0) {
        fill_lost(&samples[count++], lost, facts);
    }
    profile->samples = samples;
    profile->sample_count = count;
    return 0;
}

/* ---- ages ---- */

/* The part of `value` that belongs to blocks `from` to `to` of `all`. */
static int64_t part_of(int64_t value, uint64_t from, uint64_t to, uint64_t all)
{
    double each = (double)value / (double)all;
    return rounded(each * (double)to) - rounded(each * (double)from);
}

/* Adds `age` to the labels of a sample. */
static bool add_age(pp_profile_sample *sample, int64_t age_s, pp_arena *arena)
{
    pp_sample_label *labels = pp_arena_array(arena, sample->label_count + 1, sizeof *labels);
    if (labels == NULL) {
        return false;
    }
    memcpy(labels, sample->labels, sample->label_count * sizeof *labels);
    labels[sample->label_count] =
        (pp_sample_label){.key = "age", .number = age_s, .unit = "seconds"};
    sample->labels = labels;
    sample->label_count++;
    return true;
}

/* Divides a sample among the ages of its blocks; what was allocated stays with the first of them.
 * Returns how many samples it becomes; 0: no memory. */
static size_t divide(const pp_profile_sample *whole, const pp_heap_age *ages, size_t count,
                     pp_profile_sample *parts, pp_arena *arena)
{
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++) {
        all += ages[i].count;
    }
    parts[0] = *whole;
    if (all == 0 || whole->value[PP_HEAP_INUSE_OBJECTS] < (int64_t)all) {
        return 1; /* all are freed, or blocks have come meanwhile */
    }
    for (size_t i = 0, from = 0; i < count; from += ages[i++].count) {
        parts[i] = *whole;
        for (int k = PP_HEAP_ALLOC_OBJECTS; k <= PP_HEAP_ALLOC_SPACE; k++) {
            parts[i].value[k] = i == 0 ? whole->value[k] : 0;
        }
        for (int k = PP_HEAP_INUSE_OBJECTS; k <= PP_HEAP_INUSE_SPACE; k++) {
            parts[i].value[k] = part_of(whole->value[k], from, from + ages[i].count, all);
        }
        if (ages[i].age_s != PP_HEAP_AGE_UNKNOWN && !add_age(&parts[i], ages[i].age_s, arena)) {
            return 0;
        }
    }
    return count;
}

/* The first samples of the profile are of the rows. */
static int divide_by_age(const pp_heap_rows *rows, pp_arena *arena, pp_profile *profile)
{
    pp_heap_ages ages;
    int error = pp_heap_ages_read(arena, &ages);
    size_t capacity = profile->sample_count + ages.count + 1;
    pp_profile_sample *samples = pp_arena_array(arena, capacity, sizeof *samples);
    size_t count = 0;
    if (error != 0 || samples == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < profile->sample_count; i++) {
        size_t parts = 0;
        const pp_heap_age *list =
            i < rows->count ? pp_heap_ages_of(&ages, &rows->list[i], &parts) : NULL;
        size_t made = divide(&profile->samples[i], list, parts, &samples[count], arena);
        if (made == 0) {
            return -ENOMEM;
        }
        count += made;
    }
    profile->samples = samples;
    profile->sample_count = count;
    return 0;
}

/* ---- comments ---- */

static const char *finish(pp_arena *arena, const pp_text *text)
{
    return pp_arena_text(arena, text->data, text->length);
}

static const char *comment_on_stacks(const pp_heap_facts *facts, pp_arena *arena)
{
    pp_text text = PP_TEXT_INIT;
    pp_text_add(&text, "libpprof: ");
    pp_stops_describe(&facts->stops, " [block|blocks] sampled", &text);
    return finish(arena, &text);
}

static int add_comments(const pp_heap_facts *facts, pp_arena *arena, pp_profile *profile)
{
    const char **list = pp_arena_array(arena, MAX_COMMENTS, sizeof *list);
    if (list == NULL) {
        return -ENOMEM;
    }
    list[profile->comment_count++] = comment_on_stacks(facts, arena);
    for (size_t rank = 0; rank < PP_STOP_MAX_COMMENTS; rank++) {
        pp_text text = PP_TEXT_INIT;
        pp_text_add(&text, "libpprof: ");
        if (pp_stops_describe_place(&facts->stops, rank, profile->mappings, profile->mapping_count,
                                    &text)) {
            list[profile->comment_count++] = finish(arena, &text);
        }
    }
    if (facts->lost_samples > 0) {
        pp_text text = PP_TEXT_INIT;
        pp_text_add(&text, "libpprof: ");
        pp_text_add_count(&text, facts->lost_samples,
                          " [sample|samples] lost: no memory for [it|them]; whether [it is|they "
                          "are] in use is unknown");
        list[profile->comment_count++] = finish(arena, &text);
    }
    if (pp_jemalloc_about() != NULL) {
        pp_text text = PP_TEXT_INIT;
        pp_text_add(&text, "libpprof: ");
        pp_text_add(&text, pp_jemalloc_about());
        list[profile->comment_count++] = finish(arena, &text);
    }
    if (pp_label_cells_folded(pp_heap_buckets_labels()) > 0) {
        pp_text text = PP_TEXT_INIT;
        pp_text_add(&text, "libpprof: ");
        pp_text_add_count(&text, pp_label_cells_folded(pp_heap_buckets_labels()),
                          " [block|blocks] sampled [is|are] shown without [its|their] labels: "
                          "there were too many sets");
        list[profile->comment_count++] = finish(arena, &text);
    }
    profile->comments = list;
    return arena->failed ? -ENOMEM : 0;
}

int pp_heap_profile_of_rows(const pp_heap_rows *rows, pp_heap_view view, pp_arena *arena,
                            pp_profile *profile)
{
    *profile = (pp_profile){
        .sample_type_count = PP_HEAP_VALUES,
        .sample_type = {{"alloc_objects", "count"},
                        {"alloc_space", "bytes"},
                        {"inuse_objects", "count"},
                        {"inuse_space", "bytes"}},
        .default_sample_type = view == PP_HEAP_ALLOCS ? "alloc_space" : "inuse_space",
        .period_type = {"space", "bytes"},
        .period = pp_heap_rate(),
        .time_ns = (int64_t)pp_clock_ns(CLOCK_REALTIME),
        .hide_allocators = true,
    };
    pp_heap_facts facts;
    pp_heap_facts_read(&facts);
    int error = fill_samples(rows, &facts, arena, profile);
    if (error == 0) {
        error = pp_profile_add_mappings(arena, profile);
    }
    return error == 0 ? add_comments(&facts, arena, profile) : error;
}

static int build(pp_heap_view view, bool by_age, pp_arena *arena, pp_profile *profile)
{
    pp_heap_rows rows;
    int first = view == PP_HEAP_ALLOCS ? PP_HEAP_ALLOC_SPACE : PP_HEAP_INUSE_SPACE;
    pp_heap_moment moment = view == PP_HEAP_PEAK ? PP_HEAP_AT_PEAK : PP_HEAP_NOW_BY_LABELS;
    int error = pp_heap_rows_read(moment, PP_HEAP_SCALED, first, arena, &rows);
    if (error == 0) {
        error = pp_heap_profile_of_rows(&rows, view, arena, profile);
        if (error == 0 && by_age) {
            error = divide_by_age(&rows, arena, profile);
        }
        pp_heap_rows_release(&rows);
    }
    return error;
}

/* Without ages: the profile is compared with another moment's, when blocks are older. */
int pp_heap_profile_build(pp_heap_view view, pp_arena *arena, pp_profile *profile)
{
    return build(view, false, arena, profile);
}

int pp_heap_profile_write(pp_heap_view view, pprof_writer writer)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_profile profile;
    bool by_age = view == PP_HEAP_INUSE && pp_heap_ages_are_wanted();
    int error = build(view, by_age, &arena, &profile);
    if (error == 0) {
        profile.symbolize = pp_symbolize_wanted();
        error = pp_proto_encode(&profile, &arena, writer);
    }
    pp_arena_release(&arena);
    return error;
}
