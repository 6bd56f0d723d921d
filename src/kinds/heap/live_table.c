/* SPDX-License-Identifier: MIT
 *
 * live_table.c: levels of groups of slots (drawing in the header).
 *
 * Entries and the filter. free() asks only the filter, so the filter that free() asks must count
 * every entry of the table. A thread that records a block writes the key, then reads which filter
 * is the newest. A thread that grows the filter makes the new one the newest, then reads all keys.
 * Each store comes before the load in one total order, so that at least one thread sees the other.
 * The key's generation, changed by compare-and-swap, decides which thread counts the entry.
 *
 * A handler of the host that jumps out of malloc or free may leave a slot busy, or an address that
 * the filter counts once too often. Then the slot is lost, with a block that the program never got,
 * or some frees search in vain. The growth of the filter must not be interrupted: it blocks
 * signals.
 *
 * Zone: HOOK.
 * Owns: the levels.
 */
#include "kinds/heap/live_table.h"

#include "arch/registers.h"
#include "base/compiler.h"
#include "base/memory.h"
#include "kinds/heap/live_filter.h"
#include "sys/clock.h"
#include "sys/signal_mask.h"

enum {
    GROUP = 8, /* keys to a cache line */
    FIRST_GROUPS = 128,
    LEVELS = 32,
    BYTES_PER_BLOCK = 8, /* a filter with less grows: one free in eight searches in vain */
    GENERATION_SHIFT = 57,
    PLANES = 3 /* keys, values, births; the kernel provides no page of births before there is one */
};

static const uint64_t busy = UINT64_C(1) << 63;
static const uint64_t address_mask = (UINT64_C(1) << GENERATION_SHIFT) - 1;

typedef struct level {
    uint64_t groups; /* a power of two */
    uint64_t padding[7];
    uint64_t words[]; /* groups * GROUP keys, then as many values, then as many births */
} level;

static struct {
    size_t entries;
    uint32_t level_count;
    bool growing; /* a thread is growing the filter */
    bool keeps_births;
    level *levels[LEVELS];
} table;

/* ---- keys ---- */

static uint64_t make_key(uintptr_t address, const pp_live_filter_table *filter)
{
    return address | (uint64_t)filter->generation << GENERATION_SHIFT;
}

static uint32_t generation_of(uint64_t key)
{
    return (uint32_t)((key & ~busy) >> GENERATION_SHIFT);
}

/* ---- groups ---- */

static uint64_t *keys_of(level *l, uint64_t group)
{
    return &l->words[(group & (l->groups - 1)) * GROUP];
}

static uint64_t *value_of(level *l, uint64_t *key)
{
    return key + l->groups * GROUP;
}

static uint64_t *birth_of(level *l, uint64_t *key)
{
    return key + l->groups * GROUP * 2;
}

/* Two independent hashes of an address, one in each half. */
static uint64_t hash_address(uintptr_t address)
{
    uint64_t hash = (address >> 3) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static unsigned count_free(const uint64_t *keys)
{
    unsigned count = 0;
    for (unsigned i = 0; i < GROUP; i++) {
        count += __atomic_load_n(&keys[i], __ATOMIC_RELAXED) == 0;
    }
    return count;
}

static uint64_t *claim_in(uint64_t *keys, uintptr_t address)
{
    for (unsigned i = 0; i < GROUP; i++) {
        uint64_t none = 0;
        if (__atomic_load_n(&keys[i], __ATOMIC_RELAXED) == 0 &&
            __atomic_compare_exchange_n(&keys[i], &none, address | busy, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            return &keys[i];
        }
    }
    return NULL;
}

/* Claims a slot in the emptier one of the two groups. */
static uint64_t *claim(level *l, uintptr_t address)
{
    uint64_t hash = hash_address(address);
    uint64_t *a = keys_of(l, hash);
    uint64_t *b = keys_of(l, hash >> 32);
    bool b_first = count_free(b) > count_free(a);
    uint64_t *slot = claim_in(b_first ? b : a, address);
    return slot != NULL ? slot : claim_in(b_first ? a : b, address);
}

static uint64_t *find_in(uint64_t *keys, uintptr_t address)
{
    for (unsigned i = 0; i < GROUP; i++) {
        uint64_t key = __atomic_load_n(&keys[i], __ATOMIC_ACQUIRE);
        if ((key & address_mask) == address && !(key & busy)) {
            return &keys[i];
        }
    }
    return NULL;
}

static uint64_t *slot_of(uintptr_t address, level **in)
{
    uint64_t hash = hash_address(address);
    uint32_t count = __atomic_load_n(&table.level_count, __ATOMIC_ACQUIRE);
    while (count-- > 0) {
        level *l = table.levels[count];
        uint64_t *slot = find_in(keys_of(l, hash), address);
        slot = slot != NULL ? slot : find_in(keys_of(l, hash >> 32), address);
        if (slot != NULL) {
            *in = l;
            return slot;
        }
    }
    return NULL;
}

/* ---- levels ---- */

static size_t level_bytes(uint64_t groups)
{
    return sizeof(level) + groups * GROUP * PLANES * sizeof(uint64_t);
}

static uint64_t groups_of(uint32_t index)
{
    return index == 0 ? FIRST_GROUPS : (uint64_t)FIRST_GROUPS << (index - 1);
}

/* Adds level number `index`, unless another thread has. */
static bool add_level(uint32_t index)
{
    if (index == LEVELS) {
        return false;
    }
    if (__atomic_load_n(&table.levels[index], __ATOMIC_ACQUIRE) == NULL) {
        level *mine = pp_memory_map(level_bytes(groups_of(index)));
        if (mine == NULL) {
            return false;
        }
        mine->groups = groups_of(index);
        level *none = NULL;
        if (!__atomic_compare_exchange_n(&table.levels[index], &none, mine, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE)) {
            pp_memory_unmap(mine, level_bytes(mine->groups));
        }
    }
    uint32_t count = index;
    __atomic_compare_exchange_n(&table.level_count, &count, index + 1, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_RELAXED);
    return true;
}

static uint64_t *claim_anywhere(uintptr_t address, level **in)
{
    for (;;) {
        uint32_t count = __atomic_load_n(&table.level_count, __ATOMIC_ACQUIRE);
        for (uint32_t i = count; i-- > 0;) { /* the newest level has the most room */
            uint64_t *slot = claim(table.levels[i], address);
            if (slot != NULL) {
                *in = table.levels[i];
                return slot;
            }
        }
        if (!add_level(count)) {
            return NULL;
        }
    }
}

/* ---- the filter ---- */

/* Counts the entry in `filter` unless another thread has; so far, the filter of `key` counts it. */
static void move_to(pp_live_filter_table *filter, uint64_t *slot, uint64_t key)
{
    uintptr_t address = key & address_mask;
    pp_live_filter_add(filter, address);
    while (!__atomic_compare_exchange_n(slot, &key, make_key(address, filter), false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
        if ((key & address_mask) != address || key & busy ||
            generation_of(key) >= filter->generation) {
            pp_live_filter_sub(filter, address); /* another thread has freed or counted it */
            return;
        }
    }
}

static void move_level(pp_live_filter_table *filter, level *l)
{
    for (uint64_t i = 0; i < l->groups * GROUP; i++) {
        uint64_t key = __atomic_load_n(&l->words[i], __ATOMIC_SEQ_CST);
        if (key != 0 && !(key & busy) && generation_of(key) != filter->generation) {
            move_to(filter, &l->words[i], key);
        }
    }
}

/* Skips busy slots: the thread that is writing such a slot will see the new filter. */
static void finish_growth(pp_live_filter_table *filter)
{
    uint32_t count = __atomic_load_n(&table.level_count, __ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i < count; i++) {
        move_level(filter, table.levels[i]);
    }
    pp_live_filter_end_growth();
}

static bool filter_is_full(size_t count)
{
    const pp_live_filter_table *filter = __atomic_load_n(&pp_live_filter, __ATOMIC_ACQUIRE);
    return count * BYTES_PER_BLOCK > filter->mask + 1;
}

/* Another thread may have grown the filter since the caller's check; this thread then sees the new
 * filter. */
PP_COLD_PATH static void grow_filter(size_t count)
{
    pp_signal_mask old = 0;
    pp_signals_block(&old);
    if (!__atomic_exchange_n(&table.growing, true, __ATOMIC_ACQUIRE)) {
        pp_live_filter_table *filter = filter_is_full(count) ? pp_live_filter_begin_growth() : NULL;
        if (filter != NULL) {
            finish_growth(filter);
        }
        __atomic_store_n(&table.growing, false, __ATOMIC_RELEASE);
    }
    pp_signals_restore(&old);
}

/* ---- public functions of the file ---- */

void pp_live_table_init(void)
{
    pp_live_filter_init();
}

bool pp_live_table_insert(uintptr_t address, uint64_t value)
{
    bool keeps = __atomic_load_n(&table.keeps_births, __ATOMIC_RELAXED);
    return pp_live_table_insert_again(address, value, keeps ? pp_clock_ns(CLOCK_MONOTONIC) : 0);
}

bool pp_live_table_insert_again(uintptr_t address, uint64_t value, uint64_t birth_ns)
{
    level *l = NULL;
    address = pp_untagged(address);
    uint64_t *slot = claim_anywhere(address, &l);
    if (slot == NULL) {
        return false;
    }
    __atomic_store_n(value_of(l, slot), value, __ATOMIC_RELAXED);
    if (__atomic_load_n(&table.keeps_births, __ATOMIC_RELAXED)) {
        __atomic_store_n(birth_of(l, slot), birth_ns, __ATOMIC_RELAXED);
    }
    pp_live_filter_table *filter = __atomic_load_n(&pp_live_filter, __ATOMIC_ACQUIRE);
    uint64_t key = make_key(address, filter);
    pp_live_filter_add(filter, address);
    __atomic_store_n(slot, key, __ATOMIC_SEQ_CST);
    pp_live_filter_table *newest = pp_live_filter_newest();
    if (newest != filter) {
        move_to(newest, slot, key);
    }
    size_t count = __atomic_add_fetch(&table.entries, 1, __ATOMIC_RELAXED);
    if (filter_is_full(count)) {
        grow_filter(count);
    }
    return true;
}

/* The slot is busy while the value is read: pp_live_table_remove_all() may remove an entry that the
 * block's owner removes, and makes anew in the same slot. */
bool pp_live_table_remove(uintptr_t address, uint64_t *value)
{
    level *l = NULL;
    address = pp_untagged(address);
    uint64_t *slot = slot_of(address, &l);
    if (slot == NULL) {
        return false;
    }
    uint64_t key = __atomic_load_n(slot, __ATOMIC_RELAXED);
    do {
        if ((key & address_mask) != address || key & busy) {
            return false; /* freed twice at the same moment: the other thread has the entry */
        }
    } while (!__atomic_compare_exchange_n(slot, &key, key | busy, true, __ATOMIC_ACQUIRE,
                                          __ATOMIC_RELAXED));
    *value = __atomic_load_n(value_of(l, slot), __ATOMIC_RELAXED);
    __atomic_store_n(slot, 0, __ATOMIC_RELEASE);
    pp_live_filter_table *filter = pp_live_filter_of(generation_of(key));
    if (filter != NULL) {
        pp_live_filter_sub(filter, address);
    }
    __atomic_sub_fetch(&table.entries, 1, __ATOMIC_RELAXED);
    return true;
}

static void remove_of_level(level *l, bool (*takes)(uint64_t value))
{
    for (uint64_t i = 0; i < l->groups * GROUP; i++) {
        uint64_t key = __atomic_load_n(&l->words[i], __ATOMIC_ACQUIRE);
        uint64_t value = 0;
        if (key != 0 && !(key & busy) && pp_live_table_remove(key & address_mask, &value) &&
            !takes(value)) {
            pp_live_table_insert(key & address_mask, value);
        }
    }
}

void pp_live_table_remove_all(bool (*takes)(uint64_t value))
{
    uint32_t count = __atomic_load_n(&table.level_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        remove_of_level(table.levels[i], takes);
    }
}

/* ---- reading ---- */

/* False if the slot is free, or changes meanwhile. */
static bool read_slot(level *l, uint64_t *slot, pp_live_entry *entry)
{
    uint64_t key = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (key == 0 || key & busy) {
        return false;
    }
    *entry = (pp_live_entry){.address = key & address_mask,
                             .value = __atomic_load_n(value_of(l, slot), __ATOMIC_ACQUIRE),
                             .birth_ns = __atomic_load_n(birth_of(l, slot), __ATOMIC_ACQUIRE)};
    uint64_t again = __atomic_load_n(slot, __ATOMIC_RELAXED);
    return (again & address_mask) == entry->address && !(again & busy);
}

void pp_live_table_each(pp_live_table_visit *visit, void *context)
{
    uint32_t count = __atomic_load_n(&table.level_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        level *l = table.levels[i];
        for (uint64_t k = 0; k < l->groups * GROUP; k++) {
            pp_live_entry entry;
            if (read_slot(l, &l->words[k], &entry)) {
                visit(&entry, context);
            }
        }
    }
}

bool pp_live_table_find(uintptr_t address, pp_live_entry *entry)
{
    level *l = NULL;
    address = pp_untagged(address);
    uint64_t *slot = slot_of(address, &l);
    return slot != NULL && read_slot(l, slot, entry) && entry->address == address;
}

void pp_live_table_keep_births(void)
{
    __atomic_store_n(&table.keeps_births, true, __ATOMIC_RELAXED);
}

uint64_t pp_live_table_birth(uintptr_t address)
{
    level *l = NULL;
    address = pp_untagged(address);
    uint64_t *slot =
        __atomic_load_n(&table.keeps_births, __ATOMIC_RELAXED) && pp_live_filter_may_have(address)
            ? slot_of(address, &l)
            : NULL;
    return slot != NULL ? __atomic_load_n(birth_of(l, slot), __ATOMIC_RELAXED) : 0;
}

bool pp_live_table_memory(uint32_t index, uintptr_t *start, size_t *bytes)
{
    if (index >= __atomic_load_n(&table.level_count, __ATOMIC_ACQUIRE)) {
        return false;
    }
    *start = (uintptr_t)table.levels[index];
    *bytes = level_bytes(table.levels[index]->groups);
    return true;
}

size_t pp_live_table_count(void)
{
    return __atomic_load_n(&table.entries, __ATOMIC_RELAXED);
}

size_t pp_live_table_bytes(void)
{
    const pp_live_filter_table *filter = __atomic_load_n(&pp_live_filter, __ATOMIC_ACQUIRE);
    size_t bytes = filter->mask + 1;
    uint32_t count = __atomic_load_n(&table.level_count, __ATOMIC_ACQUIRE);
    bool births = __atomic_load_n(&table.keeps_births, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t plane = table.levels[i]->groups * GROUP * sizeof(uint64_t);
        bytes += sizeof(level) + plane * (births ? PLANES : PLANES - 1);
    }
    return bytes;
}

void pp_live_table_after_fork_in_child(void)
{
    if (pp_live_filter_is_growing()) {
        finish_growth(pp_live_filter_newest());
    }
    table.growing = false;
}
