/* SPDX-License-Identifier: MIT
 *
 * test_heap_parts.c: parts of a bucket add up to it and are possible, whatever was found in the
 * cells.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "kinds/heap/heap_parts.h"

#include <stdbool.h>

enum { ROUNDS = 200000, PARTS = 4 };

static void assert_possible(const pp_heap_bucket *bucket, const pp_heap_counts *c)
{
    uint64_t least = bucket->size;
    uint64_t most = pp_heap_bucket_largest(bucket);
    assert_true(c->free_objects <= c->alloc_objects);
    assert_true(c->free_bytes <= c->alloc_bytes);
    assert_in_range(c->alloc_bytes, c->alloc_objects * least, c->alloc_objects * most);
    assert_true(c->alloc_bytes - c->free_bytes <= (c->alloc_objects - c->free_objects) * most);
    assert_true(c->trimmed_bytes <= c->alloc_bytes - c->free_bytes);
}

static void add(pp_heap_counts *sum, const pp_heap_counts *part)
{
    sum->alloc_objects += part->alloc_objects;
    sum->alloc_bytes += part->alloc_bytes;
    sum->free_objects += part->free_objects;
    sum->free_bytes += part->free_bytes;
    sum->trimmed_bytes += part->trimmed_bytes;
}

static uint64_t between(uint64_t *random, uint64_t low, uint64_t high)
{
    return low + pp_random_below(random, high - low + 1);
}

static pp_heap_counts random_counts(const pp_heap_bucket *bucket, uint64_t *random)
{
    pp_heap_counts c = {.alloc_objects = pp_random_below(random, 50)};
    uint64_t most = pp_heap_bucket_largest(bucket);
    c.free_objects = pp_random_below(random, c.alloc_objects + 1);
    for (uint64_t i = 0; i < c.alloc_objects; i++) {
        uint64_t size = between(random, bucket->size, most);
        c.alloc_bytes += size;
        c.free_bytes += i < c.free_objects ? size : 0;
    }
    c.trimmed_bytes = pp_random_below(random, c.alloc_bytes - c.free_bytes + 1);
    return c;
}

/* Cells that have nothing to do with the bucket. */
static void anything_adds_up(void **state)
{
    (void)state;
    uint64_t random = 7;
    for (unsigned round = 0; round < ROUNDS; round++) {
        pp_heap_bucket bucket = {.size = pp_random_below(&random, 1000),
                                 .is_class = (uint16_t)(round & 1)};
        pp_heap_counts whole = random_counts(&bucket, &random);
        pp_heap_counts rest = whole;
        pp_heap_counts sum = {0};
        for (unsigned i = 0; i < PARTS; i++) {
            pp_label_share share = {.owner = &bucket};
            pp_heap_counts part;
            for (unsigned k = 0; k < PP_LABEL_VALUES; k++) {
                share.value[k] = pp_random_below(&random, k % 2 == 0 ? 20 : 20000);
            }
            pp_heap_part_take(&bucket, &share, &rest, &part);
            assert_possible(&bucket, &part);
            assert_possible(&bucket, &rest);
            add(&sum, &part);
        }
        add(&sum, &rest);
        assert_memory_equal(&sum, &whole, sizeof sum);
    }
}

/* Cells that were read while nothing happened. */
static void what_is_right_stays_as_it_is(void **state)
{
    (void)state;
    uint64_t random = 9;
    for (unsigned round = 0; round < ROUNDS; round++) {
        pp_heap_bucket bucket = {.size = pp_random_below(&random, 1000),
                                 .is_class = (uint16_t)(round & 1)};
        pp_heap_counts parts[PARTS];
        pp_heap_counts rest = random_counts(&bucket, &random);
        const pp_heap_counts unlabelled = rest;
        for (unsigned i = 0; i < PARTS; i++) {
            parts[i] = random_counts(&bucket, &random);
            add(&rest, &parts[i]);
        }
        for (unsigned i = 0; i < PARTS; i++) {
            const pp_label_share share = {.owner = &bucket,
                                          .value = {parts[i].alloc_objects, parts[i].alloc_bytes,
                                                    parts[i].free_objects, parts[i].free_bytes,
                                                    parts[i].trimmed_bytes}};
            pp_heap_counts part;
            pp_heap_part_take(&bucket, &share, &rest, &part);
            assert_memory_equal(&part, &parts[i], sizeof part);
        }
        assert_memory_equal(&rest, &unlabelled, sizeof rest);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(anything_adds_up),
        cmocka_unit_test(what_is_right_stays_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
