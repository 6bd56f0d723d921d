/* SPDX-License-Identifier: MIT
 *
 * test_heap_buckets.c: a stack is in the trie once, a bucket in the trie and in the list once, and
 * whoever finds them finds them whole; nothing is seen freed that was not seen allocated.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "interleave/scenario.h"
#include "store/stack_trie.c"

#define ROOT_BITS  BUCKET_ROOT_BITS /* each has its own */
#define CHILD_BITS BUCKET_CHILD_BITS
#include "kinds/heap/heap_buckets.c"

enum { DEPTH = 2, HASH = 7, SIZE = 64, OTHER_SIZE = 128, RATE = 512 };

static const uintptr_t stack[DEPTH] = {1, 2};
static pp_heap_block passed;

void *pp_bump_alloc(pp_bump *from, size_t bytes)
{
    (void)from;
    return model_alloc(bytes);
}

double pp_blocks_per_sample(double size, uint64_t rate)
{
    (void)size, (void)rate;
    return 1;
}

pp_label_cells *pp_label_cells_at(pp_label_cells **place)
{
    (void)place;
    return NULL;
}

pp_label_cell *pp_label_cell_take(pp_label_cells *in, const void *owner, pprof_labels *labels,
                                  uint64_t weight)
{
    (void)in, (void)owner, (void)labels, (void)weight;
    return NULL;
}

void pp_label_cell_give(pp_label_cell *cell)
{
    (void)cell;
}

static pp_heap_block find(uint64_t size)
{
    pp_heap_block block = pp_heap_block_find(stack, DEPTH, HASH, size, RATE, NULL);
    const pp_heap_bucket *bucket = bucket_of(block);
    MODEL_CHECK(bucket->size == size && bucket->rate == RATE && bucket->stack->hash == HASH);
    MODEL_CHECK(bucket->stack->pc[0] == stack[0] && bucket->stack->pc[1] == stack[1]);
    return block;
}

static void allocate_block(void)
{
    pp_heap_block block = find(SIZE);
    pp_heap_block_allocated(block);
    __atomic_store_n(&passed, block, __ATOMIC_RELEASE);
}

static void allocate_other(void)
{
    pp_heap_block_allocated(find(OTHER_SIZE));
}

static void allocate_two(void)
{
    allocate_other();
    allocate_block();
}

static void free_passed(void)
{
    pp_heap_block block = __atomic_load_n(&passed, __ATOMIC_ACQUIRE);
    if (block != 0) {
        pp_heap_block_freed(block);
    }
}

/* In the order in which pp_heap_bucket_counts() reads. */
static void read_list(void)
{
    for (const pp_heap_bucket *b = pp_heap_buckets_newest(); b != NULL; b = b->next) {
        uint64_t freed = __atomic_load_n(&b->free_objects, __ATOMIC_ACQUIRE);
        uint64_t allocated = __atomic_load_n(&b->alloc_objects, __ATOMIC_ACQUIRE);
        MODEL_CHECK(b->size == SIZE || b->size == OTHER_SIZE);
        MODEL_CHECK(b->stack->depth == DEPTH && freed <= allocated);
    }
}

static void check(uint64_t blocks, uint64_t others)
{
    uint64_t seen[2] = {0, 0};
    for (const pp_heap_bucket *b = buckets.newest; b != NULL; b = b->next) {
        if (b->alloc_objects == 0) {
            continue; /* the loser of a race left it */
        }
        seen[b->size == OTHER_SIZE]++;
        MODEL_CHECK(b->alloc_objects == (b->size == OTHER_SIZE ? others : blocks));
    }
    MODEL_CHECK(seen[0] == (blocks > 0) && seen[1] == (others > 0));
}

static void two_and_one(void)
{
    check(2, 1);
}

static void one_and_one(void)
{
    check(1, 1);
}

static void one(void)
{
    check(1, 0);
}

static const model_scenario same = {
    "same bucket", NULL, {allocate_block, allocate_block, allocate_other}, two_and_one};
static const model_scenario list = {"list", NULL, {allocate_two, read_list}, one_and_one};
static const model_scenario freeing = {
    "freeing", NULL, {allocate_block, free_passed, read_list}, one};

static void each_is_there_once(void **state)
{
    (void)state;
    assert_holds_within(&same, 1, 0);
    assert_is_caught(&same, "pp_stack_trie_find", MODEL_RMW | MODEL_LOAD, __ATOMIC_RELAXED);
    assert_is_caught(&same, "find_bucket", MODEL_RMW | MODEL_LOAD, __ATOMIC_RELAXED);
}

static void what_is_read_is_whole(void **state)
{
    (void)state;
    assert_holds(&list);
    assert_holds(&freeing);
    assert_is_caught(&list, "show_bucket", MODEL_RMW, __ATOMIC_RELAXED);
    assert_is_caught(&list, "pp_heap_buckets_newest", MODEL_LOAD, __ATOMIC_RELAXED);
    assert_is_caught(&freeing, "pp_heap_block_freed", MODEL_RMW, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_there_once),
        cmocka_unit_test(what_is_read_is_whole),
    };
    read_bounds(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
