/* SPDX-License-Identifier: MIT
 *
 * heap_peak.c: the bytes in use, their threshold, and the two copies (drawing in the header).
 *
 * Zone: HOOK.
 * Locks: `busy`; a thread inside malloc only tries it. Its holders block signals, because a handler
 *        of the host might jump away.
 * Owns: the copies.
 * Tested by: unit.heap_peak, unit.heap_threads, unit.mapping_ranges, e2e.heap_mappings
 */
#include "kinds/heap/heap_peak.h"

#include "base/compiler.h"
#include "base/exponential.h"
#include "base/memory.h"
#include "sys/lock.h"
#include "sys/signal_mask.h"

enum {
    GROWTH = 20,           /* a new copy is made 1/20 (5 %) above the last one */
    LEAST_BYTES = 1 << 16, /* below this, every block would be a peak */
    SPARE_ENTRIES = 1024,  /* for buckets that are made until the next copy */
    PATIENCE = 2000        /* calls of pp_lock_pause(): a tenth of a second */
};

typedef struct copy {
    pp_heap_peak_entry *entries;
    size_t count, capacity;
    int64_t bytes; /* in use when it was made */
} copy;

static struct {
    int64_t in_use;
    int64_t threshold;
    bool wanted;
    bool busy;
    unsigned newest; /* index of the complete copy */
    copy copies[2];
} peak = {.threshold = LEAST_BYTES};

bool pp_heap_peak_is_wanted(void)
{
    return __atomic_load_n(&peak.wanted, __ATOMIC_RELAXED);
}

static bool take_lock(void)
{
    return !__atomic_exchange_n(&peak.busy, true, __ATOMIC_ACQUIRE);
}

static void release_lock(void)
{
    __atomic_store_n(&peak.busy, false, __ATOMIC_RELEASE);
}

static bool make_room(copy *c, size_t wanted)
{
    if (wanted <= c->capacity) {
        return true;
    }
    size_t capacity = wanted + wanted / 2 + SPARE_ENTRIES;
    pp_heap_peak_entry *entries = pp_memory_map(capacity * sizeof *entries);
    if (entries == NULL) {
        return false;
    }
    pp_heap_peak_entry *old = c->entries;
    size_t old_capacity = c->capacity;
    /* In this order: another thread may fork at any point. */
    __atomic_store_n(&c->entries, entries, __ATOMIC_RELEASE);
    __atomic_store_n(&c->capacity, capacity, __ATOMIC_RELEASE);
    if (old_capacity > 0) {
        pp_memory_unmap(old, old_capacity * sizeof *old);
    }
    return true;
}

static size_t count_buckets(const pp_heap_bucket *first)
{
    size_t count = 0;
    for (const pp_heap_bucket *b = first; b != NULL; b = b->next) {
        count++;
    }
    return count;
}

/* The caller holds `busy`. */
static void copy_all(int64_t bytes)
{
    copy *c = &peak.copies[1 - peak.newest];
    const pp_heap_bucket *first = pp_heap_buckets_newest();
    if (!make_room(c, count_buckets(first))) {
        return;
    }
    c->count = 0;
    for (const pp_heap_bucket *b = first; b != NULL; b = b->next) {
        pp_heap_peak_entry *entry = &c->entries[c->count];
        entry->bucket = b;
        pp_heap_bucket_counts(b, &entry->counts);
        c->count += entry->counts.alloc_objects > 0;
    }
    c->bytes = bytes;
    __atomic_store_n(&peak.newest, 1 - peak.newest, __ATOMIC_RELEASE);
    __atomic_store_n(&peak.threshold, bytes + bytes / GROWTH, __ATOMIC_RELAXED);
}

static int64_t estimate_in_use(const pp_heap_bucket *bucket)
{
    pp_heap_counts counts;
    pp_heap_bucket_counts(bucket, &counts);
    uint64_t objects = counts.alloc_objects - counts.free_objects;
    uint64_t bytes = counts.alloc_bytes - counts.free_bytes;
    if (objects == 0) {
        return 0;
    }
    double each = pp_blocks_per_sample((double)bytes / (double)objects, bucket->rate);
    return (int64_t)((double)(bytes - counts.trimmed_bytes) * each);
}

void pp_heap_peak_start(void)
{
    if (__atomic_exchange_n(&peak.wanted, true, __ATOMIC_RELAXED)) {
        return;
    }
    int64_t bytes = 0;
    for (const pp_heap_bucket *b = pp_heap_buckets_newest(); b != NULL; b = b->next) {
        bytes += estimate_in_use(b);
    }
    __atomic_add_fetch(&peak.in_use, bytes, __ATOMIC_RELAXED);
}

PP_COLD_PATH static void copy_if_free(int64_t now)
{
    pp_signal_mask old = 0;
    pp_signals_block(&old);
    if (take_lock()) {
        copy_all(now);
        release_lock();
    }
    pp_signals_restore(&old);
}

void pp_heap_peak_add(int64_t bytes)
{
    int64_t now = __atomic_add_fetch(&peak.in_use, bytes, __ATOMIC_RELAXED);
    if (now > __atomic_load_n(&peak.threshold, __ATOMIC_RELAXED)) {
        copy_if_free(now);
    }
}

/* A thread that is copying ends in a moment, or never, if a fatal signal's handler runs on it. In
 * the second case the caller reads the complete copy as it is: that thread writes the other one. */
void pp_heap_peak_take(pp_heap_peak_copy *taken)
{
    taken->held = take_lock();
    for (unsigned attempt = 0; !taken->held && attempt < PATIENCE; attempt++) {
        pp_lock_pause(attempt);
        taken->held = take_lock();
    }
    int64_t now = __atomic_load_n(&peak.in_use, __ATOMIC_RELAXED);
    if (taken->held && now > peak.copies[peak.newest].bytes) {
        copy_all(now);
    }
    const copy *c = &peak.copies[__atomic_load_n(&peak.newest, __ATOMIC_ACQUIRE)];
    taken->entries = c->entries;
    taken->count = c->count;
}

void pp_heap_peak_give(const pp_heap_peak_copy *taken)
{
    if (taken->held) {
        release_lock();
    }
}

void pp_heap_peak_after_fork_in_child(void)
{
    release_lock();
}
