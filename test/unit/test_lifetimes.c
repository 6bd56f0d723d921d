/* SPDX-License-Identifier: MIT
 *
 * test_lifetimes.c: the profile of blocks that were freed: classes, labels of the allocation, sums of
 * sizes of one place, births that are not known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kinds/heap/lifetimes.h"

#include "kinds/heap/heap.h"
#include "kinds/heap/lifetime_profile.h"
#include "kinds/heap/live_table.h"
#include "store/labels.h"
#include "sys/clock.h"

#include <string.h>

static const uintptr_t somewhere = UINT64_C(0x7f0000000000);
static const uintptr_t allocator_pc = UINT64_C(0x400100);

enum { OBJECTS, BYTES, SUM };

/* A class that is long, so that the time of the test does not matter, but not as long as the clock
 * runs: the machine may have begun some minutes ago. */
static uint64_t a_class_us;

static int begin(void **state)
{
    (void)state;
    uint64_t now_us = pp_clock_ns(CLOCK_MONOTONIC) / 1000;
    a_class_us = UINT64_C(1) << (61 - __builtin_clzll(now_us)); /* a quarter to an eighth of it */
    pp_heap_set_rate(1);
    return pp_lifetimes_want();
}

static int end(void **state)
{
    (void)state;
    pp_heap_set_rate(0);
    return 0;
}

__attribute__((noinline)) static pp_caller here(void)
{
    return (pp_caller){.leaf = allocator_pc,
                       .return_address = (uintptr_t)__builtin_return_address(0),
                       .sp = (uintptr_t)__builtin_frame_address(0) + 16,
                       .fp = *(const uintptr_t *)__builtin_frame_address(0)};
}

/* A block that is freed after `us`, by another place for each `leaf`. */
static void live_for(uint64_t size, uint64_t us, uintptr_t leaf)
{
    pp_caller caller = here();
    pp_heap_record(somewhere, size, 1, &caller);
    assert_int_not_equal(pp_live_table_birth(somewhere), 0);
    uint64_t block = pp_heap_detach(somewhere);
    caller.leaf = leaf;
    pp_lifetimes_record(block, pp_clock_ns(CLOCK_MONOTONIC) - us * 1000, &caller);
    pp_heap_freed(block);
}

typedef struct found {
    int64_t samples, objects, bytes, sum;
    uint32_t labels; /* of the last sample */
    const pp_sample_label *label;
} found;

static const pp_sample_label *find_label(const pp_profile_sample *sample, const char *key)
{
    for (uint32_t i = 0; i < sample->label_count; i++) {
        if (strcmp(sample->labels[i].key, key) == 0) {
            return &sample->labels[i];
        }
    }
    return NULL;
}

/* What the place `leaf` has freed of the class. */
static found read_class(pp_arena *arena, uintptr_t leaf, int64_t least_us)
{
    pp_profile profile;
    found f = {0};
    assert_int_equal(pp_lifetime_profile_build(arena, &profile), 0);
    for (size_t i = 0; i < profile.sample_count; i++) {
        const pp_profile_sample *sample = &profile.samples[i];
        const pp_sample_label *lifetime = find_label(sample, "lifetime");
        assert_non_null(lifetime);
        assert_string_equal(lifetime->unit, "microseconds");
        if (sample->pc[0] == leaf + 1 && lifetime->number == least_us) {
            f.samples++;
            f.objects += sample->value[OBJECTS];
            f.bytes += sample->value[BYTES];
            f.sum += sample->value[SUM];
            f.labels = sample->label_count;
            f.label = sample->labels;
        }
    }
    return f;
}

static void a_lifetime_is_in_its_class(void **state)
{
    const uintptr_t leaf = UINT64_C(0x400200);
    pp_arena arena = PP_ARENA_INIT;
    (void)state;
    const struct {
        uint64_t size, us;
    } blocks[] = {{100, a_class_us}, {300, a_class_us + a_class_us / 2}, {50, 2 * a_class_us}};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) { /* of one stack */
        live_for(blocks[i].size, blocks[i].us, leaf);
    }
    found f = read_class(&arena, leaf, (int64_t)a_class_us);
    assert_int_equal(f.samples, 1); /* sizes are added up */
    assert_int_equal(f.objects, 2);
    assert_int_equal(f.bytes, 400);
    assert_in_range(f.sum, a_class_us / 2 * 5, a_class_us * 4 - 1);
    f = read_class(&arena, leaf, (int64_t)a_class_us * 2);
    assert_int_equal(f.objects, 1);
    assert_int_equal(f.bytes, 50);
    pp_arena_release(&arena);
}

static void labels_are_those_of_the_allocation(void **state)
{
    const uintptr_t leaf = UINT64_C(0x400300);
    static const char *const tenant[] = {"tenant", "a"};
    pp_arena arena = PP_ARENA_INIT;
    int error = 0;
    (void)state;
    pprof_labels *set = pp_labels_new(NULL, tenant, 1, &error);
    pp_caller caller = here();
    pprof_labels *before = pp_labels_exchange(set);
    pp_heap_record(somewhere, 100, 1, &caller);
    pp_labels_exchange(before);
    uint64_t block = pp_heap_detach(somewhere);
    caller.leaf = leaf;
    pp_lifetimes_record(block, pp_clock_ns(CLOCK_MONOTONIC) - a_class_us * 1000, &caller);
    pp_heap_freed(block);
    pp_labels_unref(set);
    live_for(200, a_class_us, leaf);
    found f = read_class(&arena, leaf, (int64_t)a_class_us);
    assert_int_equal(f.samples, 2);
    assert_int_equal(f.objects, 2);
    assert_int_equal(f.bytes, 300);
    assert_int_equal(f.labels, 2); /* the lesser value comes last */
    assert_string_equal(f.label[0].key, "tenant");
    assert_string_equal(f.label[0].text, "a");
    pp_arena_release(&arena);
}

static void a_block_whose_birth_nobody_knows_has_no_lifetime(void **state)
{
    size_t before = pp_lifetime_profile_count();
    pp_caller caller = here();
    (void)state;
    pp_heap_record(somewhere, 100, 1, &caller);
    uint64_t block = pp_heap_detach(somewhere);
    caller.leaf = UINT64_C(0x400400);
    pp_lifetimes_record(block, 0, &caller);
    pp_heap_freed(block);
    assert_int_equal(pp_lifetime_profile_count(), before);
}

static void a_failed_realloc_keeps_the_birth(void **state)
{
    (void)state;
    pp_caller caller = here();
    pp_heap_record(somewhere, 100, 1, &caller);
    uint64_t birth_ns = pp_live_table_birth(somewhere);
    pp_heap_reattach(somewhere, pp_heap_detach(somewhere), birth_ns);
    assert_int_equal(pp_live_table_birth(somewhere), birth_ns);
    pp_heap_freed(pp_heap_detach(somewhere));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lifetime_is_in_its_class),
        cmocka_unit_test(labels_are_those_of_the_allocation),
        cmocka_unit_test(a_block_whose_birth_nobody_knows_has_no_lifetime),
        cmocka_unit_test(a_failed_realloc_keeps_the_birth),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
