/* SPDX-License-Identifier: MIT
 *
 * cpu_profile.c: builds the model (profile/model.h) of a CPU profile: samples, then comments.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: e2e.shares, e2e.labels, e2e.perf
 */
#include "kinds/cpu/cpu_profile.h"

#include "base/pseudo_frame.h"
#include "base/text.h"
#include "kinds/cpu/cpu_latency.h"
#include "profile/label_shares.h"
#include "profile/mappings.h"
#include "profile/samples.h"
#include "sys/error_text.h"
#include "sys/sampling_signal.h"

#include <errno.h>
#include <string.h>

enum { MAX_COMMENTS = 13 + PP_STOP_MAX_COMMENTS };

typedef struct collector {
    pp_samples samples;
    pp_label_shares shares;
    pp_arena *arena;
    int64_t period_ns;
    pp_stack_counts *latency; /* NULL: the profile has none */
} collector;

static void count_entry(const pp_stack_entry *entry, void *context)
{
    (void)entry;
    ++*(size_t *)context;
}

static void add_sample(collector *c, const uintptr_t *pcs, uint32_t depth,
                       const pprof_labels *labels, uint64_t weight, uint64_t latency_ns)
{
    if (weight == 0) {
        return;
    }
    pp_profile_sample sample = {
        .pc = pcs,
        .depth = depth,
        .value = {(int64_t)weight, (int64_t)weight * c->period_ns, (int64_t)latency_ns}};
    pp_labels_to_sample_labels(labels, NULL, 0, c->arena, &sample); /* or arena->failed */
    pp_samples_add(&c->samples, &sample);
}

static uint64_t lesser(uint64_t x, uint64_t y)
{
    return x < y ? x : y;
}

static void add_entry(const pp_stack_entry *entry, void *context)
{
    collector *c = context;
    uint64_t rest = __atomic_load_n(&entry->count, __ATOMIC_RELAXED); /* handlers may still add */
    uint64_t rest_ns = c->latency != NULL ? pp_cpu_latency_of(c->latency, entry) : 0;
    size_t count = 0;
    const pp_label_share *share = pp_label_shares_of(&c->shares, entry, &count);
    for (size_t i = 0; i < count; i++) {
        uint64_t weight = lesser(share[i].value[PP_CPU_CELL_WEIGHT], rest);
        uint64_t ns = lesser(share[i].value[PP_CPU_CELL_LATENCY], rest_ns);
        add_sample(c, entry->pc, entry->depth, share[i].labels, weight, ns);
        rest -= weight;
        rest_ns -= ns;
    }
    add_sample(c, entry->pc, entry->depth, NULL, rest, rest_ns);
}

static int fill_samples(collector *c, const pp_cpu_result *result, pp_profile *profile)
{
    size_t stacks = 0;
    pp_stack_counts_each(result->counts, count_entry, &stacks);
    uintptr_t *lost = pp_arena_array(c->arena, 1, sizeof *lost);
    if (pp_samples_init(&c->samples, stacks + c->shares.count + 1, c->arena) != 0 || lost == NULL) {
        return -ENOMEM;
    }
    pp_stack_counts_each(result->counts, add_entry, c);
    *lost = (uintptr_t)pprof_lost_samples + 1;
    add_sample(c, lost, 1, NULL,
               result->facts.lost_table_full + result->facts.lost_no_scratch +
                   result->facts.lost_no_room,
               0);
    int error = pp_samples_give(&c->samples, 0, c->arena, profile);
    return c->arena->failed ? -ENOMEM : error;
}

static int collect_samples(const pp_cpu_result *result, bool with_labels, pp_arena *arena,
                           pp_profile *profile)
{
    collector c = {
        .arena = arena, .period_ns = (int64_t)result->facts.period_ns, .latency = result->latency};
    int error = pp_label_shares_read(with_labels ? result->labels : NULL, arena, &c.shares);
    if (error == 0) {
        error = fill_samples(&c, result, profile);
        pp_label_shares_release(&c.shares);
    }
    return error;
}

/* ---- comments ---- */

typedef struct comments {
    pp_arena *arena;
    const char **list;
    size_t count;
} comments;

static void add_comment(comments *c, const pp_text *text)
{
    if (c->count < MAX_COMMENTS) {
        c->list[c->count++] = pp_arena_text(c->arena, text->data, text->length);
    }
}

/* "perf" if at least one thread had an event. */
static const char *engine_name(const pp_cpu_result *r)
{
    return r->facts.events_armed > 0 ? "perf" : "timer";
}

/* "timer engine; of 6351 samples taken ..., 2 more were settled from CPU clocks" */
static void comment_on_stacks(comments *c, const pp_cpu_result *r)
{
    pp_text text = PP_TEXT_INIT;
    pp_text_add(&text, "libpprof: ");
    pp_text_add(&text, engine_name(r));
    pp_text_add(&text, " engine; ");
    pp_stops_describe(&r->facts.stops, " [sample|samples] taken", &text);
    if (r->facts.settled > 0) {
        pp_text_add(&text, ", ");
        pp_text_add_count(&text, r->facts.settled, " more [was|were] settled from CPU clocks");
    }
    add_comment(c, &text);
}

/* "12 stacks end in /usr/lib/libx.so, the first at 0x1234: ..." */
static void comment_on_places(comments *c, const pp_stops *stops, const pp_profile *profile)
{
    for (size_t rank = 0; rank < PP_STOP_MAX_COMMENTS; rank++) {
        pp_text text = PP_TEXT_INIT;
        pp_text_add(&text, "libpprof: ");
        if (pp_stops_describe_place(stops, rank, profile->mappings, profile->mapping_count,
                                    &text)) {
            add_comment(c, &text);
        }
    }
}

static void comment_on_count(comments *c, uint64_t count, const char *what)
{
    if (count > 0) {
        pp_text text = PP_TEXT_INIT;
        pp_text_add(&text, "libpprof: ");
        pp_text_add_count(&text, count, what);
        add_comment(c, &text);
    }
}

/* "engine perf was refused to 4 threads (perf_event_open: Too many open files), they were ..." */
static void comment_on_perf(comments *c, const pp_cpu_result *r)
{
    if (r->perf_wanted && r->facts.events_refused > 0) {
        pp_text text = PP_TEXT_INIT;
        pp_text_add(&text, "libpprof: engine perf was refused to ");
        pp_text_add_count(&text, r->facts.events_refused, " [thread|threads] (perf_event_open: ");
        pp_text_add(&text, pp_error_text(r->facts.event_error));
        pp_text_add(&text, r->facts.events_refused == 1 ? "), it was sampled by a timer"
                                                        : "), they were sampled by timers");
        add_comment(c, &text);
    }
    comment_on_count(c, r->facts.events_closed,
                     " perf [event|events] lost, the program closed [its descriptor|their "
                     "descriptors]: timers went on");
}

int pp_cpu_profile_add_comments(const pp_cpu_result *r, pp_arena *arena, pp_profile *profile)
{
    comments c = {.arena = arena};
    c.list = pp_arena_array(arena, MAX_COMMENTS, sizeof *c.list);
    if (c.list == NULL) {
        return -ENOMEM;
    }
    comment_on_stacks(&c, r);
    comment_on_places(&c, &r->facts.stops, profile);
    comment_on_perf(&c, r);
    comment_on_count(&c, r->facts.lost_table_full + r->facts.lost_no_scratch,
                     " [sample|samples] lost: the table of stacks was full");
    comment_on_count(&c, r->facts.lost_no_room,
                     " [sample|samples] lost: the alternate signal stack of a thread is too small");
    comment_on_count(&c, r->facts.lost_not_delivered,
                     " [sample|samples] lost: a thread blocked signal " PP_SAMPLING_SIGNAL_TEXT
                     " past libc, or has an alternate "
                     "signal stack that is too small");
    comment_on_count(&c, r->handler_replaced,
                     " foreign [handler|handlers] of signal " PP_SAMPLING_SIGNAL_TEXT
                     " [was|were] installed over the profiler's");
    comment_on_count(&c, r->facts.threads_unarmed,
                     " [thread was|threads were] not sampled: no timer could be had "
                     "(RLIMIT_SIGPENDING), or signals cannot reach [it|them]");
    comment_on_count(
        &c, pp_label_cells_folded(r->labels),
        " [sample is|samples are] shown without [its|their] labels: there were too many sets");
    comment_on_count(&c, r->starts_refused,
                     " [profile|profiles] that the program started by itself [was|were] refused "
                     "(EBUSY), as this one ran: what it wrote of [it|them] is empty");
    comment_on_count(&c, r->ended_by_program,
                     " call of pprof_stop_cpu_profile by the program ended this profile early");
    profile->comments = c.list;
    profile->comment_count = c.count;
    return arena->failed ? -ENOMEM : 0;
}

int pp_cpu_profile_build(const pp_cpu_result *result, bool with_labels, pp_arena *arena,
                         pp_profile *profile)
{
    *profile = (pp_profile){
        .sample_type_count = result->latency != NULL ? 3 : 2,
        .sample_type = {{"samples", "count"}, {"cpu", "nanoseconds"}, {"latency", "nanoseconds"}},
        .default_sample_type = result->latency != NULL ? "cpu" : NULL,
        .period_type = {"cpu", "nanoseconds"},
        .period = (int64_t)result->facts.period_ns,
        .time_ns = result->facts.time_ns,
        .duration_ns = result->duration_ns,
    };
    int error = collect_samples(result, with_labels, arena, profile);
    if (error == 0) {
        error = pp_profile_add_mappings(arena, profile);
    }
    return error == 0 ? pp_cpu_profile_add_comments(result, arena, profile) : error;
}
