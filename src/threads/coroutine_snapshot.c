/* SPDX-License-Identifier: MIT
 *
 * coroutine_snapshot.c: walks the stack of each suspended coroutine, and keeps each stack once.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: unit.coroutines, e2e.tasks, stress.tasks
 */
#include "threads/coroutine_snapshot.h"

#include "base/pseudo_frame.h"
#include "base/stack_hash.h"
#include "sys/safe_read.h"
#include "threads/coroutines.h"
#include "threads/thread_snapshot.h"
#include "unwind/scratch.h"
#include "unwind/walk_other.h"

#include <errno.h>
#include <string.h>

enum {
    SLACK = 64,      /* for coroutines that begin meanwhile */
    LOOKS = 3,       /* at one that goes on and is suspended during each look */
    SLOT_BITS = 10,  /* of stacks, to begin with */
    NAME_BYTES = 256 /* of a longer name, the beginning */
};

PP_PSEUDO_FRAME(pprof_running_task)

typedef struct stack {
    uint64_t hash;
    const uintptr_t *pc; /* NULL: an empty slot */
    uint32_t depth;
} stack;

/* The working memory of a snapshot. */
typedef struct work {
    const pp_coroutines_wish *wish;
    pp_arena *arena;
    pp_coroutines *coroutines;
    size_t capacity;
    pp_other_space *space;
    uintptr_t *pcs; /* PP_SCRATCH_DEPTH of them */
    stack *stacks;  /* a hash table; at most half of it is used */
    size_t stack_count, stack_capacity;
} work;

/* ---- stacks ---- */

static stack *slot_of(const work *w, uint64_t hash, const uintptr_t *pcs, uint32_t depth)
{
    size_t mask = w->stack_capacity - 1;
    size_t slot = hash & mask;
    while (w->stacks[slot].pc != NULL &&
           !(w->stacks[slot].hash == hash && w->stacks[slot].depth == depth &&
             memcmp(w->stacks[slot].pc, pcs, depth * sizeof *pcs) == 0)) {
        slot = (slot + 1) & mask;
    }
    return &w->stacks[slot];
}

/* The old table remains in the arena. */
static bool resize(work *w, size_t capacity)
{
    const stack *old = w->stacks;
    size_t old_capacity = w->stack_capacity;
    stack *stacks = pp_arena_array(w->arena, capacity, sizeof *stacks);
    if (stacks == NULL) {
        return false;
    }
    w->stacks = stacks;
    w->stack_capacity = capacity;
    for (size_t i = 0; i < old_capacity; i++) {
        if (old[i].pc != NULL) {
            *slot_of(w, old[i].hash, old[i].pc, old[i].depth) = old[i];
        }
    }
    return true;
}

/* Gives the row the stack at w->pcs. Without memory it has none. */
static void keep_stack(work *w, pp_coroutine_row *row, uint32_t depth)
{
    uint64_t hash = pp_stack_hash(w->pcs, depth);
    stack *found = slot_of(w, hash, w->pcs, depth);
    if (found->pc == NULL) {
        uintptr_t *copy = pp_arena_array(w->arena, depth + (size_t)1, sizeof *copy);
        if (copy == NULL) {
            return;
        }
        memcpy(copy, w->pcs, depth * sizeof *copy);
        *found = (stack){hash, copy, depth};
        w->stack_count++;
    }
    row->pc = found->pc;
    row->depth = depth;
    if (2 * w->stack_count >= w->stack_capacity) {
        resize(w, 2 * w->stack_capacity); /* else the next ones take longer */
    }
}

/* Adds what the stack lacks. */
static uint32_t end_in_missing(work *w, uint32_t depth, uintptr_t entry)
{
    enum { MORE = 2 };
    depth = depth < PP_SCRATCH_DEPTH - MORE ? depth : PP_SCRATCH_DEPTH - MORE;
    w->pcs[depth++] = (uintptr_t)pprof_missing_frames + 1;
    if (entry != 0) {
        w->pcs[depth++] = entry;
    }
    return depth;
}

/* Reads the frames of a coroutine without a stack. They may be gone by now. */
static uint32_t read_frames(work *w, const pprof_task_frame *frame)
{
    uint32_t depth = 0;
    while (frame != NULL && depth < PP_SCRATCH_DEPTH) {
        pprof_task_frame copy;
        if (!pp_safe_copy(&copy, (uintptr_t)frame, sizeof copy)) {
            return end_in_missing(w, depth, 0);
        }
        w->pcs[depth++] = copy.pc;
        frame = copy.caller;
    }
    return depth;
}

static uint32_t read_stack(work *w, const pprof_task *task, const pp_suspension *s)
{
    if (s->frames != NULL) {
        return read_frames(w, s->frames);
    }
    if (s->caller.sp == 0) {
        w->pcs[0] = s->caller.return_address;
        return s->caller.return_address != 0 ? 1 : end_in_missing(w, 0, task->entry_);
    }
    pp_walk walk = {.pcs = w->pcs, .capacity = PP_SCRATCH_DEPTH};
    pp_walk_other_caller(&s->caller, s->stack_end, w->space, &walk);
    return walk.stop == PP_STOP_END ? walk.depth : end_in_missing(w, walk.depth, task->entry_);
}

/* ---- rows ---- */

static void describe(work *w, const pprof_task *task, pp_coroutine_row *row)
{
    *row = (pp_coroutine_row){.id = task->id_,
                              .creator = task->creator_,
                              .creator_thread = (int)task->creator_thread_,
                              .created_at = task->created_at_};
    if (w->wish->with_names && task->name_ != NULL) {
        row->name = pp_arena_text(w->arena, task->name_, strnlen(task->name_, NAME_BYTES));
    }
}

/* False: the coroutine runs, or has run meanwhile. */
static bool look_at(work *w, const pprof_task *task, pp_coroutine_row *row)
{
    pp_suspension s;
    if (!pp_coroutine_read(task, &s)) {
        return false;
    }
    uint32_t depth = read_stack(w, task, &s);
    bool labelled = s.labels != NULL && pp_labels_try_ref(s.labels);
    if (!pp_coroutine_is_still(task, &s)) {
        pp_labels_unref(labelled ? s.labels : NULL);
        return false;
    }
    row->why = s.why;
    row->since_ns = s.since_ns;
    row->labels = labelled ? s.labels : NULL;
    keep_stack(w, row, depth);
    return true;
}

static void take_running(work *w, pp_coroutine_row *row)
{
    w->pcs[0] = (uintptr_t)pprof_running_task + 1;
    row->runs = true;
    keep_stack(w, row, 1);
}

static bool make_room(work *w)
{
    pp_coroutines *c = w->coroutines;
    if (c->count < w->capacity) {
        return true;
    }
    pp_coroutine_row *rows = pp_arena_array(w->arena, 2 * w->capacity, sizeof *rows);
    if (rows == NULL) {
        return false;
    }
    memcpy(rows, c->rows, c->count * sizeof *rows);
    c->rows = rows;
    w->capacity *= 2;
    return true;
}

static void add(const pprof_task *task, void *context)
{
    work *w = context;
    unsigned looks = 0;
    if (!make_room(w)) {
        return;
    }
    pp_coroutine_row *row = &w->coroutines->rows[w->coroutines->count];
    describe(w, task, row);
    while (looks < LOOKS && !look_at(w, task, row)) {
        looks++;
    }
    if (looks == LOOKS) {
        if (!w->wish->with_running) {
            return;
        }
        take_running(w, row);
    }
    w->coroutines->count++;
}

int pp_coroutines_snapshot(const pp_coroutines_wish *wish, pp_arena *arena,
                           pp_coroutines *coroutines)
{
    work w = {.wish = wish, .arena = arena, .coroutines = coroutines};
    size_t count = pp_coroutines_count();
    *coroutines = (pp_coroutines){.count = 0};
    if (count == 0) {
        return 0;
    }
    w.capacity = count + SLACK;
    coroutines->rows = pp_arena_array_filled(arena, w.capacity, sizeof *coroutines->rows);
    w.space = pp_arena_alloc(arena, sizeof *w.space);
    w.pcs = pp_arena_array(arena, PP_SCRATCH_DEPTH, sizeof *w.pcs);
    if (coroutines->rows == NULL || w.space == NULL || w.pcs == NULL ||
        !resize(&w, (size_t)1 << SLOT_BITS)) {
        return -ENOMEM;
    }
    pp_coroutines_each(!wish->hasty, add, &w);
    return arena->failed ? -ENOMEM : 0;
}

void pp_coroutines_release(pp_coroutines *coroutines)
{
    for (size_t i = 0; i < coroutines->count; i++) {
        pp_labels_unref(coroutines->rows[i].labels);
    }
    coroutines->count = 0;
}
