/* SPDX-License-Identifier: MIT
 *
 * leak_profile.c: adds up the leaked blocks of each stack, set of labels and age.
 *
 *   age            the least age of the class: 0, 1, 2, 4, 8 ... seconds
 *   unreferenced   the share of the blocks of the stack in that class that leaked, in percent: all of
 *                  them is a site that loses what it allocates, few of them is a rare path
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: unit.leak_profile, e2e.leak
 */
#include "kinds/heap/leak_profile.h"

#include "base/exponential.h"
#include "base/sort.h"
#include "base/text.h"
#include "encode/proto.h"
#include "kinds/heap/heap.h"
#include "kinds/heap/heap_ages.h"
#include "kinds/heap/heap_buckets.h"
#include "kinds/heap/leak_search.h"
#include "output/symbolize.h"
#include "profile/label_shares.h"
#include "profile/mappings.h"
#include "profile/samples.h"
#include "sys/clock.h"

#include <errno.h>

enum { MAX_COMMENTS = 5, PERCENT = 100, OWN_LABELS = 2 };

static size_t last_count;

size_t pp_leak_profile_count(void)
{
    return __atomic_load_n(&last_count, __ATOMIC_RELAXED);
}

/* ---- rows ---- */

typedef struct row {
    const pp_trie_stack *stack;
    pprof_labels *labels;
    int64_t age_s;
    double objects, bytes;
    uint64_t lost, all; /* blocks of the stack and the age */
} row;

typedef struct rows {
    const pp_leaks *leaks;
    pp_label_shares shares;
    row *list;
    size_t count;
} rows;

static int64_t age_of(const pp_leaks *leaks, const pp_leak_block *block)
{
    return pp_heap_age_class(leaks->now_ns, block->birth_ns);
}

/* The set in whose cell the block is: `shares` holds a reference. */
static pprof_labels *labels_of(const rows *r, const pp_leak_block *block)
{
    const pprof_labels *labels = pp_heap_block_labels(block->record);
    size_t count = 0;
    const pp_label_share *share =
        pp_label_shares_of(&r->shares, pp_heap_block_bucket(block->record), &count);
    for (size_t i = 0; labels != NULL && i < count; i++) {
        if (share[i].labels == labels) {
            return share[i].labels;
        }
    }
    return NULL;
}

static int compare_places(const row *x, const row *y)
{
    if (x->stack != y->stack) {
        return (uintptr_t)x->stack < (uintptr_t)y->stack ? -1 : 1;
    }
    return (x->age_s > y->age_s) - (x->age_s < y->age_s);
}

static int compare_rows(const void *a, const void *b, void *unused)
{
    (void)unused;
    const row *x = a;
    const row *y = b;
    int places = compare_places(x, y);
    return places != 0 ? places
                       : ((uintptr_t)x->labels > (uintptr_t)y->labels) -
                             ((uintptr_t)x->labels < (uintptr_t)y->labels);
}

static void add_row(rows *r, const pp_leak_block *block)
{
    const pp_heap_bucket *bucket = pp_heap_block_bucket(block->record);
    double blocks = pp_blocks_per_sample((double)block->size, bucket->rate);
    r->list[r->count++] = (row){.stack = bucket->stack,
                                .labels = labels_of(r, block),
                                .age_s = age_of(r->leaks, block),
                                .objects = blocks,
                                .bytes = blocks * (double)block->size,
                                .lost = 1};
}

static void merge_rows(rows *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->count; i++) {
        row *last = kept > 0 ? &r->list[kept - 1] : NULL;
        if (last == NULL || compare_rows(last, &r->list[i], NULL) != 0) {
            r->list[kept++] = r->list[i];
            continue;
        }
        last->objects += r->list[i].objects;
        last->bytes += r->list[i].bytes;
        last->lost++;
    }
    r->count = kept;
}

/* The first row of the place of `wanted`; NULL: none. */
static row *find_place(const rows *r, const row *wanted)
{
    size_t low = 0;
    size_t high = r->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_places(&r->list[middle], wanted) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < r->count && compare_places(&r->list[low], wanted) == 0 ? &r->list[low] : NULL;
}

/* Rows of one place differ in labels; each gets the sums of the place. A block that was freed after
 * the search may have left its cell to another place, and is counted there. */
static void count_all(rows *r)
{
    const pp_leak_blocks *blocks = &r->leaks->blocks;
    for (uint32_t i = 0; i < blocks->count; i++) {
        const row wanted = {.stack = pp_heap_block_bucket(blocks->list[i].record)->stack,
                            .age_s = age_of(r->leaks, &blocks->list[i])};
        row *first = find_place(r, &wanted);
        if (first != NULL) {
            first->all++;
        }
    }
    for (size_t i = 0, next = 0; i < r->count; i = next) {
        uint64_t lost = 0;
        for (next = i; next < r->count && compare_places(&r->list[i], &r->list[next]) == 0;) {
            lost += r->list[next++].lost;
        }
        uint64_t all = r->list[i].all > lost ? r->list[i].all : lost;
        for (size_t k = i; k < next; k++) {
            r->list[k].lost = lost;
            r->list[k].all = all;
        }
    }
}

static int fill_rows(rows *r, const pp_leaks *leaks, pp_arena *arena)
{
    *r = (rows){.leaks = leaks};
    int error = pp_label_shares_read(pp_heap_buckets_labels(), arena, &r->shares);
    r->list = pp_arena_array(arena, leaks->blocks.candidates + 1, sizeof *r->list);
    if (error != 0 || r->list == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < leaks->blocks.count; i++) {
        if (!leaks->blocks.list[i].reached) {
            add_row(r, &leaks->blocks.list[i]);
        }
    }
    pp_sort(r->list, r->count, sizeof *r->list, compare_rows, NULL);
    merge_rows(r);
    count_all(r);
    return 0;
}

/* ---- the model ---- */

static bool add_sample(const row *from, pp_samples *samples, pp_arena *arena)
{
    pp_sample_label *own = pp_arena_array(arena, OWN_LABELS, sizeof *own);
    pp_profile_sample sample = {
        .pc = from->stack->pc,
        .depth = from->stack->depth,
        .value = {(int64_t)(from->objects + 0.5), (int64_t)(from->bytes + 0.5)}};
    if (own == NULL) {
        return false;
    }
    uint32_t count = 0;
    if (from->age_s != PP_HEAP_AGE_UNKNOWN) {
        own[count++] = (pp_sample_label){.key = "age", .number = from->age_s, .unit = "seconds"};
    }
    own[count++] = (pp_sample_label){.key = "unreferenced",
                                     .number = (int64_t)(from->lost * PERCENT / from->all),
                                     .unit = "percent"};
    if (!pp_labels_to_sample_labels(from->labels, own, count, arena, &sample)) {
        return false;
    }
    pp_samples_add(samples, &sample);
    return true;
}

static int fill_samples(const rows *r, pp_arena *arena, pp_profile *profile)
{
    pp_samples samples;
    int error = pp_samples_init(&samples, r->count, arena);
    for (size_t i = 0; i < r->count && error == 0; i++) {
        error = add_sample(&r->list[i], &samples, arena) ? 0 : -ENOMEM;
    }
    return error == 0 ? pp_samples_give(&samples, 1, arena, profile) : error;
}

/* ---- comments ---- */

static void add_comment(pp_profile *profile, const char **list, const pp_text *text,
                        pp_arena *arena)
{
    list[profile->comment_count++] = pp_arena_text(arena, text->data, text->length);
}

static void begin_comment(pp_text *text)
{
    *text = (pp_text)PP_TEXT_INIT;
    pp_text_add(text, "libpprof: ");
}

static int add_comments(const pp_leaks *leaks, pp_arena *arena, pp_profile *profile)
{
    const char **list = pp_arena_array(arena, MAX_COMMENTS, sizeof *list);
    pp_text text;
    if (list == NULL) {
        return -ENOMEM;
    }
    begin_comment(&text);
    pp_text_add_count(&text, leaks->blocks.count, " sampled [block was|blocks were] live; ");
    pp_text_add_count(&text, leaks->bytes_read >> 20, " MiB of memory [was|were] read ");
    pp_text_add_count(&text, leaks->passes, " [time|times]");
    pp_text_add(&text, leaks->blocks.complete
                           ? "; every block is known, so words in free memory do not count"
                           : "");
    add_comment(profile, list, &text, arena);
    if (leaks->in_doubt > 0) {
        begin_comment(&text);
        pp_text_add_count(&text, leaks->in_doubt,
                          " unreferenced sampled [block is|blocks are] not shown: registers of "
                          "waiting threads may refer to [it|them]");
        add_comment(profile, list, &text, arena);
    }
    if (leaks->bytes_swapped > 0) {
        begin_comment(&text);
        pp_text_add_count(&text, leaks->bytes_swapped >> 10,
                          " KiB [was|were] swapped out, and not read: blocks to which only they "
                          "refer are shown, too");
        add_comment(profile, list, &text, arena);
    }
    if (!leaks->knows_swapped) {
        begin_comment(&text);
        pp_text_add(&text,
                    "this process may not open its pagemap: what was swapped out was not read, "
                    "however much it was");
        add_comment(profile, list, &text, arena);
    }
    profile->comments = list;
    return arena->failed ? -ENOMEM : 0;
}

static int build(const pp_leaks *leaks, const rows *r, pp_arena *arena, pp_profile *profile)
{
    *profile = (pp_profile){
        .sample_type_count = 2,
        .sample_type = {{"leaked_objects", "count"}, {"leaked_space", "bytes"}},
        .default_sample_type = "leaked_space",
        .period_type = {"space", "bytes"},
        .period = pp_heap_rate(),
        .time_ns = (int64_t)pp_clock_ns(CLOCK_REALTIME),
        .hide_allocators = true,
    };
    int error = fill_samples(r, arena, profile);
    if (error == 0) {
        error = pp_profile_add_mappings(arena, profile);
    }
    return error == 0 ? add_comments(leaks, arena, profile) : error;
}

int pp_leak_profile_write(pprof_writer writer, int debug)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_leaks leaks;
    rows r = {0};
    pp_profile profile;
    if (debug != 0) {
        return -ENOTSUP;
    }
    int error = pp_leaks_find(&arena, &leaks);
    if (error == 0) {
        error = fill_rows(&r, &leaks, &arena);
    }
    if (error == 0) {
        error = build(&leaks, &r, &arena, &profile);
    }
    if (error == 0) {
        __atomic_store_n(&last_count, profile.sample_count, __ATOMIC_RELAXED);
        profile.symbolize = pp_symbolize_wanted();
        error = pp_proto_encode(&profile, &arena, writer);
    }
    pp_label_shares_release(&r.shares);
    pp_arena_release(&arena);
    return error;
}
