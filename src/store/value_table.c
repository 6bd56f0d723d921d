/* SPDX-License-Identifier: MIT
 *
 * value_table.c: shards of slots (drawing in the header).
 *
 * Zone: HOOK.
 * Locks: one for each shard, and one for snapshots.
 * Owns: the tables.
 */
#include "store/value_table.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "sys/lock.h"

#include <errno.h>

enum {
    SHARD_BITS = 6,
    SHARDS = 1 << SHARD_BITS,
    FIRST_SLOTS = 16,        /* inside the shard: a profile of some hundred values is one mapping */
    LEAST_SLOTS = 128,       /* of a mapping: a page */
    HOLDER = 1,              /* the holder that locks name; nobody reads it */
    YIELD_ATTEMPTS = 64 + 16 /* calls of pp_lock_pause(): 2 ms; a sleeper retries 16 times */
};

typedef struct slots {
    uint64_t count; /* a power of two */
    pp_value slot[];
} slots;

typedef struct shard {
    pp_lock lock;
    uint32_t count; /* values */
    uint32_t used;  /* slots that are not free: values, and slots that searches pass over */
    slots *slots;
    uint64_t
        first[sizeof(slots) / sizeof(uint64_t) + FIRST_SLOTS * sizeof(pp_value) / sizeof(uint64_t)];
} __attribute__((aligned(64))) shard;

struct pp_value_table {
    shard shard[SHARDS];
    pp_lock snapshot; /* one snapshot at a time */
    uint32_t waiting; /* threads that wait for a shard */
};

/* The stack of an emptied slot between others: a search continues after it. */
static const pp_trie_stack passed;

/* ---- slots ---- */

/* Pointers differ in few bits, so each bit must affect the hash (multiplier: 2^64 / golden
 * ratio). */
static uint64_t hash_value(uintptr_t value)
{
    const uint64_t multiplier = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = value * multiplier;
    return (hash ^ hash >> 32) * multiplier;
}

static shard *shard_of(pp_value_table *table, uint64_t hash)
{
    return &table->shard[hash >> (64 - SHARD_BITS)];
}

static size_t slots_bytes(uint64_t count)
{
    return sizeof(slots) + count * sizeof(pp_value);
}

static bool is_free(const pp_value *slot)
{
    return slot->stack == NULL;
}

static bool is_value(const pp_value *slot)
{
    return slot->stack != NULL && slot->stack != &passed;
}

static pp_value *next_slot(slots *list, pp_value *slot)
{
    return slot + 1 < list->slot + list->count ? slot + 1 : list->slot;
}

static pp_value *previous_slot(slots *list, pp_value *slot)
{
    return slot > list->slot ? slot - 1 : list->slot + list->count - 1;
}

/* The slot of `value`, or else the slot that it would take. Every array has a free slot. */
static pp_value *find_slot(slots *list, uint64_t hash, uintptr_t value)
{
    pp_value *vacant = NULL;
    pp_value *slot = &list->slot[(hash >> 16) & (list->count - 1)];
    while (!is_free(slot)) {
        if (slot->stack == &passed) {
            vacant = vacant != NULL ? vacant : slot;
        } else if (slot->value == value) {
            return slot;
        }
        slot = next_slot(list, slot);
    }
    return vacant != NULL ? vacant : slot;
}

/* Stores the stack last, which makes the slot a value: another thread may fork at any point. */
static void fill_slot(pp_value *slot, const pp_value *value)
{
    slot->value = value->value;
    slot->labels = value->labels;
    __atomic_store_n(&slot->stack, value->stack, __ATOMIC_RELEASE);
}

/* ---- arrays ---- */

static uint64_t slots_for(uint32_t values)
{
    uint64_t count = LEAST_SLOTS;
    while (values > count / 2) {
        count *= 2;
    }
    return values > FIRST_SLOTS / 2 ? count : FIRST_SLOTS;
}

static bool is_first(const shard *s)
{
    return s->slots == (const slots *)s->first;
}

/* Moves the values to an array that suits their number. False if there is no memory. */
PP_COLD_PATH static bool resize(shard *s)
{
    int saved_errno = errno;
    slots *old = s->slots;
    uint64_t count = slots_for(s->count);
    /* The shard's first array cannot be filled while it is read. */
    slots *list = count == FIRST_SLOTS && !is_first(s) ? (slots *)s->first : NULL;
    if (list == NULL) {
        count = count > LEAST_SLOTS ? count : LEAST_SLOTS;
        list = pp_memory_map(slots_bytes(count));
    }
    errno = saved_errno;
    if (list == NULL) {
        return false;
    }
    list->count = count;
    for (uint64_t i = 0; list == (slots *)s->first && i < count; i++) {
        list->slot[i].stack = NULL;
    }
    for (uint64_t i = 0; i < old->count; i++) {
        if (is_value(&old->slot[i])) {
            uint64_t hash = hash_value(old->slot[i].value);
            fill_slot(find_slot(list, hash, old->slot[i].value), &old->slot[i]);
        }
    }
    bool was_first = is_first(s);
    __atomic_store_n(&s->slots, list, __ATOMIC_RELEASE);
    s->used = s->count;
    if (!was_first) {
        pp_memory_unmap(old, slots_bytes(old->count));
    }
    return true;
}

static bool is_full(const shard *s)
{
    return s->used >= s->slots->count / 4 * 3;
}

static bool is_sparse(const shard *s)
{
    return !is_first(s) && s->count < s->slots->count / 16;
}

/* ---- locks ---- */

PP_COLD_PATH static void wait_for(pp_value_table *table, shard *s)
{
    __atomic_add_fetch(&table->waiting, 1, __ATOMIC_RELAXED);
    pp_lock_take(&s->lock, HOLDER);
    __atomic_sub_fetch(&table->waiting, 1, __ATOMIC_RELAXED);
}

static void enter(pp_value_table *table, shard *s)
{
    if (pp_unlikely(!pp_lock_try(&s->lock, HOLDER))) {
        wait_for(table, s);
    }
}

/*
 * Lets the threads that waited for the end of an earlier snapshot go first. Without this, a program
 * that writes one profile after the other would take the locks again before a sleeping thread
 * retries. The number of attempts is limited, because among many threads some thread always waits.
 */
static void enter_snapshot(pp_value_table *table)
{
    pp_lock_take(&table->snapshot, HOLDER);
    for (unsigned attempt = 0; attempt < YIELD_ATTEMPTS; attempt++) {
        if (__atomic_load_n(&table->waiting, __ATOMIC_RELAXED) == 0) {
            break;
        }
        pp_lock_pause(attempt);
    }
    for (unsigned i = 0; i < SHARDS; i++) {
        pp_lock_take(&table->shard[i].lock, HOLDER);
    }
}

static void leave_snapshot(pp_value_table *table)
{
    for (unsigned i = 0; i < SHARDS; i++) {
        pp_lock_release(&table->shard[i].lock);
    }
    pp_lock_release(&table->snapshot);
}

/* ---- interface ---- */

pp_value_table *pp_value_table_new(void)
{
    pp_value_table *table = pp_memory_map(sizeof *table);
    for (unsigned i = 0; table != NULL && i < SHARDS; i++) {
        shard *s = &table->shard[i];
        s->slots = (slots *)s->first;
        s->slots->count = FIRST_SLOTS;
    }
    return table;
}

void pp_value_table_free(pp_value_table *table)
{
    pp_memory_unmap(table, sizeof *table);
}

static int add_to(shard *s, uint64_t hash, const pp_value *value)
{
    pp_value *slot = find_slot(s->slots, hash, value->value);
    if (is_value(slot)) {
        return -EEXIST;
    }
    if (is_free(slot) && is_full(s)) {
        if (!resize(s)) {
            return -ENOMEM;
        }
        slot = find_slot(s->slots, hash, value->value);
    }
    s->used += is_free(slot);
    fill_slot(slot, value);
    __atomic_store_n(&s->count, s->count + 1, __ATOMIC_RELAXED);
    return 0;
}

int pp_value_table_add(pp_value_table *table, const pp_value *value)
{
    uint64_t hash = hash_value(value->value);
    shard *s = shard_of(table, hash);
    enter(table, s);
    int error = add_to(s, hash, value);
    pp_lock_release(&s->lock);
    return error;
}

/* Empties the slot. It becomes free if a search would end right after it; then the passed slots
 * before it become free as well. */
static void give_up(shard *s, pp_value *slot)
{
    __atomic_store_n(&slot->stack, &passed, __ATOMIC_RELEASE);
    __atomic_store_n(&s->count, s->count - 1, __ATOMIC_RELAXED);
    if (is_free(next_slot(s->slots, slot))) {
        for (; slot->stack == &passed; slot = previous_slot(s->slots, slot)) {
            __atomic_store_n(&slot->stack, NULL, __ATOMIC_RELEASE);
            s->used--;
        }
    }
    if (pp_unlikely(is_sparse(s))) {
        resize(s);
    }
}

bool pp_value_table_remove(pp_value_table *table, uintptr_t value, pp_value *removed)
{
    uint64_t hash = hash_value(value);
    shard *s = shard_of(table, hash);
    enter(table, s);
    pp_value *slot = find_slot(s->slots, hash, value);
    bool found = is_value(slot);
    if (found) {
        *removed = *slot;
        give_up(s, slot);
    }
    pp_lock_release(&s->lock);
    return found;
}

size_t pp_value_table_estimate(const pp_value_table *table)
{
    size_t count = 0;
    for (unsigned i = 0; i < SHARDS; i++) {
        count += __atomic_load_n(&table->shard[i].count, __ATOMIC_RELAXED);
    }
    return count;
}

size_t pp_value_table_count(pp_value_table *table)
{
    enter_snapshot(table);
    size_t count = pp_value_table_estimate(table);
    leave_snapshot(table);
    return count;
}

static void visit_shard(const shard *s, pp_value_visit *visit, void *context)
{
    const slots *list = s->slots;
    for (uint64_t k = 0; k < list->count; k++) {
        if (is_value(&list->slot[k])) {
            visit(&list->slot[k], context);
        }
    }
}

/* A released shard may change again; a shard that is still unread cannot. */
bool pp_value_table_each(pp_value_table *table, size_t capacity, pp_value_visit *visit,
                         void *context)
{
    enter_snapshot(table);
    bool fits = pp_value_table_estimate(table) <= capacity; /* exact: all is locked */
    for (unsigned i = 0; i < SHARDS; i++) {
        if (fits) {
            visit_shard(&table->shard[i], visit, context);
        }
        pp_lock_release(&table->shard[i].lock);
    }
    pp_lock_release(&table->snapshot);
    return fits;
}

size_t pp_value_table_bytes(pp_value_table *table)
{
    size_t bytes = sizeof *table;
    for (unsigned i = 0; i < SHARDS; i++) {
        shard *s = &table->shard[i];
        enter(table, s);
        bytes += is_first(s) ? 0 : slots_bytes(s->slots->count);
        pp_lock_release(&s->lock);
    }
    return bytes;
}

void pp_value_table_after_fork_in_child(pp_value_table *table)
{
    pp_lock_release(&table->snapshot);
    table->waiting = 0;
    for (unsigned i = 0; i < SHARDS; i++) {
        shard *s = &table->shard[i];
        if (pp_lock_holder(&s->lock) == 0) {
            continue;
        }
        s->count = s->used = 0;
        for (uint64_t k = 0; k < s->slots->count; k++) {
            s->count += is_value(&s->slots->slot[k]);
            s->used += !is_free(&s->slots->slot[k]);
        }
        pp_lock_release(&s->lock);
    }
}
