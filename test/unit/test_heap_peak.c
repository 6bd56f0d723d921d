/* SPDX-License-Identifier: MIT
 *
 * test_heap_peak.c: the bytes in use are right also where another thread uses the cell of a block at
 * once, and a fork finds both copies of the counts at any moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "store/label_cells.h"

/* Another thread may run just then. */
static void give_to_another(pp_label_cell *cell);
#define pp_label_cell_give(cell) give_to_another(cell)
/* NOLINTNEXTLINE(bugprone-suspicious-include): with another thread in it */
#include "kinds/heap/heap_buckets.c"
#undef pp_label_cell_give

static void fork_and_unmap(void *memory, size_t bytes);
#define pp_memory_unmap(memory, bytes) fork_and_unmap(memory, bytes)
/* NOLINTNEXTLINE(bugprone-suspicious-include): with another thread in it */
#include "kinds/heap/heap_peak.c"
#undef pp_memory_unmap

#include "kinds/heap/heap.h"

enum {
    RATE = 4096,
    SIZE = 1000,
    LARGE = 1 << 20,
    ROUNDS = 4,
    BUCKETS = 4000,
    ADDRESS = 0x10000040
};

static const void *another; /* NULL: nobody takes the cell */
static unsigned unmapped;

static void give_to_another(pp_label_cell *cell)
{
    pp_label_cell_give(cell);
    if (cell != NULL && another != NULL)
        cell->owner = another;
}

static void fork_and_unmap(void *memory, size_t bytes)
{
    for (unsigned i = 0; i < 2; i++)
        assert_ptr_not_equal(peak.copies[i].entries, memory);
    unmapped++;
    pp_memory_unmap(memory, bytes);
}

static pp_heap_block block_of(uintptr_t pc, uint64_t size)
{
    return pp_heap_block_find(&pc, 1, pc * UINT64_C(0x9e3779b97f4a7c15), size, RATE, NULL);
}

static void a_free_subtracts_what_its_block_has_added(void **state)
{
    (void)state;
    int error = 0;
    pprof_labels *labels = pp_labels_new(NULL, (const char *const[]){"a", "b"}, 1, &error);
    pp_caller caller = {.return_address = (uintptr_t)block_of, .sp = (uintptr_t)&caller};
    pp_heap_set_rate(0);
    pp_heap_peak_start();
    int64_t before = peak.in_use;
    pprof_labels *none = pp_labels_exchange(labels);
    pp_heap_record(ADDRESS, SIZE, RATE, &caller);
    pp_labels_exchange(none);
    assert_true(peak.in_use > before);
    another = pp_heap_block_bucket(block_of(1, LARGE));
    pp_heap_freed(pp_heap_detach(ADDRESS));
    another = NULL;
    assert_int_equal(peak.in_use, before);
}

static void both_copies_are_there_at_any_moment(void **state)
{
    (void)state;
    pp_heap_peak_start();
    for (uintptr_t round = 1; round <= ROUNDS; round++) {
        for (uintptr_t i = 0; i < BUCKETS; i++)
            pp_heap_block_allocated(block_of(round * BUCKETS + i, SIZE));
        pp_heap_peak_add(LARGE);
    }
    assert_in_range(unmapped, 1, ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_subtracts_what_its_block_has_added),
        cmocka_unit_test(both_copies_are_there_at_any_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
