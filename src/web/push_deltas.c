/* SPDX-License-Identifier: MIT
 *
 * push_deltas.c: see push_deltas.h.
 *
 *   build --> snapshot --(minus the last one)--> encode --> take: it is the last one from now on
 *
 * Zone: NORMAL.
 * Tested by: unit.push_deltas, e2e.push_option
 */
#include "web/push_deltas.h"

#include "base/buffer.h"
#include "encode/proto.h"
#include "host/kind.h"
#include "modules/modules.h"
#include "output/symbolize.h"
#include "profile/delta.h"
#include "profile/samples.h"
#include "sys/clock.h"

#include "pprof.h"

#include <errno.h>
#include <string.h>

enum { KEPT = 8 }; /* cpu, wall, allocations, lifetimes, block, mutex */

typedef int build_function(pp_arena *arena, pp_profile *profile);

typedef struct snapshot {
    const void *key; /* the function that builds it; NULL: the place is free */
    pp_arena arena;
    pp_profile profile;
    int64_t time_ns; /* wall clock */
    uint64_t at_ns;  /* monotonic */
} snapshot;

static snapshot kept[KEPT];
static snapshot begun; /* its times only: nothing was pushed yet */

/* One time. */
typedef struct turn {
    pp_push_take *take; /* NULL: nothing is pushed, all is skipped */
    void *context;
} turn;

/* ---- handing over ---- */

/* False: the caller keeps what it has. An empty profile counts as taken. */
static bool hand_over(const turn *t, const char *kind, pp_profile *profile, pp_arena *arena)
{
    pp_buffer encoded = PP_BUFFER_INIT;
    if (t->take == NULL || profile->sample_count == 0) {
        return true;
    }
    profile->symbolize = pp_symbolize_wanted();
    int error = pp_proto_encode_into(profile, arena, &encoded);
    const pp_push_taken taken = {.kind = kind,
                                 .data = encoded.data,
                                 .size = encoded.size,
                                 .begin_ns = profile->time_ns,
                                 .end_ns = profile->time_ns + profile->duration_ns};
    bool is_taken = error == 0 && t->take(&taken, t->context);
    pp_buffer_release(&encoded);
    return is_taken;
}

/* ---- what accumulates ---- */

static snapshot *place_of(const void *key)
{
    for (unsigned i = 0; i < KEPT; i++) {
        if (kept[i].key == key || kept[i].key == NULL) {
            return &kept[i];
        }
    }
    return NULL;
}

/* Whether the counts of `now` contain those of the last snapshot. A sampler that was started since
 * then counts from 0. `has_start`: the time of such a profile is its start. */
static bool continues(const snapshot *last, const snapshot *now, bool has_start)
{
    return last->key != NULL && (!has_start || last->profile.time_ns == now->profile.time_ns);
}

/* Sets the time of what was counted since `begin_ns`. By the wall clock, so that no interval overlaps the next; if
 * somebody has set that clock meanwhile, the profile ends now, and has lasted for what the other clock shows at most. */
static void set_time(pp_profile *difference, int64_t begin_ns, const snapshot *last,
                     const snapshot *now)
{
    int64_t passed = (int64_t)(now->at_ns - last->at_ns);
    int64_t shown = now->time_ns - begin_ns;
    int64_t slack = passed / 8 + PP_NS_PER_S;
    bool began_then = begin_ns == last->time_ns; /* or later: a sampler */
    bool agree = shown > 0 && shown < passed + slack && (!began_then || shown > passed - slack);
    difference->duration_ns = agree ? shown : passed > 0 ? passed : 1;
    difference->time_ns = now->time_ns - difference->duration_ns;
}

static int subtract(const snapshot *last, const snapshot *now, bool has_start, pp_arena *arena,
                    pp_profile *difference)
{
    int error = 0;
    *difference = now->profile;
    if (continues(last, now, has_start)) {
        error = pp_profile_subtract(difference, &last->profile, arena);
    }
    if (last->key != NULL) {
        set_time(difference, last->time_ns, last, now);
    } else {
        set_time(difference, has_start ? now->profile.time_ns : begun.time_ns, &begun, now);
    }
    return error;
}

/* The copy needs no more memory than the next difference needs. */
static int copy_snapshot(const snapshot *from, snapshot *copy)
{
    *copy = *from;
    copy->arena = (pp_arena)PP_ARENA_INIT;
    return pp_profile_copy_samples(&from->profile, &copy->arena, &copy->profile);
}

/* The snapshot becomes the last one if what was added is taken, and only then. */
static void push_difference(const turn *t, const char *kind, const snapshot *now, bool has_start,
                            build_function *complete)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_profile difference;
    snapshot next;
    snapshot *last = place_of(now->key);
    int error = copy_snapshot(now, &next);
    if (error == 0) {
        error = last != NULL ? subtract(last, now, has_start, &arena, &difference) : -ENOSPC;
    }
    if (error == 0 && complete != NULL) {
        error = complete(&arena, &difference);
    }
    if (error == 0 && hand_over(t, kind, &difference, &arena)) {
        pp_arena_release(&last->arena);
        *last = next;
    } else {
        pp_arena_release(&next.arena);
    }
    pp_arena_release(&arena);
}

/* False: there is nothing, or no memory. */
static bool look(snapshot *now, build_function *build)
{
    *now = (snapshot){.key = (const void *)(uintptr_t)build, .arena = PP_ARENA_INIT};
    int error = build(&now->arena, &now->profile);
    now->time_ns = (int64_t)pp_clock_ns(CLOCK_REALTIME);
    now->at_ns = pp_clock_ns(CLOCK_MONOTONIC);
    if (error != 0) {
        pp_arena_release(&now->arena);
    }
    return error == 0;
}

static void push_timed(const turn *t, const pp_kind *kind)
{
    snapshot now;
    if (look(&now, kind->timed->build_so_far)) {
        push_difference(t, kind->name, &now, true, kind->timed->complete);
    }
    pp_arena_release(&now.arena);
}

/* ---- what is in use, beside what accumulates ---- */

static bool is_level(const pp_value_type *type)
{
    return strncmp(type->type, "inuse_", 6) == 0;
}

/* Moves the values of the types that are levels, or that are not, to `to`. 0 or -ENOMEM. */
static int select_types(const pp_profile *from, bool levels, pp_arena *arena, pp_profile *to)
{
    unsigned chosen[PP_MAX_SAMPLE_TYPES] = {0};
    pp_samples samples;
    *to = *from;
    to->sample_type_count = 0;
    for (unsigned i = 0; i < from->sample_type_count; i++) {
        if (is_level(&from->sample_type[i]) == levels) {
            chosen[to->sample_type_count] = i;
            to->sample_type[to->sample_type_count++] = from->sample_type[i];
        }
    }
    to->sample_count = 0;
    if (to->sample_type_count == 0) {
        return 0;
    }
    to->default_sample_type = to->sample_type[to->sample_type_count - 1].type;
    if (pp_samples_init(&samples, from->sample_count, arena) != 0) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < from->sample_count; i++) {
        pp_profile_sample sample = from->samples[i];
        int64_t any = 0;
        memset(sample.value, 0, sizeof sample.value);
        for (unsigned k = 0; k < to->sample_type_count; k++) {
            sample.value[k] = from->samples[i].value[chosen[k]];
            any |= sample.value[k];
        }
        if (any != 0) {
            pp_samples_add(&samples, &sample);
        }
    }
    return pp_samples_give(&samples, to->sample_type_count - 1, arena, to);
}

static void push_built(const turn *t, const pprof_profile *profile)
{
    snapshot now;
    pp_profile levels;
    if (!look(&now, profile->build)) {
        return;
    }
    pp_profile all = now.profile;
    int error = select_types(&all, true, &now.arena, &levels);
    if (error == 0 && levels.sample_type_count > 0) {
        hand_over(t, profile->name, &levels, &now.arena);
        error = select_types(&all, false, &now.arena, &now.profile);
    }
    if (error == 0) {
        push_difference(t, profile->name, &now, false, NULL);
    }
    pp_arena_release(&now.arena);
}

/* ---- as it is ---- */

static int append(void *of_buffer, const void *data, size_t length)
{
    pp_buffer *buffer = of_buffer;
    pp_buffer_append(buffer, data, length);
    return buffer->failed ? -ENOMEM : 0;
}

/* The name by which Go's servers know the profile, if it has one: an unlisted one of the kind, which counts the same. */
static const pprof_profile *alias_of(const pp_kind *kind, const pprof_profile *profile)
{
    for (const pprof_profile *p = kind->profiles; p->name != NULL; p++) {
        if (p->unlisted && p->count == profile->count) {
            return p;
        }
    }
    return profile;
}

static void push_as_it_is(const turn *t, const pprof_profile *profile)
{
    pp_buffer encoded = PP_BUFFER_INIT;
    int64_t now_ns = (int64_t)pp_clock_ns(CLOCK_REALTIME);
    const pprof_writer writer = {append, &encoded};
    if (t->take == NULL) {
        return;
    }
    int error = (pprof_profile_write)((pprof_profile *)(uintptr_t)profile, writer, 0);
    const pp_push_taken taken = {.kind = profile->name,
                                 .data = encoded.data,
                                 .size = encoded.size,
                                 .begin_ns = now_ns,
                                 .end_ns = now_ns};
    if (error == 0) {
        t->take(&taken, t->context);
    }
    pp_buffer_release(&encoded);
}

static bool is_wanted(const pp_kind *kind, const char *name)
{
    for (const pp_end_file *f = kind->files; f != NULL && f->name != NULL; f++) {
        if (f->wanted && strcmp(f->name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- all ---- */

/* Whether the kind has anything to push, now or later. */
static bool is_on(const pp_kind *kind)
{
    bool is_asked_for = false;
    for (const pp_end_file *f = kind->files; f != NULL && f->name != NULL; f++) {
        is_asked_for |= f->wanted;
    }
    return is_asked_for || pp_kind_records(kind) || (kind->made != NULL && kind->made() != NULL);
}

static void push_kind(const turn *t, const pp_kind *kind)
{
    const void *done = NULL; /* two profiles may show the same counts */
    if (kind->timed != NULL && kind->timed->build_so_far != NULL) {
        push_timed(t, kind);
    }
    for (const pprof_profile *p = kind->profiles; p != NULL && p->name != NULL; p++) {
        if (p->unlisted) {
            continue;
        }
        if (p->build != NULL && p->set_rate != NULL && pp_kind_records(kind)) {
            if ((const void *)(uintptr_t)p->set_rate != done) {
                push_built(t, p);
            }
            done = (const void *)(uintptr_t)p->set_rate;
        } else if (p->build != NULL && p->accumulates && is_wanted(kind, p->name)) {
            push_built(t, p);
        } else if (is_wanted(kind, p->name)) {
            push_as_it_is(t, alias_of(kind, p));
        }
    }
}

static void push_kinds(const turn *t)
{
    pp_modules_refresh();
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        push_kind(t, pp_kinds[i]);
        pprof_profile *made = pp_kinds[i]->made != NULL ? pp_kinds[i]->made() : NULL;
        for (; made != NULL; made = __atomic_load_n(&made->next, __ATOMIC_ACQUIRE)) {
            push_as_it_is(t, made);
        }
    }
}

bool pp_push_deltas_has_any(void)
{
    bool has = false;
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        has |= is_on(pp_kinds[i]);
    }
    return has;
}

void pp_push_deltas_begin(void)
{
    begun.time_ns = (int64_t)pp_clock_ns(CLOCK_REALTIME);
    begun.at_ns = pp_clock_ns(CLOCK_MONOTONIC);
}

void pp_push_deltas_collect(pp_push_take *take, void *context)
{
    const turn t = {take, context};
    push_kinds(&t);
}

void pp_push_deltas_skip(void)
{
    const turn t = {NULL, NULL};
    push_kinds(&t);
}

void pp_push_deltas_after_fork_in_child(void)
{
    for (unsigned i = 0; i < KEPT; i++) {
        pp_arena_release(&kept[i].arena);
        kept[i] = (snapshot){.key = NULL};
    }
}
