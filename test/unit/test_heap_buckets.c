/* SPDX-License-Identifier: MIT
 *
 * test_heap_buckets.c: one bucket for each stack, size and rate, whoever brings it; exact sums.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/stack_hash.h"
#include "kinds/heap/heap_buckets.h"

#include <pthread.h>

enum { RATE = 1000 };

static const uintptr_t address_mask = (UINT64_C(1) << 48) - 1;

static const pp_heap_bucket *bucket_of(pp_heap_block block)
{
    return (const pp_heap_bucket *)(uintptr_t)(block & address_mask);
}

/* A stack that no other test uses. */
static uint32_t make_stack(uintptr_t number, uintptr_t pcs[8])
{
    for (uint32_t i = 0; i < 8; i++) {
        pcs[i] = number * 8 + i + 1;
    }
    return 8;
}

static pp_heap_block find_stack(const uintptr_t *pcs, uint32_t depth, uint64_t size, uint64_t rate,
                                pprof_labels *labels)
{
    return pp_heap_block_find(pcs, depth, pp_stack_hash(pcs, depth), size, rate, labels);
}

static pp_heap_block find(uintptr_t number, uint64_t size)
{
    uintptr_t pcs[8];
    uint32_t depth = make_stack(number, pcs);
    return find_stack(pcs, depth, size, RATE, NULL);
}

static void equal_keys_are_one_bucket(void **state)
{
    (void)state;
    uintptr_t pcs[8];
    uint32_t depth = make_stack(1, pcs);
    pp_heap_block block = find(1, 100);
    assert_int_not_equal(block, 0);
    assert_int_equal(find(1, 100), block);
    assert_int_not_equal(find(1, 101), block);
    assert_int_not_equal(find(2, 100), block);
    assert_int_not_equal(find_stack(pcs, depth - 1, 100, RATE, NULL), block);
    assert_int_not_equal(find_stack(pcs, depth, 100, RATE + 1, NULL), block);
    assert_int_equal(bucket_of(block)->size, 100);
    assert_int_equal(bucket_of(block)->rate, RATE);
    assert_memory_equal(bucket_of(block)->stack->pc, pcs, depth * sizeof *pcs);
}

/* Counted in the bucket, and in a cell that is in use until the block is freed. */
static void a_labelled_block_is_the_bucket_s_and_its_cell_s(void **state)
{
    (void)state;
    uintptr_t pcs[8];
    uint32_t depth = make_stack(50, pcs);
    int error = 0;
    static const char *const pair[] = {"k", "v"};
    pprof_labels *labels = pp_labels_new(NULL, pair, 1, &error);
    pp_heap_block plain = find(50, 96);
    pp_heap_block first = find_stack(pcs, depth, 96, RATE, labels);
    pp_heap_block second = find_stack(pcs, depth, 96, RATE, labels);
    assert_int_not_equal(first, plain);
    assert_int_equal(first, second);
    assert_int_equal(pp_heap_block_size(first), 96);
    assert_true(pp_heap_block_estimate(first) == pp_heap_block_estimate(plain));
    pp_heap_block_allocated(plain);
    pp_heap_block_allocated(first);
    pp_heap_block_allocated(second);
    pp_heap_block_freed(first);
    pp_heap_block_forgotten(second);
    pp_heap_counts counts;
    pp_heap_bucket_counts(bucket_of(plain), &counts);
    assert_int_equal(counts.alloc_objects, 2);
    assert_int_equal(counts.free_objects, 1);
    const pp_label_cell *cell = (const pp_label_cell *)(uintptr_t)(first & ~UINT64_C(1));
    assert_ptr_equal(cell->owner, bucket_of(plain));
    assert_int_equal(cell->users, 0);
    assert_int_equal(cell->value[PP_HEAP_CELL_ALLOC_OBJECTS], 1);
    assert_int_equal(cell->value[PP_HEAP_CELL_ALLOC_BYTES], 96);
    assert_int_equal(cell->value[PP_HEAP_CELL_FREE_OBJECTS], 1);
    assert_int_equal(cell->value[PP_HEAP_CELL_FREE_BYTES], 96);
    pp_labels_unref(labels);
}

static void what_is_freed_is_taken_off(void **state)
{
    (void)state;
    pp_heap_counts counts;
    pp_heap_block block = find(10, 77);
    for (int i = 0; i < 5; i++) {
        pp_heap_block_allocated(block);
    }
    pp_heap_block_forgotten(block);
    pp_heap_block_freed(block);
    pp_heap_bucket_counts(bucket_of(block), &counts);
    assert_int_equal(counts.alloc_objects, 4);
    assert_int_equal(counts.alloc_bytes, 4 * 77);
    assert_int_equal(counts.free_objects, 1);
    assert_int_equal(counts.free_bytes, 77);
}

typedef struct sums {
    uint64_t buckets, alloc_objects, alloc_bytes, live_objects, live_bytes;
} sums;

/* Of the stacks that make_stack() made from this number. */
static sums sum_of(uintptr_t number)
{
    sums all = {0};
    for (const pp_heap_bucket *b = pp_heap_buckets_newest(); b != NULL; b = b->next) {
        if (b->stack->pc[0] == number * 8 + 1 && b->stack->depth == 8) {
            pp_heap_counts counts;
            pp_heap_bucket_counts(b, &counts);
            all.buckets += counts.alloc_objects > 0; /* the loser of a race has none */
            all.alloc_objects += counts.alloc_objects;
            all.alloc_bytes += counts.alloc_bytes;
            all.live_objects += counts.alloc_objects - counts.free_objects;
            all.live_bytes += counts.alloc_bytes - counts.free_bytes;
        }
    }
    return all;
}

/* Blocks of every size from one place: few buckets, and not a byte wrong. */
static void many_sizes_share_buckets(void **state)
{
    (void)state;
    enum { SIZES = 20000, LARGE = 40 };
    static pp_heap_block blocks[SIZES + LARGE];
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < SIZES + LARGE; i++) {
        uint64_t size = i < SIZES ? i * 3 : UINT64_C(1) << (i - SIZES + 5);
        bytes += size;
        blocks[i] = find(20, size);
        assert_int_not_equal(blocks[i], 0);
        pp_heap_block_allocated(blocks[i]);
    }
    sums all = sum_of(20);
    assert_true(all.buckets < 600);
    assert_int_equal(all.alloc_objects, SIZES + LARGE);
    assert_int_equal(all.alloc_bytes, bytes);
    assert_int_equal(all.live_bytes, bytes);
    for (size_t i = 0; i < SIZES + LARGE; i++) {
        pp_heap_block_freed(blocks[i]);
    }
    all = sum_of(20);
    assert_int_equal(all.alloc_bytes, bytes);
    assert_int_equal(all.live_objects, 0);
    assert_int_equal(all.live_bytes, 0);
}

/* A class says how large its blocks are to an eighth. */
static void classes_are_narrow(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (uint64_t i = 0; i < 70; i++) {
        find(30, i); /* uses up the exact sizes */
    }
    for (int i = 0; i < 10000; i++) {
        uint64_t size = pp_random_next(&random) >> (1 + pp_random_below(&random, 62));
        const pp_heap_bucket *bucket = bucket_of(find(30, size));
        assert_true(bucket->size <= size);
        assert_true(size - bucket->size <= bucket->size / 8);
    }
}

static void many_stacks_have_a_bucket_each(void **state)
{
    (void)state;
    enum { STACKS = 100000 };
    static pp_heap_block blocks[STACKS];
    for (uintptr_t i = 0; i < STACKS; i++) {
        blocks[i] = find(1000 + i, 8);
        assert_int_not_equal(blocks[i], 0);
        assert_int_equal(bucket_of(blocks[i])->stack->pc[0], (1000 + i) * 8 + 1);
    }
    for (uintptr_t i = 0; i < STACKS; i++) {
        assert_int_equal(find(1000 + i, 8), blocks[i]);
    }
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 20000, SHARED_STACKS = 200 };

static void *work(void *unused)
{
    (void)unused;
    for (uintptr_t i = 0; i < ROUNDS; i++) {
        pp_heap_block block = find(500000 + i % SHARED_STACKS, 1 + i % 7);
        pp_heap_block_allocated(block);
        if (i % 2 == 0) {
            pp_heap_block_freed(block);
        }
    }
    return NULL;
}

static void threads_share_buckets(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, work, NULL), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    uint64_t objects = 0;
    uint64_t live = 0;
    for (uintptr_t i = 0; i < SHARED_STACKS; i++) {
        sums all = sum_of(500000 + i);
        assert_int_equal(all.buckets, 7);
        objects += all.alloc_objects;
        live += all.live_objects;
    }
    assert_int_equal(objects, THREADS * ROUNDS);
    assert_int_equal(live, THREADS * ROUNDS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_keys_are_one_bucket),
        cmocka_unit_test(a_labelled_block_is_the_bucket_s_and_its_cell_s),
        cmocka_unit_test(what_is_freed_is_taken_off),
        cmocka_unit_test(many_sizes_share_buckets),
        cmocka_unit_test(classes_are_narrow),
        cmocka_unit_test(many_stacks_have_a_bucket_each),
        cmocka_unit_test(threads_share_buckets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
