/* SPDX-License-Identifier: MIT
 *
 * test_heap_threads.c: the sampler under threads that free each other's blocks and map and unmap,
 * while profiles are taken and the rate changes. At the end everything was freed, and nothing is in
 * use. Blocks are numbers, not memory, so that it also runs where sanitizers own malloc: what they
 * find in here is the point.
 */
#include "kinds/heap/heap_profile.h"
#include "kinds/heap/heap.h"
#include "kinds/heap/heap_mappings.h"
#include "kinds/heap/heap_peak.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum {
    THREADS = 4,
    ROUNDS = 30000,
    PLACES = 512,
    LEAVES = 0x1000,
    SITES = 100,
    MAPPING_BASE = 1 << 30, /* address of the first thread's pages; blocks are above all */
    MAPPING_SPAN = 1 << 24
};

static uintptr_t box[PLACES];
static uintptr_t next_address = (uintptr_t)1 << 40;
static bool stop;

static pp_caller caller_of(unsigned site)
{
    return (pp_caller){.leaf = LEAVES + site};
}

static uintptr_t allocate(uint64_t size, unsigned site)
{
    uintptr_t address = __atomic_fetch_add(&next_address, 64, __ATOMIC_RELAXED);
    uint64_t rate = size < pp_heap_countdown ? 0 : pp_heap_due(size);
    pp_caller caller = caller_of(site);
    if (size < pp_heap_countdown && rate == 0) {
        pp_heap_countdown -= size;
    }
    if (rate != 0) {
        pp_heap_record(address, size, rate, &caller);
    }
    return address;
}

static void release(uintptr_t address)
{
    uint64_t record = address != 0 ? pp_heap_detach(address) : 0;
    if (record != 0) {
        pp_heap_freed(record);
    }
}

static void map_and_unmap(uintptr_t start, unsigned round)
{
    uint64_t rate = pp_heap_due(65536);
    pp_caller caller = caller_of(99);
    pp_signal_mask old = 0;
    assert_true(pp_heap_mappings_enter(&old));
    if (rate != 0) {
        pp_heap_mapped(start, 65536, round % 2 == 0, rate, &caller);
    }
    pp_heap_mappings_leave(&old);
    for (unsigned part = 0; part < 2; part++) {
        assert_true(pp_heap_mappings_enter(&old));
        pp_heap_unmapped(start + part * 32768, 32768);
        pp_heap_mappings_leave(&old);
    }
}

static void *work(void *argument)
{
    uint64_t state = (uintptr_t)argument + 1;
    uintptr_t pages = MAPPING_BASE + (uintptr_t)argument * MAPPING_SPAN;
    for (unsigned i = 0; i < ROUNDS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint64_t size = 1 + (state >> 40) % 2000;
        uintptr_t address = allocate(size, (unsigned)(state >> 33) % 16);
        release(__atomic_exchange_n(&box[(state >> 20) % PLACES], address, __ATOMIC_ACQ_REL));
        if (i % 64 == 0) {
            map_and_unmap(pages, i);
        }
        if (i % 5000 == 0) {
            pp_heap_set_rate(i % 3 == 0 ? 1 : i % 3 == 1 ? 2000 : 100);
        }
    }
    return NULL;
}

static void build(pp_heap_view view, int64_t *inuse_objects, int64_t *inuse_bytes)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_profile profile;
    assert_int_equal(pp_heap_profile_build(view, &arena, &profile), 0);
    *inuse_objects = *inuse_bytes = 0;
    for (size_t i = 0; i < profile.sample_count; i++) {
        if (profile.samples[i].pc[profile.samples[i].depth - 1] > LEAVES + SITES) {
            continue; /* the test's own malloc, where that is hooked */
        }
        for (unsigned k = 0; k < profile.sample_type_count; k++) {
            assert_true(profile.samples[i].value[k] >= 0);
        }
        *inuse_objects += profile.samples[i].value[2];
        *inuse_bytes += profile.samples[i].value[3];
    }
    pp_arena_release(&arena);
}

static void *read_profiles(void *nothing)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        int64_t objects = 0;
        int64_t bytes = 0;
        build(PP_HEAP_INUSE, &objects, &bytes);
        build(PP_HEAP_PEAK, &objects, &bytes);
    }
    return nothing;
}

static void test_nothing_is_left(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    pthread_t reader;
    assert_true(pp_heap_remember(64)); /* as the hooks begin */
    uint64_t record = pp_heap_detach(64);
    assert_true(record == PP_HEAP_FOREIGN);
    pp_heap_set_rate(1);
    pp_heap_peak_start();
    assert_int_equal(pthread_create(&reader, NULL, read_profiles, NULL), 0);
    for (uintptr_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)i), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    pthread_join(reader, NULL);
    pp_heap_set_rate(0);
    int64_t objects = 0;
    int64_t bytes = 0;
    build(PP_HEAP_INUSE, &objects, &bytes);
    assert_true(objects > 0 && objects < PLACES * 100);
    for (unsigned i = 0; i < PLACES; i++) {
        release(box[i]);
    }
    build(PP_HEAP_INUSE, &objects, &bytes);
    assert_int_equal(objects, 0);
    assert_int_equal(bytes, 0);
    build(PP_HEAP_PEAK, &objects, &bytes);
    assert_true(bytes > 0);
    assert_false(pp_heap_mappings_any());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
