/* SPDX-License-Identifier: MIT
 *
 * count_profile.c: groups rows with equal stacks and labels.
 *
 *   row -> [ids: the objects that it points to]   -> group      nearly always, if stacks are shared
 *       -> [slots: the hash of their contents]    -> group      otherwise
 *
 * The stacks of a million rows are mostly a few that many rows share, so that their addresses
 * identify them. `ids` is a cache of one entry for each hash; a row that misses it is found by its
 * contents.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#include "profile/count_profile.h"

#include "base/stack_hash.h"
#include "profile/mappings.h"
#include "profile/samples.h"
#include "store/labels.h"
#include "sys/clock.h"

#include <errno.h>
#include <string.h>

enum {
    ID_BITS = 10, /* 1024 stacks, 32 KiB: the size of a first-level cache */
    SLOT_BITS_MIN = 8,
    SLOT_BITS_MAX = 31 /* numbers of groups are 32 bits */
};

typedef struct group {
    const pp_count_row *row; /* the first of its rows */
    uint64_t hash;
    int64_t count;
} group;

typedef struct id {
    const uintptr_t *pc;
    pprof_labels *labels;
    uint32_t depth;
    uint32_t group; /* the group's number + 1; 0: an empty entry */
} id;

typedef struct grouping {
    pp_arena *arena;
    bool with_labels;
    id *ids;
    group *groups;   /* half as many as slots */
    uint32_t *slots; /* the group's number + 1; 0: empty */
    uint32_t count;
    unsigned shift; /* 64 - log2(slots) */
} grouping;

/* ---- grouping ---- */

static uint64_t spread(uint64_t number)
{
    return number * UINT64_C(0x9e3779b97f4a7c15);
}

/* At most half of the slots are used. The old arrays remain in the arena. */
static bool resize(grouping *g, unsigned bits)
{
    size_t slot_count = (size_t)1 << bits;
    group *groups = pp_arena_array(g->arena, slot_count / 2, sizeof *groups);
    uint32_t *slots = pp_arena_array(g->arena, slot_count, sizeof *slots);
    if (groups == NULL || slots == NULL) {
        return false;
    }
    if (g->count > 0) {
        memcpy(groups, g->groups, g->count * sizeof *groups);
    }
    for (uint32_t i = 0; i < g->count; i++) {
        size_t slot = spread(groups[i].hash) >> (64 - bits);
        while (slots[slot] != 0) {
            slot = (slot + 1) & (slot_count - 1);
        }
        slots[slot] = i + 1;
    }
    g->groups = groups;
    g->slots = slots;
    g->shift = 64 - bits;
    return true;
}

static bool belongs(const grouping *g, const group *to, const pp_count_row *row, uint64_t hash)
{
    return to->hash == hash && to->row->depth == row->depth &&
           (row->depth == 0 || memcmp(to->row->pc, row->pc, row->depth * sizeof *row->pc) == 0) &&
           (!g->with_labels || pp_labels_equal(to->row->labels, row->labels));
}

/* Returns the group's number + 1; 0: no memory. */
static uint32_t find_by_content(grouping *g, const pp_count_row *row)
{
    uint64_t hash = pp_stack_hash(row->pc, row->depth);
    if (g->with_labels) {
        hash ^= spread(pp_labels_hash(row->labels));
    }
    size_t mask = ((size_t)1 << (64 - g->shift)) - 1;
    size_t slot = spread(hash) >> g->shift;
    for (; g->slots[slot] != 0; slot = (slot + 1) & mask) {
        if (belongs(g, &g->groups[g->slots[slot] - 1], row, hash)) {
            return g->slots[slot];
        }
    }
    unsigned bits = 64 - g->shift;
    g->groups[g->count] = (group){.row = row, .hash = hash};
    g->slots[slot] = ++g->count;
    if (g->count == (uint32_t)1 << (bits - 1) && (bits == SLOT_BITS_MAX || !resize(g, bits + 1))) {
        return 0;
    }
    return g->count;
}

static id *id_of(grouping *g, const pp_count_row *row, const pprof_labels *labels)
{
    uint64_t number = (uintptr_t)row->pc ^ spread((uintptr_t)labels) ^ row->depth;
    return &g->ids[spread(number) >> (64 - ID_BITS)];
}

static bool add_row(grouping *g, const pp_count_row *row)
{
    pprof_labels *labels = g->with_labels ? row->labels : NULL;
    id *known = id_of(g, row, labels);
    if (known->group == 0 || known->pc != row->pc || known->labels != labels ||
        known->depth != row->depth) {
        uint32_t found = find_by_content(g, row);
        if (found == 0) {
            return false;
        }
        *known = (id){.pc = row->pc, .labels = labels, .depth = row->depth, .group = found};
    }
    g->groups[known->group - 1].count += row->count;
    return true;
}

static int group_rows(grouping *g, const pp_count_row *rows, size_t row_count)
{
    g->ids = pp_arena_array(g->arena, (size_t)1 << ID_BITS, sizeof *g->ids);
    if (g->ids == NULL || !resize(g, SLOT_BITS_MIN)) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < row_count; i++) {
        if (!add_row(g, &rows[i])) {
            return -ENOMEM;
        }
    }
    return 0;
}

/* ---- the model ---- */

static int add_samples(const grouping *g, pp_arena *arena, pp_profile *profile)
{
    pp_samples samples;
    if (pp_samples_init(&samples, g->count, arena) != 0) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < g->count; i++) {
        const group *from = &g->groups[i];
        pp_profile_sample sample = {
            .pc = from->row->pc, .depth = from->row->depth, .value = {from->count}};
        if (g->with_labels &&
            !pp_labels_to_sample_labels(from->row->labels, NULL, 0, arena, &sample)) {
            return -ENOMEM;
        }
        pp_samples_add(&samples, &sample);
    }
    return pp_samples_give_as_texts(&samples, 0, arena, profile);
}

int pp_count_profile_build(const char *name, const pp_count_row *rows, size_t row_count,
                           bool with_labels, pp_arena *arena, pp_profile *profile)
{
    *profile = (pp_profile){
        .sample_type_count = 1,
        .sample_type = {{name, "count"}},
        .period_type = {name, "count"},
        .period = 1,
        .time_ns = (int64_t)pp_clock_ns(CLOCK_REALTIME),
    };
    grouping g = {.arena = arena, .with_labels = with_labels};
    int error = group_rows(&g, rows, row_count);
    if (error == 0) {
        error = add_samples(&g, arena, profile);
    }
    return error == 0 ? pp_profile_add_mappings(arena, profile) : error;
}
