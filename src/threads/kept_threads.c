/* SPDX-License-Identifier: MIT
 *
 * kept_threads.c: two hash tables and a list in an arena. What is not needed any more is left where
 * it is, until it is more than what is needed: then the rest moves into a new arena.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: the memory that no snapshot has taken.
 */
#include "threads/kept_threads.h"

#include "base/stack_hash.h"
#include "modules/loader.h"
#include "sys/clock.h"
#include "sys/tasks.h"

#include <string.h>

enum {
    SLOTS_MIN = 256,
    BYTES_MAX = 16 * 1024 * 1024,
    SPARE_WAITS = 64, /* of threads that are gone, before the rest moves */
    SPARE_BYTES = 64 * 1024,
    READINGS = 4
};

static const uint64_t oldest_ns = 60 * (uint64_t)PP_NS_PER_S;

typedef struct pp_kept_stack {
    uint64_t hash;
    uint64_t round;  /* the last one that saw it */
    uintptr_t *copy; /* in the arena of a snapshot, that of round `copied` */
    uint64_t copied;
    uint32_t depth;
    uintptr_t pc[];
} pp_kept_stack;

/* Pointers by hash; at most half of the slots are used. */
typedef struct table {
    void **slots;
    size_t capacity; /* a power of two; 0 = no memory yet */
    size_t count;
} table;

struct pp_kept_threads {
    pp_arena arena; /* which has this, too */
    int process;
    uint64_t epoch;
    uint64_t round;
    uint64_t now_ns;
    table waits, stacks;
    size_t bytes;                   /* of the arena */
    size_t stack_bytes;             /* of all stacks */
    size_t seen_waits, seen_stacks; /* in this round; of stacks the bytes */
    int *list;
    size_t list_count, list_room;
};

static pp_kept_threads *resting;

/* ---- memory ---- */

static void *get(pp_kept_threads *kept, size_t bytes)
{
    if (bytes > BYTES_MAX - kept->bytes) {
        return NULL;
    }
    kept->bytes += bytes;
    return pp_arena_alloc(&kept->arena, bytes);
}

static void release(pp_kept_threads *kept)
{
    if (kept != NULL) {
        for (size_t i = 0; i < kept->waits.capacity; i++) {
            const pp_kept_wait *wait = kept->waits.slots[i];
            pp_labels_unref(wait != NULL ? wait->labels : NULL);
        }
        pp_arena arena = kept->arena; /* which has `kept` itself */
        pp_arena_release(&arena);
    }
}

static pp_kept_threads *new_memory(void)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_kept_threads *kept = pp_arena_alloc(&arena, sizeof *kept);
    if (kept == NULL) {
        return NULL;
    }
    kept->arena = arena;
    kept->process = pp_task_process();
    return kept;
}

/* ---- tables ---- */

static uint64_t hash_of_tid(int tid)
{
    return (uint64_t)tid * UINT64_C(0x9e3779b97f4a7c15) >> 16;
}

static uint64_t hash_of_wait(const void *item)
{
    return hash_of_tid(((const pp_kept_wait *)item)->sight.tid);
}

static uint64_t hash_of_stack(const void *item)
{
    return ((const pp_kept_stack *)item)->hash;
}

static void put(table *t, void *item, uint64_t hash)
{
    size_t slot = hash & (t->capacity - 1);
    while (t->slots[slot] != NULL) {
        slot = (slot + 1) & (t->capacity - 1);
    }
    t->slots[slot] = item;
}

/* Makes room for one more. */
static bool grow(pp_kept_threads *kept, table *t, uint64_t (*hash_of)(const void *item))
{
    if (t->count < t->capacity / 2) {
        return true;
    }
    const table old = *t;
    size_t capacity = old.capacity > 0 ? old.capacity * 2 : SLOTS_MIN;
    void **slots = get(kept, capacity * sizeof(void *));
    if (slots == NULL) {
        return false;
    }
    t->slots = slots;
    t->capacity = capacity;
    for (size_t i = 0; i < old.capacity; i++) {
        if (old.slots[i] != NULL) {
            put(t, old.slots[i], hash_of(old.slots[i]));
        }
    }
    return true;
}

static pp_kept_wait *wait_of(const pp_kept_threads *kept, int tid)
{
    const table *t = &kept->waits;
    size_t mask = t->capacity - 1;
    for (size_t slot = hash_of_tid(tid) & mask; t->capacity > 0; slot = (slot + 1) & mask) {
        pp_kept_wait *wait = t->slots[slot];
        if (wait == NULL || wait->sight.tid == tid) {
            return wait;
        }
    }
    return NULL;
}

static pp_kept_stack *stack_of(const table *t, uint64_t hash, const uintptr_t *pcs, uint32_t depth)
{
    size_t mask = t->capacity - 1;
    for (size_t slot = hash & mask; t->capacity > 0; slot = (slot + 1) & mask) {
        pp_kept_stack *stack = t->slots[slot];
        if (stack == NULL || (stack->hash == hash && stack->depth == depth &&
                              memcmp(stack->pc, pcs, depth * sizeof *pcs) == 0)) {
            return stack;
        }
    }
    return NULL;
}

/* ---- stacks and waits ---- */

static size_t size_of(const pp_kept_stack *stack)
{
    return sizeof *stack + stack->depth * sizeof *stack->pc;
}

static pp_kept_stack *intern(pp_kept_threads *kept, const uintptr_t *pcs, uint32_t depth)
{
    uint64_t hash = pp_stack_hash(pcs, depth);
    pp_kept_stack *stack = stack_of(&kept->stacks, hash, pcs, depth);
    if (stack != NULL || !grow(kept, &kept->stacks, hash_of_stack)) {
        return stack;
    }
    stack = get(kept, sizeof *stack + depth * sizeof *pcs);
    if (stack != NULL) {
        stack->hash = hash;
        stack->depth = depth;
        memcpy(stack->pc, pcs, depth * sizeof *pcs);
        put(&kept->stacks, stack, hash);
        kept->stacks.count++;
        kept->stack_bytes += size_of(stack);
    }
    return stack;
}

static pp_kept_wait *wait_for(pp_kept_threads *kept, int tid)
{
    pp_kept_wait *wait = wait_of(kept, tid);
    if (wait != NULL || !grow(kept, &kept->waits, hash_of_wait)) {
        return wait;
    }
    wait = get(kept, sizeof *wait);
    if (wait != NULL) {
        wait->sight.tid = tid;
        put(&kept->waits, wait, hash_of_tid(tid));
        kept->waits.count++;
    }
    return wait;
}

/* Counts what this round needs. */
static void see(pp_kept_threads *kept, pp_kept_wait *wait)
{
    kept->seen_waits += wait->round != kept->round;
    wait->round = kept->round;
    if (wait->stack->round != kept->round) {
        wait->stack->round = kept->round;
        kept->seen_stacks += size_of(wait->stack);
    }
}

pp_kept_wait *pp_kept_find(pp_kept_threads *kept, const pp_sight *sight)
{
    pp_kept_wait *wait = kept != NULL ? wait_of(kept, sight->tid) : NULL;
    if (wait == NULL || wait->stack == NULL || sight->clock_ns < 0 ||
        wait->sight.clock_ns != sight->clock_ns || wait->sight.serial != sight->serial ||
        kept->now_ns - wait->walked_ns > oldest_ns) {
        return NULL;
    }
    see(kept, wait);
    return wait;
}

/* Whether the thread's id cannot belong to another one unnoticed. */
static bool is_identified(const pp_kept_threads *kept, const pp_sight *sight)
{
    return sight->serial != 0 || sight->tid == kept->process;
}

pp_kept_wait *pp_kept_add(pp_kept_threads *kept, const pp_sight *sight, const pp_task_place *place,
                          const uintptr_t *pcs, uint32_t depth, pprof_labels *labels)
{
    if (kept == NULL || depth == 0 || sight->clock_ns < 0 || !is_identified(kept, sight)) {
        return NULL;
    }
    pp_kept_stack *stack = intern(kept, pcs, depth);
    pp_kept_wait *wait = stack != NULL ? wait_for(kept, sight->tid) : NULL;
    if (wait == NULL) {
        return NULL;
    }
    wait->sight = *sight;
    wait->place = *place;
    pp_labels_unref(wait->labels);
    wait->labels = pp_labels_ref(labels);
    wait->stack = stack;
    wait->walked_ns = kept->now_ns;
    see(kept, wait);
    return wait;
}

const uintptr_t *pp_kept_stack_in(pp_kept_threads *kept, const pp_kept_wait *wait, pp_arena *arena,
                                  uint32_t *depth)
{
    pp_kept_stack *stack = wait->stack;
    if (stack->copied != kept->round) {
        stack->copy = pp_arena_array(arena, stack->depth, sizeof *stack->pc);
        if (stack->copy == NULL) {
            return NULL;
        }
        memcpy(stack->copy, stack->pc, stack->depth * sizeof *stack->pc);
        stack->copied = kept->round;
    }
    *depth = stack->depth;
    return stack->copy;
}

/* ---- the list ---- */

const int *pp_kept_list(const pp_kept_threads *kept, size_t *count)
{
    *count = kept != NULL ? kept->list_count : 0;
    return *count > 0 ? kept->list : NULL;
}

void pp_kept_set_list(pp_kept_threads *kept, const int *tids, size_t count)
{
    if (kept == NULL || count == 0) {
        return;
    }
    kept->list_count = 0;
    if (count > kept->list_room) {
        size_t room = count + count / 2;
        kept->list_room = 0;
        kept->list = get(kept, room * sizeof *kept->list);
        if (kept->list == NULL) {
            return;
        }
        kept->list_room = room;
    }
    memcpy(kept->list, tids, count * sizeof *tids);
    kept->list_count = count;
}

/* ---- taking and giving back ---- */

static bool clock_is_fine(void)
{
    uint64_t last_ns = pp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (unsigned i = 1; i < READINGS; i++) {
        uint64_t now_ns = pp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        if (now_ns <= last_ns) {
            return false;
        }
        last_ns = now_ns;
    }
    return true;
}

/* A child of vfork, or of a bare fork, finds the memory of its parent; and leaves its own in that
 * of the parent. */
static bool is_outdated(const pp_kept_threads *kept, uint64_t epoch)
{
    return kept->epoch != epoch || kept->process != pp_task_process();
}

static pp_kept_threads *exchange(pp_kept_threads *kept)
{
    return __atomic_exchange_n(&resting, kept, __ATOMIC_ACQ_REL);
}

pp_kept_threads *pp_kept_take(void)
{
    pp_kept_threads *kept = exchange(NULL);
    uint64_t epoch = pp_loader_epoch();
    if (kept != NULL && is_outdated(kept, epoch)) {
        release(kept);
        kept = NULL;
    }
    if (!pp_loader_epoch_is_known() || !clock_is_fine()) {
        release(kept);
        return NULL;
    }
    kept = kept != NULL ? kept : new_memory();
    if (kept != NULL) {
        kept->epoch = epoch;
        kept->now_ns = pp_clock_ns(CLOCK_MONOTONIC);
        kept->round++;
        kept->seen_waits = kept->seen_stacks = 0;
    }
    return kept;
}

static bool is_mostly_spare(const pp_kept_threads *kept)
{
    return kept->waits.count > 2 * kept->seen_waits + SPARE_WAITS ||
           kept->stack_bytes > 2 * kept->seen_stacks + SPARE_BYTES;
}

/* What this round has seen, in a memory of its own. */
static pp_kept_threads *copy_seen(const pp_kept_threads *kept)
{
    pp_kept_threads *fresh = new_memory();
    if (fresh == NULL) {
        return NULL;
    }
    fresh->epoch = kept->epoch;
    fresh->round = kept->round;
    for (size_t i = 0; i < kept->waits.capacity; i++) {
        const pp_kept_wait *from = kept->waits.slots[i];
        if (from != NULL && from->round == kept->round) {
            fresh->now_ns = from->walked_ns;
            pp_kept_add(fresh, &from->sight, &from->place, from->stack->pc, from->stack->depth,
                        from->labels);
        }
    }
    pp_kept_set_list(fresh, kept->list, kept->list_count);
    return fresh;
}

void pp_kept_give_back(pp_kept_threads *kept)
{
    if (kept != NULL && is_mostly_spare(kept)) {
        pp_kept_threads *fresh = copy_seen(kept);
        release(kept);
        kept = fresh;
    }
    if (kept != NULL) {
        release(exchange(kept));
    }
}

void pp_kept_after_fork_in_child(void)
{
    release(exchange(NULL));
}
