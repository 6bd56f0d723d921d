/* SPDX-License-Identifier: MIT
 *
 * heap_buckets.c: the trie of buckets (drawing in the header).
 *
 * Zone: HOOK.
 * Owns: the roots; the memory of buckets.
 */
#include "kinds/heap/heap_buckets.h"

#include "base/exponential.h"
#include "store/bump.h"

enum {
    ROOT_BITS = 12, /* 32 KiB of roots; only pages that are used cost memory */
    CHILD_BITS = 2,
    EXACT_SIZES = 64, /* of one stack; further sizes are in classes */
    CLASS_BITS = 3,   /* eight classes for each doubling: sizes of a class differ by 12.5 % */
    EXTRA_BITS = 16,
    EXTRA_SHIFT = 48
};

static const uint64_t multiplier = UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio */
static const uintptr_t is_cell = 1; /* a bit of an address: buckets and cells are aligned */
static const uint64_t address_mask = (UINT64_C(1) << EXTRA_SHIFT) - 1;

static struct {
    pp_heap_bucket *newest;
    pp_heap_bucket *newest_collected;
    pp_label_cells *cells; /* made when they are needed */
    pp_bump memory;
    uint64_t bytes_used;
    size_t count; /* in both lists, or about to be */
    pp_heap_bucket *roots[1 << ROOT_BITS];
} buckets = {.memory = PP_BUMP_INIT};

static void *allocate(size_t size)
{
    void *piece = pp_bump_alloc(&buckets.memory, size);
    if (piece != NULL) {
        __atomic_add_fetch(&buckets.bytes_used, size, __ATOMIC_RELAXED);
    }
    return piece;
}

size_t pp_heap_buckets_bytes(void)
{
    return __atomic_load_n(&buckets.bytes_used, __ATOMIC_RELAXED);
}

/* ---- sizes ---- */

typedef struct key {
    pp_trie_stack *stack;
    uint64_t size, rate;
    uint32_t shift;
    bool is_class, is_collected;
} key;

/* Replaces the size by the least size of its class. Returns the difference in units of 2^shift. */
static uint64_t enter_class(key *k)
{
    unsigned doubling = 63 - (unsigned)__builtin_clzll(k->size | 1);
    unsigned width_bits = doubling > CLASS_BITS ? doubling - CLASS_BITS : 0;
    uint64_t above = k->size & ((UINT64_C(1) << width_bits) - 1);
    k->size -= above;
    k->is_class = true;
    k->shift = width_bits > EXTRA_BITS ? width_bits - EXTRA_BITS : 0;
    return above >> k->shift;
}

/* ---- buckets ---- */

static uint64_t hash_key(const key *k)
{
    uint64_t hash = (k->stack->hash ^ k->size) * multiplier;
    hash ^= hash >> 32;
    hash = (hash ^ k->rate ^ k->is_class ^ (uint64_t)k->is_collected << 1) * multiplier;
    return hash ^ hash >> 29;
}

static bool is_bucket(const pp_heap_bucket *bucket, const key *k)
{
    return bucket->stack == k->stack && bucket->size == k->size && bucket->rate == k->rate &&
           bucket->is_class == k->is_class && bucket->is_collected == k->is_collected;
}

/* Adds the bucket to the list before it is in the trie: a handler that jumps away in between, or
 * the loser of a race, leaves a bucket without blocks in the list. In the other order, no snapshot
 * would ever show its blocks. */
static void show_bucket(pp_heap_bucket *bucket)
{
    pp_heap_bucket **list = bucket->is_collected ? &buckets.newest_collected : &buckets.newest;
    bucket->next = __atomic_load_n(list, __ATOMIC_RELAXED);
    __atomic_add_fetch(&buckets.count, 1, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(list, &bucket->next, bucket, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {
    }
}

static pp_heap_bucket *new_bucket(const key *k)
{
    size_t future = k->is_collected ? PP_HEAP_CYCLES * sizeof(pp_heap_cycle) : 0;
    pp_heap_bucket *bucket = allocate(sizeof *bucket + future);
    if (bucket != NULL) {
        bucket->stack = k->stack;
        bucket->size = k->size;
        bucket->rate = k->rate;
        bucket->is_class = k->is_class;
        bucket->is_collected = k->is_collected;
        bucket->shift = k->shift;
        bucket->least_blocks = pp_blocks_per_sample((double)k->size, k->rate);
        show_bucket(bucket);
    }
    return bucket;
}

/* `make`: makes the bucket if there is none. */
static pp_heap_bucket *find_bucket(const key *k, bool make)
{
    uint64_t hash = hash_key(k);
    pp_heap_bucket **place = &buckets.roots[hash & ((1 << ROOT_BITS) - 1)];
    pp_heap_bucket *mine = NULL;
    for (uint64_t path = hash;; path <<= CHILD_BITS) {
        pp_heap_bucket *bucket = __atomic_load_n(place, __ATOMIC_ACQUIRE);
        if (bucket == NULL) {
            if (!make) {
                return NULL;
            }
            mine = mine != NULL ? mine : new_bucket(k);
            if (mine == NULL) {
                return NULL;
            }
            if (__atomic_compare_exchange_n(place, &bucket, mine, false, __ATOMIC_RELEASE,
                                            __ATOMIC_ACQUIRE)) {
                __atomic_add_fetch(&k->stack->sizes, 1, __ATOMIC_RELAXED);
                return mine;
            }
        }
        if (is_bucket(bucket, k)) {
            return bucket;
        }
        place = &bucket->child[path >> (64 - CHILD_BITS)];
    }
}

static pp_heap_block find_block(key *k, pprof_labels *labels)
{
    if (k->stack == NULL) {
        return 0;
    }
    bool room = __atomic_load_n(&k->stack->sizes, __ATOMIC_RELAXED) < EXACT_SIZES;
    pp_heap_bucket *bucket = find_bucket(k, room);
    uint64_t extra = 0;
    if (bucket == NULL && !room) {
        extra = enter_class(k);
        bucket = find_bucket(k, true);
    }
    if (bucket == NULL) {
        return 0;
    }
    const pp_label_cell *cell = NULL;
    if (labels != NULL) {
        cell = pp_label_cell_take(pp_label_cells_at(&buckets.cells), bucket, labels, 1);
    }
    uintptr_t at = cell != NULL ? (uintptr_t)cell | is_cell : (uintptr_t)bucket;
    return at | extra << EXTRA_SHIFT;
}

pp_heap_block pp_heap_block_find(const uintptr_t *pcs, uint32_t depth, uint64_t hash, uint64_t size,
                                 uint64_t rate, pprof_labels *labels)
{
    key k = {.stack = pp_stack_trie_find(pcs, depth, hash), .size = size, .rate = rate};
    return find_block(&k, labels);
}

pp_heap_block pp_heap_block_find_collected(const uintptr_t *pcs, uint32_t depth, uint64_t hash,
                                           uint64_t size, uint64_t rate, pprof_labels *labels)
{
    (void)labels;
    key k = {.stack = pp_stack_trie_find(pcs, depth, hash),
             .size = size,
             .rate = rate,
             .is_collected = true};
    return find_block(&k, NULL);
}

/* Returns the cell of a block; NULL if the block has no labels. */
static pp_label_cell *cell_of(pp_heap_block block)
{
    uintptr_t at = block & address_mask & ~is_cell;
    return block & is_cell ? (pp_label_cell *)at : NULL;
}

static pp_heap_bucket *bucket_of(pp_heap_block block)
{
    uintptr_t at = block & address_mask & ~is_cell;
    if (block & is_cell) {
        at = (uintptr_t)((const pp_label_cell *)at)->owner;
    }
    return (pp_heap_bucket *)at;
}

uint64_t pp_heap_block_size(pp_heap_block block)
{
    const pp_heap_bucket *bucket = bucket_of(block);
    return bucket->size + (block >> EXTRA_SHIFT << bucket->shift);
}

const pp_heap_bucket *pp_heap_block_bucket(pp_heap_block block)
{
    return bucket_of(block);
}

const pprof_labels *pp_heap_block_labels(pp_heap_block block)
{
    const pp_label_cell *cell = cell_of(block);
    return cell != NULL ? cell->labels : NULL;
}

/* Returns the same weight at each call: a free subtracts what the allocation added. */
static uint64_t weight_of(const pp_heap_bucket *bucket, uint64_t size)
{
    const double one = (double)(UINT64_C(1) << PP_HEAP_WEIGHT_BITS);
    double blocks = pp_blocks_per_sample((double)size, bucket->rate);
    return (uint64_t)(one * blocks / bucket->least_blocks + 0.5);
}

/* `sign` is 1, or -1 modulo 2^64. */
static void count_allocated(pp_heap_block block, uint64_t sign)
{
    pp_heap_bucket *bucket = bucket_of(block);
    pp_label_cell *cell = cell_of(block);
    __atomic_add_fetch(&bucket->alloc_objects, sign, __ATOMIC_RELAXED);
    if (bucket->is_class) {
        uint64_t size = pp_heap_block_size(block);
        __atomic_add_fetch(&bucket->alloc_bytes, sign * size, __ATOMIC_RELAXED);
        __atomic_add_fetch(&bucket->alloc_weight, sign * weight_of(bucket, size), __ATOMIC_RELAXED);
    }
    if (cell != NULL) {
        pp_label_cell_add(cell, PP_HEAP_CELL_ALLOC_OBJECTS, sign);
        pp_label_cell_add(cell, PP_HEAP_CELL_ALLOC_BYTES, sign * pp_heap_block_size(block));
    }
}

void pp_heap_block_allocated(pp_heap_block block)
{
    count_allocated(block, 1);
}

void pp_heap_block_forgotten(pp_heap_block block)
{
    count_allocated(block, UINT64_MAX);
    pp_label_cell_give(cell_of(block));
}

void pp_heap_block_freed(pp_heap_block block)
{
    pp_heap_bucket *bucket = bucket_of(block);
    pp_label_cell *cell = cell_of(block);
    if (bucket->is_class) {
        uint64_t size = pp_heap_block_size(block);
        __atomic_add_fetch(&bucket->free_bytes, size, __ATOMIC_RELEASE);
        __atomic_add_fetch(&bucket->free_weight, weight_of(bucket, size), __ATOMIC_RELEASE);
    }
    __atomic_add_fetch(&bucket->free_objects, 1, __ATOMIC_RELEASE);
    if (cell != NULL) {
        pp_label_cell_add(cell, PP_HEAP_CELL_FREE_BYTES, pp_heap_block_size(block));
        pp_label_cell_add(cell, PP_HEAP_CELL_FREE_OBJECTS, 1);
        pp_label_cell_give(cell);
    }
}

void pp_heap_block_trimmed(pp_heap_block block, int64_t bytes)
{
    __atomic_add_fetch(&bucket_of(block)->trimmed_bytes, (uint64_t)bytes, __ATOMIC_RELAXED);
    pp_label_cell_add(cell_of(block), PP_HEAP_CELL_TRIMMED_BYTES, (uint64_t)bytes);
}

pp_label_cells *pp_heap_buckets_labels(void)
{
    return __atomic_load_n(&buckets.cells, __ATOMIC_ACQUIRE);
}

double pp_heap_block_estimate(pp_heap_block block)
{
    double size = (double)pp_heap_block_size(block);
    return size * pp_blocks_per_sample(size, bucket_of(block)->rate);
}

const pp_heap_bucket *pp_heap_buckets_newest(void)
{
    return __atomic_load_n(&buckets.newest, __ATOMIC_ACQUIRE);
}

size_t pp_heap_buckets_count(void)
{
    return __atomic_load_n(&buckets.count, __ATOMIC_RELAXED);
}

/* ---- collected heaps ---- */

pp_heap_bucket *pp_heap_buckets_newest_collected(void)
{
    return __atomic_load_n(&buckets.newest_collected, __ATOMIC_ACQUIRE);
}

void pp_heap_block_allocated_in(pp_heap_block block, unsigned index)
{
    pp_heap_cycle *cycle = &bucket_of(block)->future[index];
    __atomic_add_fetch(&cycle->alloc_objects, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&cycle->alloc_bytes, pp_heap_block_size(block), __ATOMIC_RELAXED);
}

/* The sum is right, modulo 2^64, whether the cycle was published meanwhile or not. */
void pp_heap_block_forgotten_in(pp_heap_block block, unsigned index)
{
    pp_heap_cycle *cycle = &bucket_of(block)->future[index];
    __atomic_sub_fetch(&cycle->alloc_objects, 1, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&cycle->alloc_bytes, pp_heap_block_size(block), __ATOMIC_RELAXED);
}

void pp_heap_block_freed_in(pp_heap_block block, unsigned index)
{
    pp_heap_cycle *cycle = &bucket_of(block)->future[index];
    __atomic_add_fetch(&cycle->free_bytes, pp_heap_block_size(block), __ATOMIC_RELEASE);
    __atomic_add_fetch(&cycle->free_objects, 1, __ATOMIC_RELEASE);
}

static void move_count(uint64_t *from, uint64_t *to)
{
    if (__atomic_load_n(from, __ATOMIC_RELAXED) != 0) {
        __atomic_add_fetch(to, __atomic_exchange_n(from, 0, __ATOMIC_ACQ_REL), __ATOMIC_RELEASE);
    }
}

/* Takes frees out first and adds them last, so that no reader sees a free before its
 * allocation. */
void pp_heap_bucket_publish(pp_heap_bucket *bucket, unsigned index)
{
    pp_heap_cycle *cycle = &bucket->future[index];
    uint64_t free_objects = __atomic_exchange_n(&cycle->free_objects, 0, __ATOMIC_ACQ_REL);
    uint64_t free_bytes = __atomic_exchange_n(&cycle->free_bytes, 0, __ATOMIC_ACQ_REL);
    move_count(&cycle->alloc_objects, &bucket->alloc_objects);
    move_count(&cycle->alloc_bytes, &bucket->alloc_bytes);
    if (free_objects != 0 || free_bytes != 0) {
        __atomic_add_fetch(&bucket->free_bytes, free_bytes, __ATOMIC_RELEASE);
        __atomic_add_fetch(&bucket->free_objects, free_objects, __ATOMIC_RELEASE);
    }
}

/* ---- reading ---- */

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* Needs the numbers of blocks in `counts`. A block of a class weighs between 8/9 and
 * 1; the limit here is 7/8. */
static void read_weights(const pp_heap_bucket *bucket, uint64_t free_weight, pp_heap_counts *counts)
{
    const uint64_t most = UINT64_C(1) << PP_HEAP_WEIGHT_BITS;
    const uint64_t least = most - (most >> CLASS_BITS);
    uint64_t live = counts->alloc_objects - counts->free_objects;
    uint64_t alloc_weight = __atomic_load_n(&bucket->alloc_weight, __ATOMIC_RELAXED);
    counts->alloc_weight =
        clamp(alloc_weight, counts->alloc_objects * least, counts->alloc_objects * most);
    free_weight = clamp(free_weight, counts->free_objects * least, counts->free_objects * most);
    uint64_t held = counts->alloc_weight > free_weight ? counts->alloc_weight - free_weight : 0;
    counts->free_weight = counts->alloc_weight - clamp(held, live * least, live * most);
}

uint64_t pp_heap_bucket_largest(const pp_heap_bucket *bucket)
{
    return bucket->is_class ? bucket->size + (bucket->size >> CLASS_BITS) : bucket->size;
}

/*
 * Reads frees before allocations, so that a free in between can only be missed. Limits bytes to
 * what the number of blocks allows, because the two were read at different moments.
 */
void pp_heap_bucket_counts(const pp_heap_bucket *bucket, pp_heap_counts *counts)
{
    uint64_t least = bucket->size;
    uint64_t most = pp_heap_bucket_largest(bucket);
    counts->free_objects = __atomic_load_n(&bucket->free_objects, __ATOMIC_ACQUIRE);
    counts->free_bytes = __atomic_load_n(&bucket->free_bytes, __ATOMIC_ACQUIRE);
    uint64_t free_weight = __atomic_load_n(&bucket->free_weight, __ATOMIC_ACQUIRE);
    counts->alloc_bytes = __atomic_load_n(&bucket->alloc_bytes, __ATOMIC_ACQUIRE);
    counts->alloc_objects = __atomic_load_n(&bucket->alloc_objects, __ATOMIC_ACQUIRE);
    if (counts->alloc_objects < counts->free_objects) {
        counts->alloc_objects = counts->free_objects;
    }
    counts->alloc_bytes =
        clamp(counts->alloc_bytes, counts->alloc_objects * least, counts->alloc_objects * most);
    counts->free_bytes =
        clamp(counts->free_bytes, counts->free_objects * least, counts->free_objects * most);
    uint64_t live = counts->alloc_objects - counts->free_objects;
    uint64_t held = counts->alloc_bytes - counts->free_bytes;
    counts->free_bytes = counts->alloc_bytes - clamp(held, live * least, live * most);
    counts->alloc_weight = counts->free_weight = 0;
    if (bucket->is_class && !bucket->is_collected) {
        read_weights(bucket, free_weight, counts);
    }
    uint64_t trimmed = __atomic_load_n(&bucket->trimmed_bytes, __ATOMIC_RELAXED);
    counts->trimmed_bytes = clamp(trimmed, 0, counts->alloc_bytes - counts->free_bytes);
}
