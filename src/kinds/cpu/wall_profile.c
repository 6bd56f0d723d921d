/* SPDX-License-Identifier: MIT
 *
 * wall_profile.c: see wall_profile.h.
 *
 *   table of the CPU sampler   count x period   state=running
 *                              amount           state=preempted
 *   table of the accounts      count            the state that the key begins with
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: e2e.wall
 */
#include "kinds/cpu/wall_profile.h"

#include "base/pseudo_frame.h"
#include "base/text.h"
#include "kinds/cpu/cpu_profile.h"
#include "profile/delta.h"
#include "profile/label_shares.h"
#include "profile/mappings.h"
#include "profile/samples.h"

#include <errno.h>

static const pp_sample_label state_labels[] = {
    [PP_WALL_RUNNING] = {.key = "state", .text = "running"},
    [PP_WALL_PREEMPTED] = {.key = "state", .text = "preempted"},
    [PP_WALL_LOCK] = {.key = "state", .text = "lock"},
    [PP_WALL_IO] = {.key = "state", .text = "io"},
    [PP_WALL_NET] = {.key = "state", .text = "net"},
    [PP_WALL_SLEEP] = {.key = "state", .text = "sleep"},
    [PP_WALL_POLL] = {.key = "state", .text = "poll"},
    [PP_WALL_CHILD] = {.key = "state", .text = "child"},
    [PP_WALL_PAGE] = {.key = "state", .text = "page"},
    [PP_WALL_OTHER] = {.key = "state", .text = "other"},
};

typedef struct collector {
    pp_arena *arena;
    pp_samples samples;
    pp_label_shares cpu, waits;
    int64_t cpu_period_ns;
} collector;

/* A part of a table's entry. */
typedef struct part {
    const pp_stack_entry *entry;
    const pp_label_shares *shares;
    unsigned value; /* of the cells */
    uint64_t total; /* of the entry, in the same unit */
    int64_t unit_ns;
    pp_wall_state state;
    uint32_t skip; /* addresses of the key that are not of the stack */
} part;

static void add_sample(collector *c, const part *p, const pprof_labels *labels, uint64_t amount)
{
    if (amount == 0) {
        return;
    }
    int64_t ns = (int64_t)amount * p->unit_ns;
    pp_profile_sample sample = {
        .pc = p->entry->pc + p->skip, .depth = p->entry->depth - p->skip, .value = {ns, ns}};
    pp_labels_to_sample_labels(labels, &state_labels[p->state], 1, c->arena, &sample);
    pp_samples_add(&c->samples, &sample);
}

static void add_part(collector *c, const part *p)
{
    uint64_t rest = p->total;
    size_t count = 0;
    const pp_label_share *share = pp_label_shares_of(p->shares, p->entry, &count);
    for (size_t i = 0; i < count; i++) {
        uint64_t amount = share[i].value[p->value] < rest ? share[i].value[p->value] : rest;
        add_sample(c, p, share[i].labels, amount);
        rest -= amount;
    }
    add_sample(c, p, NULL, rest);
}

/* Handlers and hooks may still add to an entry. */
static void add_cpu_entry(const pp_stack_entry *entry, void *context)
{
    collector *c = context;
    part p = {.entry = entry,
              .shares = &c->cpu,
              .total = __atomic_load_n(&entry->count, __ATOMIC_RELAXED),
              .unit_ns = c->cpu_period_ns,
              .state = PP_WALL_RUNNING};
    add_part(c, &p);
    p.value = 1;
    p.unit_ns = 1;
    p.total = __atomic_load_n(&entry->amount, __ATOMIC_RELAXED);
    p.state = PP_WALL_PREEMPTED;
    add_part(c, &p);
}

static void add_wait_entry(const pp_stack_entry *entry, void *context)
{
    collector *c = context;
    const part p = {.entry = entry,
                    .shares = &c->waits,
                    .total = __atomic_load_n(&entry->count, __ATOMIC_RELAXED),
                    .unit_ns = 1,
                    .state = (pp_wall_state)(entry->pc[0] - 1),
                    .skip = 1};
    add_part(c, &p);
}

static void count_entry(const pp_stack_entry *entry, void *context)
{
    (void)entry;
    ++*(size_t *)context;
}

static void add_lost(collector *c, pp_wall_state state, int64_t ns)
{
    uintptr_t *lost = pp_arena_array(c->arena, 1, sizeof *lost);
    if (lost != NULL && ns > 0) {
        *lost = (uintptr_t)pprof_lost_samples + 1;
        const pp_profile_sample sample = {.pc = lost,
                                          .depth = 1,
                                          .labels = &state_labels[state],
                                          .label_count = 1,
                                          .value = {ns, ns}};
        pp_samples_add(&c->samples, &sample);
    }
}

static int fill(collector *c, const pp_wall_counts *counts, pp_profile *profile)
{
    enum { LOST = 2 };
    size_t cpu = 0;
    size_t waits = 0;
    if (counts->cpu != NULL) {
        pp_stack_counts_each(counts->cpu->counts, count_entry, &cpu);
    }
    if (counts->places != NULL) {
        pp_stack_counts_each(counts->places->counts, count_entry, &waits);
    }
    size_t capacity = 2 * (cpu + c->cpu.count) + waits + c->waits.count + LOST;
    if (pp_samples_init(&c->samples, capacity, c->arena) != 0) {
        return -ENOMEM;
    }
    if (counts->cpu != NULL) {
        const pp_cpu_facts *facts = &counts->cpu->facts;
        pp_stack_counts_each(counts->cpu->counts, add_cpu_entry, c);
        add_lost(c, PP_WALL_RUNNING,
                 (int64_t)(facts->lost_table_full + facts->lost_no_scratch + facts->lost_no_room) *
                     c->cpu_period_ns);
    }
    if (counts->places != NULL) {
        pp_stack_counts_each(counts->places->counts, add_wait_entry, c);
        add_lost(c, PP_WALL_OTHER, (int64_t)counts->places->lost_ns);
    }
    int error = pp_samples_give(&c->samples, 1, c->arena, profile);
    return c->arena->failed ? -ENOMEM : error;
}

static int collect(const pp_wall_counts *counts, bool with_labels, pp_arena *arena,
                   pp_profile *profile)
{
    const pp_cpu_result *cpu = counts->cpu;
    collector c = {.arena = arena,
                   .cpu_period_ns = cpu != NULL ? (int64_t)cpu->facts.period_ns : 0};
    int error =
        pp_label_shares_read(with_labels && cpu != NULL ? cpu->labels : NULL, arena, &c.cpu);
    if (error != 0) {
        return error;
    }
    bool has_labels = with_labels && counts->places != NULL;
    error = pp_label_shares_read(has_labels ? counts->places->labels : NULL, arena, &c.waits);
    if (error == 0) {
        error = fill(&c, counts, profile);
        pp_label_shares_release(&c.waits);
    }
    pp_label_shares_release(&c.cpu);
    return error;
}

/* Says how many looks there were: shares of waits are as exact as that many samples. */
static int add_comment(const pp_wall_counts *counts, pp_arena *arena, pp_profile *profile)
{
    pp_text text = PP_TEXT_INIT;
    const char **list = pp_arena_array(arena, profile->comment_count + 1, sizeof *list);
    if (list == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < profile->comment_count; i++) {
        list[1 + i] = profile->comments[i];
    }
    pp_text_add(&text, "libpprof: ");
    pp_text_add_count(&text, counts->looks, " [look|looks] at all threads");
    if (counts->cpu == NULL) {
        pp_text_add(&text, "; the CPU profile of the program ended before, so what ran is missing");
    }
    if (counts->placeless > 0) {
        pp_text_add(&text, "; ");
        pp_text_add_count(
            &text, counts->placeless,
            " [sight|sights] of waiting threads without a place: a program that has changed its "
            "user may not read where they wait");
    }
    list[0] = pp_arena_text(arena, text.data, text.length);
    profile->comments = list;
    profile->comment_count++;
    return arena->failed ? -ENOMEM : 0;
}

int pp_wall_profile_build(const pp_wall_counts *counts, bool with_labels, pp_arena *arena,
                          pp_profile *profile)
{
    *profile = (pp_profile){
        .sample_type_count = 2,
        .sample_type = {{"samples", "count"}, {"wall", "nanoseconds"}},
        .period_type = {"wall", "nanoseconds"},
        .period = counts->period_ns,
    };
    int error = collect(counts, with_labels, arena, profile);
    const pp_profile *before =
        counts->cpu_before != NULL ? &counts->cpu_before[with_labels ? 0 : 1] : NULL;
    if (error == 0 && counts->cpu != NULL && before != NULL && before->sample_count > 0) {
        error = pp_profile_subtract(profile, before, arena);
    }
    if (error == 0) {
        error = pp_profile_add_mappings(arena, profile);
    }
    if (error == 0 && counts->cpu != NULL) {
        error = pp_cpu_profile_add_comments(counts->cpu, arena, profile);
    }
    return error == 0 ? add_comment(counts, arena, profile) : error;
}

int pp_wall_profile_count(pp_arena *arena, pp_profile *profile)
{
    pp_profile_sample *samples = pp_arena_array(arena, profile->sample_count, sizeof *samples);
    if (samples == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < profile->sample_count; i++) {
        samples[i] = profile->samples[i];
        int64_t periods = (samples[i].value[1] + profile->period / 2) / profile->period;
        samples[i].value[0] = periods > 0 ? periods : 1;
    }
    profile->samples = samples;
    return 0;
}
