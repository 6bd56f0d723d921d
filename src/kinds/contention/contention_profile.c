/* SPDX-License-Identifier: MIT
 *
 * contention_profile.c: makes samples of the stacks that waited, or that made others wait.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: unit.contention, unit.block_rate, e2e.contention_counts
 */
#include "kinds/contention/contention_profile.h"

#include "base/key_sort.h"
#include "base/text.h"
#include "encode/proto.h"
#include "output/symbolize.h"
#include "profile/label_shares.h"
#include "profile/mappings.h"
#include "profile/samples.h"
#include "kinds/contention/contention.h"
#include "sys/clock.h"
#include "threads/coroutine_snapshot.h"

#include <errno.h>
#include <string.h>

enum {
    SLACK = 1024, /* stacks that are recorded while the profile is built */
    MAX_COMMENTS = 4
};

static const pp_sample_label is_waiting = {.key = "state", .text = "waiting"};

typedef struct collector {
    pp_samples samples;
    pp_label_shares shares;
    pp_arena *arena;
    uint64_t now_ns;
    pp_contention_view view;
} collector;

static void count_entry(const pp_stack_entry *entry, void *context)
{
    (void)entry;
    ++*(size_t *)context;
}

/* Returns whole events. Waits are at least one: max(1, floor), as in Go (runtime/mprof.go). */
static int64_t whole_events(const collector *c, uint64_t count)
{
    uint64_t events = count / PP_CONTENTION_EVENT;
    return events > 0 || c->view == PP_CONTENTION_MUTEX ? (int64_t)events : 1;
}

static void add_sample(collector *c, const pp_stack_entry *entry, const pprof_labels *labels,
                       uint64_t count, uint64_t delay_ns)
{
    pp_profile_sample sample = {.pc = entry->pc,
                                .depth = entry->depth,
                                .value = {whole_events(c, count), (int64_t)delay_ns}};
    if (count == 0 && delay_ns == 0) {
        return;
    }
    pp_labels_to_sample_labels(labels, NULL, 0, c->arena, &sample); /* or arena->failed */
    pp_samples_add(&c->samples, &sample);
}

static uint64_t lesser(uint64_t x, uint64_t y)
{
    return x < y ? x : y;
}

/* A holder that made others wait, and whose releases have ended no wait, counts once, so that no
 * reader divides by 0. */
static uint64_t events_of(const pp_stack_entry *entry, uint64_t delay_ns)
{
    uint64_t events = __atomic_load_n(&entry->count, __ATOMIC_RELAXED);
    return events == 0 && delay_ns > 0 ? PP_CONTENTION_EVENT : events;
}

static void add_entry(const pp_stack_entry *entry, void *context)
{
    collector *c = context;
    uint64_t delay_ns = __atomic_load_n(&entry->amount, __ATOMIC_RELAXED);
    uint64_t events = events_of(entry, delay_ns);
    size_t parts = 0;
    const pp_label_share *share = pp_label_shares_of(&c->shares, entry, &parts);
    for (size_t i = 0; i < parts; i++) {
        uint64_t count = lesser(share[i].value[PP_CONTENTION_CELL_COUNT], events);
        uint64_t amount = lesser(share[i].value[PP_CONTENTION_CELL_AMOUNT], delay_ns);
        events -= count;
        delay_ns -= amount;
        bool is_all = i + 1 == parts && delay_ns == 0;
        add_sample(c, entry, share[i].labels, count + (is_all ? events : 0), amount);
        events = is_all ? 0 : events;
    }
    add_sample(c, entry, NULL, events, delay_ns);
}

static void add_waiting(const uintptr_t *pcs, uint32_t depth, const pprof_labels *labels,
                        uint64_t since_ns, void *context)
{
    collector *c = context;
    uintptr_t *copy = pp_arena_array(c->arena, depth, sizeof *copy);
    if (copy == NULL) {
        return;
    }
    memcpy(copy, pcs, depth * sizeof *copy);
    int64_t delay_ns = c->now_ns > since_ns ? (int64_t)(c->now_ns - since_ns) : 0;
    pp_profile_sample sample = {.pc = copy, .depth = depth, .value = {1, delay_ns}};
    pp_labels_to_sample_labels(labels, &is_waiting, 1, c->arena, &sample);
    pp_samples_add(&c->samples, &sample);
}

/* ---- coroutines that wait ---- */

static pp_profile_sample sample_of(const collector *c, const pp_coroutine_row *row)
{
    int64_t delay_ns = c->now_ns > row->since_ns ? (int64_t)(c->now_ns - row->since_ns) : 0;
    return (pp_profile_sample){.pc = row->pc, .depth = row->depth, .value = {1, delay_ns}};
}

/* Equal stacks are one object, and so are most equal sets. */
static bool belong_together(const pp_coroutine_row *a, const pp_coroutine_row *b)
{
    return a->pc == b->pc && a->depth == b->depth && pp_labels_equal(a->labels, b->labels);
}

/* Adds one sample for the rows that `by_stack` has side by side and that belong together. */
static void add_coroutines(collector *c, const pp_coroutine_row *rows, const pp_keyed *by_stack,
                           size_t count)
{
    for (size_t i = 0; i < count;) {
        const pp_coroutine_row *first = &rows[by_stack[i].index];
        pp_profile_sample sample = sample_of(c, first);
        for (i++; i < count && belong_together(first, &rows[by_stack[i].index]); i++) {
            pp_profile_sample next = sample_of(c, &rows[by_stack[i].index]);
            sample.value[0] += next.value[0];
            sample.value[1] += next.value[1];
        }
        pp_labels_to_sample_labels(first->labels, &is_waiting, 1, c->arena, &sample);
        pp_samples_add(&c->samples, &sample);
    }
}

/* A hundred thousand of them wait at a few places. */
static void add_waiting_coroutines(collector *c, const pp_coroutines *coroutines)
{
    size_t count = 0;
    pp_keyed *by_stack = pp_arena_array(c->arena, 2 * coroutines->count, sizeof *by_stack);
    if (by_stack == NULL) {
        return;
    }
    for (size_t i = 0; i < coroutines->count; i++) {
        const pp_coroutine_row *row = &coroutines->rows[i];
        if (row->since_ns != 0) {
            uint64_t key = (uintptr_t)row->pc ^ pp_labels_hash(row->labels);
            by_stack[count++] = (pp_keyed){key, i};
        }
    }
    pp_key_sort(by_stack, by_stack + coroutines->count, count);
    add_coroutines(c, coroutines->rows, by_stack, count);
}

static int fill_samples(collector *c, const pp_stack_counts *table, bool with_waiting,
                        const pp_coroutines *coroutines, pp_profile *profile)
{
    size_t room = SLACK + c->shares.count;
    if (table != NULL) {
        pp_stack_counts_each(table, count_entry, &room);
    }
    room += with_waiting ? pp_contention_count_waiting() + coroutines->count : 0;
    if (pp_samples_init(&c->samples, room, c->arena) != 0) {
        return -ENOMEM;
    }
    if (table != NULL) {
        pp_stack_counts_each(table, add_entry, c);
    }
    if (with_waiting) {
        pp_contention_each_waiting(add_waiting, c);
        add_waiting_coroutines(c, coroutines);
    }
    int error = pp_samples_give(&c->samples, PP_CONTENTION_DELAY, c->arena, profile);
    return c->arena->failed ? -ENOMEM : error;
}

static pp_label_cells *cells_of(pp_contention_view view)
{
    return view == PP_CONTENTION_BLOCK ? pp_contention_blocked_labels()
                                       : pp_contention_held_up_labels();
}

int pp_contention_samples(pp_contention_view view, pp_contention_detail detail, pp_arena *arena,
                          pp_profile *profile)
{
    const pp_stack_counts *table =
        view == PP_CONTENTION_BLOCK ? pp_contention_blocked() : pp_contention_held_up();
    bool with_waiting = detail == PP_CONTENTION_WAITING && view == PP_CONTENTION_BLOCK;
    collector c = {.arena = arena, .now_ns = pp_clock_ns(CLOCK_MONOTONIC), .view = view};
    pp_coroutines coroutines = {.count = 0};
    const pp_coroutines_wish wish = {.hasty = true}; /* in a fatal signal's handler, too */
    int error = with_waiting ? pp_coroutines_snapshot(&wish, arena, &coroutines) : 0;
    if (error == 0) {
        error = pp_label_shares_read(detail != PP_CONTENTION_STACKS ? cells_of(view) : NULL, arena,
                                     &c.shares);
    }
    if (error == 0) {
        error = fill_samples(&c, table, with_waiting, &coroutines, profile);
        pp_label_shares_release(&c.shares);
    }
    pp_coroutines_release(&coroutines);
    return error;
}

/* ---- comments ---- */

static void add_text(const char **list, size_t *count, const pp_text *text, pp_arena *arena)
{
    list[(*count)++] = pp_arena_text(arena, text->data, text->length);
}

static void add_count(const char **list, size_t *count, uint64_t number, const char *what,
                      pp_arena *arena)
{
    if (number > 0) {
        pp_text text = PP_TEXT_INIT;
        pp_text_add(&text, "libpprof: ");
        pp_text_add_count(&text, number, what);
        add_text(list, count, &text, arena);
    }
}

/* Names the fraction, or all of them if it has changed. If no release was recorded, it is the
 * present one. */
static void add_fraction(const char **list, size_t *count, const pp_contention_facts *facts,
                         pp_arena *arena)
{
    uint64_t present = (uint64_t)pp_contention_mutex_fraction();
    uint64_t only = facts->fractions[0] != 0 ? facts->fractions[0] : present;
    pp_text text = PP_TEXT_INIT;
    pp_text_add(&text, "libpprof: ");
    if (facts->fractions[1] != 0) {
        pp_text_add(&text, "the fraction was ");
        for (unsigned i = 0; i < PP_CONTENTION_FRACTIONS && facts->fractions[i] != 0; i++) {
            pp_text_add(&text, i > 0 ? ", " : "");
            pp_text_add_number(&text, facts->fractions[i]);
        }
        pp_text_add(&text, facts->more_fractions ? " and others" : "");
        pp_text_add(&text, ": each value was scaled up by that of its time");
        add_text(list, count, &text, arena);
    } else if (only > 1) {
        pp_text_add_number(&text, only);
        pp_text_add(&text, only == present
                               ? " is the fraction: values are scaled up by it"
                               : " was the fraction at the recording: values are scaled up by it");
        add_text(list, count, &text, arena);
    }
}

static int add_comments(pp_contention_view view, pp_arena *arena, pp_profile *profile)
{
    pp_contention_facts facts;
    const char **list = pp_arena_array(arena, MAX_COMMENTS, sizeof *list);
    size_t count = 0;
    if (list == NULL) {
        return -ENOMEM;
    }
    pp_contention_facts_read(&facts);
    if (view == PP_CONTENTION_BLOCK) {
        add_count(list, &count, facts.lost_waits, " [wait|waits] could not be recorded", arena);
    } else {
        add_count(list, &count, facts.lost_releases, " [release|releases] could not be recorded",
                  arena);
        add_count(list, &count, facts.uncharged_waits, " [wait|waits] could not be charged in full",
                  arena);
        add_fraction(list, &count, &facts, arena);
    }
    add_count(list, &count, pp_label_cells_folded(cells_of(view)) / PP_CONTENTION_EVENT,
              view == PP_CONTENTION_BLOCK ? " [contention is|contentions are] shown without "
                                            "[its|their] labels: there were too many sets"
                                          : " [release is|releases are] shown without [its|their] "
                                            "labels: there were too many sets",
              arena);
    profile->comments = list;
    profile->comment_count = count;
    return arena->failed ? -ENOMEM : 0;
}

int pp_contention_profile_build(pp_contention_view view, pp_contention_detail detail,
                                pp_arena *arena, pp_profile *profile)
{
    *profile = (pp_profile){
        .sample_type_count = PP_CONTENTION_VALUES,
        .sample_type = {{"contentions", "count"}, {"delay", "nanoseconds"}},
        .period_type = {"contentions", "count"},
        .period = 1,
        .time_ns = (int64_t)pp_clock_ns(CLOCK_REALTIME),
    };
    int error = pp_contention_samples(view, detail, arena, profile);
    if (error == 0) {
        error = pp_profile_add_mappings(arena, profile);
    }
    return error == 0 ? add_comments(view, arena, profile) : error;
}

int pp_contention_profile_write(pp_contention_view view, pprof_writer writer)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_profile profile;
    int error = pp_contention_profile_build(view, PP_CONTENTION_WAITING, &arena, &profile);
    if (error == 0) {
        profile.symbolize = pp_symbolize_wanted();
        error = pp_proto_encode(&profile, &arena, writer);
    }
    pp_arena_release(&arena);
    return error;
}
