/* SPDX-License-Identifier: MIT
 *
 * heap_buckets.c: the tries of stacks and buckets (drawing in the header).
 *
 * Zone: HOOK.
 * Locks: none.
 * Owns: the roots; the memory of stacks and buckets.
 */
#include "store/heap_buckets.h"

#include "base/exponential.h"
#include "store/lasting.h"

#include <string.h>

enum {
    ROOT_BITS = 12, /* 32 KiB of roots each; only pages that are used cost memory */
    CHILD_BITS = 2,
    EXACT_SIZES = 64, /* then classes: a site with fewer sizes shows each of them */
    CLASS_BITS = 3,   /* eight classes to a doubling: blocks of one differ by 12.5 % */
    EXTRA_BITS = 16,
    EXTRA_SHIFT = 48
};

static const uint64_t multiplier = UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio */
static const uint64_t address_mask = (UINT64_C(1) << EXTRA_SHIFT) - 1;

static pp_heap_stack *stack_roots[1 << ROOT_BITS];
static pp_heap_bucket *bucket_roots[1 << ROOT_BITS];
static pp_heap_bucket *newest;
static pp_lasting memory = PP_LASTING_INIT;

/* ---- stacks ---- */

static bool is_stack(const pp_heap_stack *stack, uint64_t hash, const uintptr_t *pcs,
                     uint32_t depth)
{
    return stack->hash == hash && stack->depth == depth &&
           memcmp(stack->pc, pcs, depth * sizeof *pcs) == 0;
}

static pp_heap_stack *new_stack(uint64_t hash, const uintptr_t *pcs, uint32_t depth)
{
    pp_heap_stack *stack = pp_lasting_alloc(&memory, sizeof *stack + depth * sizeof *pcs);
    if (stack != NULL) {
        stack->hash = hash;
        stack->depth = depth;
        memcpy(stack->pc, pcs, depth * sizeof *pcs);
    }
    return stack;
}

static pp_heap_stack *find_stack(const uintptr_t *pcs, uint32_t depth, uint64_t hash)
{
    pp_heap_stack **place = &stack_roots[hash & ((1 << ROOT_BITS) - 1)];
    pp_heap_stack *mine = NULL; /* stays unused if somebody brings the same stack first */
    for (uint64_t path = hash;; path <<= CHILD_BITS) {
        pp_heap_stack *stack = __atomic_load_n(place, __ATOMIC_ACQUIRE);
        if (stack == NULL) {
            mine = mine != NULL ? mine : new_stack(hash, pcs, depth);
            if (mine == NULL || __atomic_compare_exchange_n(place, &stack, mine, false,
                                                            __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) {
                return mine;
            }
        }
        if (is_stack(stack, hash, pcs, depth)) {
            return stack;
        }
        place = &stack->child[path >> (64 - CHILD_BITS)];
    }
}

/* ---- sizes ---- */

typedef struct key {
    pp_heap_stack *stack;
    uint64_t size, rate;
    const void *labels;
    uint32_t is_class, shift;
} key;

/* Replaces the size by that of its class; returns what was above it, in units of 2^shift. */
static uint64_t enter_class(key *k)
{
    unsigned doubling = 63 - (unsigned)__builtin_clzll(k->size | 1);
    unsigned width_bits = doubling > CLASS_BITS ? doubling - CLASS_BITS : 0;
    uint64_t above = k->size & ((UINT64_C(1) << width_bits) - 1);
    k->size -= above;
    k->is_class = 1;
    k->shift = width_bits > EXTRA_BITS ? width_bits - EXTRA_BITS : 0;
    return above >> k->shift;
}

/* ---- buckets ---- */

static uint64_t hash_key(const key *k)
{
    uint64_t hash = (k->stack->hash ^ k->size) * multiplier;
    hash ^= hash >> 32;
    hash = (hash ^ k->rate ^ (uintptr_t)k->labels ^ k->is_class) * multiplier;
    return hash ^ hash >> 29;
}

static bool is_bucket(const pp_heap_bucket *bucket, const key *k)
{
    return bucket->stack == k->stack && bucket->size == k->size && bucket->rate == k->rate &&
           bucket->labels == k->labels && bucket->is_class == k->is_class;
}

static pp_heap_bucket *new_bucket(const key *k)
{
    pp_heap_bucket *bucket = pp_lasting_alloc(&memory, sizeof *bucket);
    if (bucket != NULL) {
        bucket->stack = k->stack;
        bucket->size = k->size;
        bucket->rate = k->rate;
        bucket->labels = k->labels;
        bucket->is_class = k->is_class;
        bucket->shift = k->shift;
    }
    return bucket;
}

static void show_bucket(pp_heap_bucket *bucket)
{
    bucket->next = __atomic_load_n(&newest, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&newest, &bucket->next, bucket, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {
    }
}

/* `make`: if there is none. */
static pp_heap_bucket *find_bucket(const key *k, bool make)
{
    uint64_t hash = hash_key(k);
    pp_heap_bucket **place = &bucket_roots[hash & ((1 << ROOT_BITS) - 1)];
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
                show_bucket(mine);
                return mine;
            }
        }
        if (is_bucket(bucket, k)) {
            return bucket;
        }
        place = &bucket->child[path >> (64 - CHILD_BITS)];
    }
}

pp_heap_block pp_heap_block_find(const uintptr_t *pcs, uint32_t depth, uint64_t hash, uint64_t size,
                                 uint64_t rate, const void *labels)
{
    key k = {.stack = find_stack(pcs, depth, hash), .size = size, .rate = rate, .labels = labels};
    if (k.stack == NULL) {
        return 0;
    }
    bool room = __atomic_load_n(&k.stack->sizes, __ATOMIC_RELAXED) < EXACT_SIZES;
    pp_heap_bucket *bucket = find_bucket(&k, room);
    uint64_t extra = 0;
    if (bucket == NULL && !room) {
        extra = enter_class(&k);
        bucket = find_bucket(&k, true);
    }
    return bucket != NULL ? (uintptr_t)bucket | extra << EXTRA_SHIFT : 0;
}

static pp_heap_bucket *bucket_of(pp_heap_block block)
{
    return (pp_heap_bucket *)(uintptr_t)(block & address_mask);
}

static uint64_t size_of(pp_heap_block block)
{
    const pp_heap_bucket *bucket = bucket_of(block);
    return bucket->size + (block >> EXTRA_SHIFT << bucket->shift);
}

void pp_heap_block_allocated(pp_heap_block block)
{
    pp_heap_bucket *bucket = bucket_of(block);
    __atomic_add_fetch(&bucket->alloc_objects, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&bucket->alloc_bytes, size_of(block), __ATOMIC_RELAXED);
}

void pp_heap_block_forgotten(pp_heap_block block)
{
    pp_heap_bucket *bucket = bucket_of(block);
    __atomic_sub_fetch(&bucket->alloc_objects, 1, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&bucket->alloc_bytes, size_of(block), __ATOMIC_RELAXED);
}

void pp_heap_block_freed(pp_heap_block block)
{
    pp_heap_bucket *bucket = bucket_of(block);
    __atomic_add_fetch(&bucket->free_bytes, size_of(block), __ATOMIC_RELEASE);
    __atomic_add_fetch(&bucket->free_objects, 1, __ATOMIC_RELEASE);
}

void pp_heap_block_trimmed(pp_heap_block block, int64_t bytes)
{
    __atomic_add_fetch(&bucket_of(block)->trimmed_bytes, (uint64_t)bytes, __ATOMIC_RELAXED);
}

double pp_heap_block_estimate(pp_heap_block block)
{
    double size = (double)size_of(block);
    return size * pp_blocks_per_sample(size, bucket_of(block)->rate);
}

const pp_heap_bucket *pp_heap_buckets_newest(void)
{
    return __atomic_load_n(&newest, __ATOMIC_ACQUIRE);
}

/* ---- reading ---- */

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/*
 * Frees are read before allocations, so that what is freed meanwhile can only be missed. Bytes are
 * held within what the number of blocks allows: they were read a moment apart.
 */
void pp_heap_bucket_counts(const pp_heap_bucket *bucket, pp_heap_counts *counts)
{
    uint64_t least = bucket->size;
    uint64_t most = bucket->is_class ? least + (least >> CLASS_BITS) : least;
    counts->free_objects = __atomic_load_n(&bucket->free_objects, __ATOMIC_ACQUIRE);
    counts->free_bytes = __atomic_load_n(&bucket->free_bytes, __ATOMIC_ACQUIRE);
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
    uint64_t trimmed = __atomic_load_n(&bucket->trimmed_bytes, __ATOMIC_RELAXED);
    counts->trimmed_bytes = clamp(trimmed, 0, counts->alloc_bytes - counts->free_bytes);
}
