/* SPDX-License-Identifier: MIT
 *
 * test_mapping_ranges.c: pieces of mappings, beside a twin that remembers each page.
 */
#include "kinds/heap/mapping_ranges.h"

#include "base/random.h"
#include "kinds/heap/heap_peak.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { PAGES = 400, PAGE = 4096, BASE = 1 << 20, OPERATIONS = 20000, OWNERS = OPERATIONS + 1 };

static unsigned owner[PAGES];       /* which mapping has the page; 0 = none */
static unsigned pages_left[OWNERS]; /* of each mapping */

static pp_heap_block block_of(unsigned pages)
{
    uintptr_t pc = 0x1000;
    return pp_heap_block_find(&pc, 1, 1, (uint64_t)pages * PAGE, 1, NULL);
}

static uintptr_t address(unsigned page)
{
    return BASE + (uintptr_t)page * PAGE;
}

static void twin_cut(unsigned first, unsigned pages)
{
    for (unsigned i = first; i < first + pages; i++) {
        pages_left[owner[i]] -= owner[i] != 0;
        owner[i] = 0;
    }
}

/* What the buckets say is in use. */
static uint64_t bytes_in_use(uint64_t *objects)
{
    uint64_t bytes = 0;
    *objects = 0;
    for (const pp_heap_bucket *b = pp_heap_buckets_newest(); b != NULL; b = b->next) {
        pp_heap_counts counts;
        pp_heap_bucket_counts(b, &counts);
        bytes += counts.alloc_bytes - counts.free_bytes - counts.trimmed_bytes;
        *objects += counts.alloc_objects - counts.free_objects;
    }
    return bytes;
}

static void check(unsigned owners)
{
    uint64_t objects = 0;
    uint64_t bytes = 0;
    for (unsigned i = 1; i <= owners; i++) {
        objects += pages_left[i] > 0;
        bytes += (uint64_t)pages_left[i] * PAGE;
    }
    uint64_t found_objects = 0;
    assert_int_equal(bytes_in_use(&found_objects), bytes);
    assert_int_equal(found_objects, objects);
}

/* Mappings and unmappings at random, of which many overlap, end inside, or cover several. */
static void test_like_a_twin(void **state)
{
    (void)state;
    uint64_t random = 1;
    unsigned owners = 0;
    for (unsigned i = 0; i < OPERATIONS; i++) {
        unsigned pages = 1 + (unsigned)pp_random_below(&random, i % 7 == 0 ? 90 : 12);
        unsigned first = (unsigned)pp_random_below(&random, PAGES - pages);
        twin_cut(first, pages);
        if (pp_random_below(&random, 2) == 0) {
            pp_mapping_ranges_cut(address(first), (uint64_t)pages * PAGE);
        } else {
            pp_heap_block block = block_of(pages);
            pp_heap_block_allocated(block);
            owners++;
            for (unsigned k = first; k < first + pages; k++) {
                owner[k] = owners;
            }
            pages_left[owners] = pages;
            assert_true(pp_mapping_ranges_insert(address(first), (uint64_t)pages * PAGE, block));
        }
        if (i % 64 == 0) {
            check(owners);
        }
    }
    pp_mapping_ranges_cut(0, UINT64_MAX);
    twin_cut(0, PAGES);
    check(owners);
    assert_false(pp_mapping_ranges_any());
}

static uint64_t peak_bytes(void)
{
    pp_heap_peak_copy copy;
    uint64_t bytes = 0;
    pp_heap_peak_take(&copy);
    for (size_t i = 0; i < copy.count; i++) {
        const pp_heap_counts *c = &copy.entries[i].counts;
        bytes += c->alloc_bytes - c->free_bytes - c->trimmed_bytes;
    }
    pp_heap_peak_give(&copy);
    return bytes;
}

static void map(unsigned first, unsigned pages)
{
    pp_heap_block block = block_of(pages);
    pp_heap_block_allocated(block);
    assert_true(pp_mapping_ranges_insert(address(first), (uint64_t)pages * PAGE, block));
    pp_heap_peak_add((int64_t)pages * PAGE);
}

/* The peak is what was in use at most, whatever came before and after it. */
static void test_peak(void **state)
{
    (void)state;
    map(0, 50);
    pp_heap_peak_start(); /* counts what is there */
    assert_int_equal(peak_bytes(), 50 * PAGE);
    for (unsigned i = 1; i < 8; i++) {
        map(i * 50, 50);
    }
    pp_mapping_ranges_cut(address(100), 300ull * PAGE);
    assert_int_equal(peak_bytes(), 400 * PAGE);
    map(100, 50);
    assert_int_equal(peak_bytes(), 400 * PAGE);
    map(150, 250);
    map(1000, 1);
    assert_int_equal(peak_bytes(), 401 * PAGE); /* asking brings it up to date */
    pp_mapping_ranges_cut(0, UINT64_MAX);
}

/* Between two copies less than 5 % are missed. */
static void test_peak_grows_in_steps(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 900; i++) {
        map(i, 1);
    }
    pp_mapping_ranges_cut(0, UINT64_MAX);
    assert_in_range(peak_bytes(), 900 * PAGE * 95 / 100, 900 * PAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_like_a_twin),
        cmocka_unit_test(test_peak),
        cmocka_unit_test(test_peak_grows_in_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
