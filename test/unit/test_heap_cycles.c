/* SPDX-License-Identifier: MIT
 *
 * test_heap_cycles.c: what a described heap shows, and when: without cycles, and with them, across
 * the wrap of their number.
 *
 * Buckets stay for ever, so each test has a block size of its own, by which it knows its records.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "pprof.h"
#include "kinds/heap/alloctrace.h"
#include "kinds/heap/heap.h"
#include "kinds/heap/heap_ages.h"
#include "kinds/heap/heap_cycles.h"
#include "kinds/heap/leak_blocks.h"
#include "kinds/heap/live_table.h"
#include "sys/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 20000 };

/* Addresses of objects that do not exist: they are compared, never looked into. */
static void *object(uintptr_t number)
{
    return (void *)(0x10000000 + number * 16);
}

static void alloc(uintptr_t number, size_t size)
{
    pprof_heap_record_alloc(object(number), size);
}

typedef struct counts {
    int64_t allocated, in_use;
} counts;

/* Of the records of blocks of that size. */
static counts counts_of(size_t size)
{
    static pprof_mem_record records[512];
    size_t n = 0;
    counts sum = {0, 0};
    assert_true(pprof_mem_profile(records, sizeof records / sizeof *records, &n, true));
    for (size_t i = 0; i < n; i++) {
        const pprof_mem_record *r = &records[i];
        assert_in_range(r->free_objects, 0, r->alloc_objects);
        assert_in_range(r->free_bytes, 0, r->alloc_bytes);
        if (r->alloc_bytes / r->alloc_objects == (int64_t)size) {
            assert_int_equal(r->alloc_bytes, r->alloc_objects * (int64_t)size);
            sum.allocated += r->alloc_objects;
            sum.in_use += pprof_mem_record_inuse_objects(r);
        }
    }
    return sum;
}

static void assert_counts(size_t size, int64_t allocated, int64_t in_use)
{
    counts found = counts_of(size);
    if (found.allocated != allocated || found.in_use != in_use)
        fail_msg("size %zu: %ld allocated and %ld in use, not %ld and %ld", size,
                 (long)found.allocated, (long)found.in_use, (long)allocated, (long)in_use);
}

static int prepare(void **state)
{
    (void)state;
    pprof_set_mem_profile_rate(1);
    return 0;
}

/* ---- a model of mprof.go: memRecord, and MemProfile ---- */

enum { MODEL_RUNS = 60, MODEL_STEPS = 3000, SITES = 8, MODEL_SIZE = 3001 };

typedef struct site_counts {
    int64_t allocs, frees;
} site_counts;

typedef struct model {
    site_counts active[SITES];
    site_counts future[SITES][3];
    uintptr_t given[SITES], gone[SITES];
    uintptr_t marked[SITES]; /* were there when the last cycle ended: the sweep may take them */
    uint32_t cycle;
    bool flushed, driven;
} model;

static void model_publish(model *m, uint32_t cycle)
{
    for (unsigned i = 0; i < SITES; i++) {
        site_counts *future = &m->future[i][cycle % 3];
        m->active[i].allocs += future->allocs;
        m->active[i].frees += future->frees;
        *future = (site_counts){0, 0};
    }
}

static void model_flush(model *m)
{
    if (!m->flushed) {
        model_publish(m, m->cycle);
    }
    m->flushed = true;
}

static void model_next(model *m)
{
    model_flush(m); /* mprof.go leaves that to the caller */
    m->cycle++;
    m->flushed = false;
    m->driven = true;
    memcpy(m->marked, m->given, sizeof m->marked);
}

/* mprof.go goes by `clear` alone: there, a second look shows what is new only once it was
 * published. */
static void model_read(model *m)
{
    bool clear = true;
    model_publish(m, m->cycle);
    for (unsigned i = 0; i < SITES; i++) {
        clear = clear && m->active[i].allocs == 0 && m->active[i].frees == 0;
    }
    for (uint32_t ahead = 0; (clear || !m->driven) && ahead < 3; ahead++) {
        model_publish(m, m->cycle + ahead);
    }
}

static uintptr_t model_number(unsigned site, uintptr_t number)
{
    return 5000000 + number * SITES + site;
}

static void model_alloc(model *m, unsigned site)
{
    alloc(model_number(site, m->given[site]++), MODEL_SIZE + site);
    m->future[site][(m->cycle + 2) % 3].allocs++;
}

/* By hand, or by the sweep. */
static void model_free(model *m, unsigned site, bool swept)
{
    if (m->gone[site] >= (swept ? m->marked[site] : m->given[site])) {
        return;
    }
    void *oldest = object(model_number(site, m->gone[site]++));
    if (swept) {
        pprof_heap_record_sweep(oldest);
    } else {
        pprof_heap_record_free(oldest);
    }
    m->future[site][(m->cycle + (swept ? 1 : 2)) % 3].frees++;
}

/* Every number of every record; false if one is another than the model's. */
static bool model_agrees(const model *m)
{
    static pprof_mem_record records[512];
    size_t n = 0;
    site_counts found[SITES] = {{0, 0}};
    bool good = pprof_mem_profile(records, sizeof records / sizeof *records, &n, true);
    for (size_t i = 0; good && i < n; i++) {
        const pprof_mem_record *r = &records[i];
        int64_t size = r->alloc_objects > 0 ? r->alloc_bytes / r->alloc_objects : 0;
        if (size >= MODEL_SIZE && size < MODEL_SIZE + SITES) {
            found[size - MODEL_SIZE].allocs += r->alloc_objects;
            found[size - MODEL_SIZE].frees += r->free_objects;
            good = good && r->alloc_bytes == r->alloc_objects * size &&
                   r->free_bytes == r->free_objects * size;
        }
    }
    return good && memcmp(found, m->active, sizeof found) == 0;
}

/* Allocations are rare in some runs, so that for long nothing is published; some never end
 * a cycle. */
static bool model_step(model *m, uint64_t seed, uint64_t *random)
{
    enum { ALLOC, FREE, SWEEP, NEXT, FLUSH, POST_SWEEP, READ, KINDS };
    static const unsigned weights[][KINDS] = {{30, 10, 15, 10, 10, 5, 20},
                                              {1, 5, 5, 30, 20, 15, 24},
                                              {30, 20, 10, 0, 10, 10, 20},
                                              {60, 10, 10, 3, 3, 4, 10}};
    const unsigned *weight = weights[seed % (sizeof weights / sizeof *weights)];
    unsigned choice = (unsigned)(pp_random_next(random) >> 32) % 100;
    unsigned site = (unsigned)(pp_random_next(random) >> 32) % SITES;
    unsigned kind = 0;
    for (; choice >= weight[kind]; kind++) {
        choice -= weight[kind];
    }
    switch (kind) {
    case ALLOC:
        model_alloc(m, site);
        return true;
    case FREE:
    case SWEEP:
        model_free(m, site, kind == SWEEP);
        return true;
    case NEXT:
        model_next(m);
        pprof_heap_cycle_next();
        return true;
    case FLUSH:
        model_flush(m);
        pprof_heap_cycle_flush();
        return true;
    case POST_SWEEP:
        model_publish(m, m->cycle + 1);
        pprof_heap_cycle_post_sweep();
        return true;
    default:
        model_read(m);
        return model_agrees(m);
    }
}

/* Returns the number of the step after which it disagrees, 0: none. */
static int run_model(uint64_t seed)
{
    model m = {.cycle = 0};
    uint64_t random = seed;
    for (int step = 1; step <= MODEL_STEPS; step++) {
        if (!model_step(&m, seed, &random)) {
            return step;
        }
    }
    return 0;
}

/* In a process of its own, where nobody has ended a cycle yet. */
static void assert_good_in_child(bool (*is_good)(uint64_t), uint64_t argument)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        _exit(is_good(argument) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static bool a_run_is_good(uint64_t seed)
{
    int step = run_model(seed);
    if (step != 0) {
        print_error("seed %lu: other records after step %d\n", (unsigned long)seed, step);
    }
    return step == 0;
}

static void records_are_those_of_the_model(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= MODEL_RUNS; seed++) {
        assert_good_in_child(a_run_is_good, seed);
    }
}

static bool has_counts(size_t size, int64_t expected)
{
    counts found = counts_of(size);
    return found.allocated == expected && found.in_use == expected;
}

/* What comes after the first data waits for its cycle. */
static bool first_data_are_shown(uint64_t size)
{
    alloc(1, size);
    pprof_heap_cycle_next();
    pprof_heap_cycle_flush();
    bool good = has_counts(size, 1);
    alloc(2, size);
    good = good && has_counts(size, 1);
    pprof_heap_cycle_next();
    pprof_heap_cycle_next();
    return good && has_counts(size, 2);
}

/* Nothing has been published yet, though a cycle was ended. */
static void without_data_everything_is_shown(void **state)
{
    (void)state;
    assert_good_in_child(first_data_are_shown, 1017);
}

/* ---- before anybody has ended a cycle ---- */

static void without_cycles_everything_is_shown(void **state)
{
    (void)state;
    for (uintptr_t i = 0; i < 10; i++)
        alloc(i, 1001);
    assert_counts(1001, 10, 10);
    for (uintptr_t i = 0; i < 4; i++)
        pprof_heap_record_free(object(i));
    for (uintptr_t i = 4; i < 7; i++)
        pprof_heap_record_sweep(object(i));
    assert_counts(1001, 10, 3);
    for (uintptr_t i = 7; i < 10; i++)
        pprof_heap_record_free(object(i));
    assert_counts(1001, 10, 0);
}

static void flush_alone_is_no_cycle(void **state)
{
    (void)state;
    uint32_t before = pp_heap_cycle_current();
    pprof_heap_cycle_flush();
    pprof_heap_cycle_post_sweep();
    alloc(1, 1003);
    assert_counts(1003, 1, 1);
    pprof_heap_record_free(object(1));
    assert_counts(1003, 1, 0);
    assert_int_equal(pp_heap_cycle_current(), before);
}

static void nothing_is_ignored(void **state)
{
    (void)state;
    pprof_heap_record_alloc(NULL, 1005);
    pprof_heap_record_free(NULL);
    pprof_heap_record_sweep(NULL);
    pprof_heap_record_free(object(77777));
    pprof_heap_record_sweep(object(77777));
    assert_counts(1005, 0, 0);
}

/* A free that was missed: the address is given out again. */
static void reuse_heals_a_missed_free(void **state)
{
    (void)state;
    alloc(1, 1007);
    alloc(1, 1007);
    assert_counts(1007, 2, 1);
    pprof_heap_record_free(object(1));
    pprof_heap_record_free(object(1));
    assert_counts(1007, 2, 0);
}

/* The first object of a pool may lie where the block lies that malloc gave to the pool. */
static void an_address_of_malloc_is_another_one(void **state)
{
    (void)state;
    void *block = malloc(1009);
    counts before = counts_of(1009);
    pprof_heap_record_alloc(block, 1011);
    assert_counts(1009, before.allocated, before.in_use);
    assert_counts(1011, 1, 1);
    pprof_heap_record_free(block);
    assert_counts(1009, before.allocated, before.in_use);
    assert_counts(1011, 1, 0);
    pprof_heap_record_alloc(block, 1011);
    void *same = object(((uintptr_t)block - (uintptr_t)object(0)) / 16);
    free(block);
    assert_counts(1011, 2, 1);
    pprof_heap_record_free(same);
    assert_counts(1011, 2, 0);
}

/* The same, whether malloc is hooked here or not. */
static void a_block_stays_what_it_is(void **state)
{
    (void)state;
    void *block = object(4);
    pp_caller caller = {.return_address = (uintptr_t)alloc, .sp = (uintptr_t)&caller};
    pp_heap_record((uintptr_t)block, 1027, 1, &caller);
    pprof_heap_record_alloc(block, 1029);
    assert_counts(1027, 1, 1);
    assert_counts(1029, 1, 1);
    pp_heap_freed(pp_heap_detach((uintptr_t)block));
    assert_counts(1027, 1, 0);
    assert_counts(1029, 1, 1);
    pprof_heap_record_free(block);
    assert_counts(1029, 1, 0);
}

/* What a trace remembers of an object that is no sample is no block to those who read the table. */
static bool a_traced_size_is_no_block(uint64_t size)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_heap_ages ages;
    pp_leak_blocks blocks;
    pprof_set_mem_profile_rate(0);
    bool good = pp_log_set_path("/dev/null") == 0;
    pp_alloctrace_start(NULL);
    alloc(6, size);
    good = good && pp_alloctrace_stop() && pp_live_table_count() == 1;
    good = good && pp_heap_ages_read(&arena, &ages) == 0 && ages.count == 0;
    good = good && pp_leak_blocks_list(&blocks, &arena) == 0 && blocks.count == 0;
    pp_heap_forget_blocks();
    good = good && pp_live_table_count() == 0;
    pp_arena_release(&arena);
    return good;
}

static void a_trace_remembers_no_blocks(void **state)
{
    (void)state;
    pp_heap_forget_blocks();
    assert_good_in_child(a_traced_size_is_no_block, 1033);
}

static void the_stack_begins_at_the_caller(void **state)
{
    (void)state;
    pprof_mem_record records[512];
    size_t n = 0;
    alloc(3, 1013);
    assert_true(pprof_mem_profile(records, 512, &n, false));
    for (size_t i = 0; i < n; i++) {
        if (records[i].alloc_bytes == 1013) {
            uintptr_t pc = records[i].stack.pc[0];
            uintptr_t function = (uintptr_t)alloc; /* inlined or not, in this file */
            assert_in_range(pc, function - 0x10000, function + 0x10000);
            assert_in_range(records[i].stack.depth, 2, PPROF_MAX_STACK);
            return;
        }
    }
    fail_msg("no record");
}

typedef struct worker {
    uintptr_t first;
    size_t size;
} worker;

static void *churn(void *context)
{
    const worker *w = context;
    pprof_set_mem_profile_rate(1);
    for (uintptr_t i = 0; i < ROUNDS; i++) {
        alloc(w->first + i, w->size);
        if (i % 2 == 0)
            pprof_heap_record_free(object(w->first + i));
    }
    return NULL;
}

static void run_threads(size_t size)
{
    pthread_t threads[THREADS];
    worker workers[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++) {
        workers[i] = (worker){1000000 + i * ROUNDS, size};
        assert_int_equal(pthread_create(&threads[i], NULL, churn, &workers[i]), 0);
    }
    for (int i = 0; i < 100; i++)
        counts_of(size); /* publishes meanwhile, and looks at each record */
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void release_odd(void)
{
    for (uintptr_t i = 1; i < (uintptr_t)THREADS * ROUNDS; i += 2)
        pprof_heap_record_free(object(1000000 + i));
}

static void threads_lose_nothing(void **state)
{
    (void)state;
    run_threads(1015);
    assert_counts(1015, THREADS * ROUNDS, THREADS * ROUNDS / 2);
    release_odd();
    assert_counts(1015, THREADS * ROUNDS, 0);
}

/* ---- with cycles: from here on they are driven ---- */

static void end_cycle(void)
{
    pprof_heap_cycle_next();
    pprof_heap_cycle_flush();
}

static void what_was_before_the_first_cycle_is_kept(void **state)
{
    (void)state;
    alloc(1, 2001);
    assert_counts(2001, 1, 1);
    end_cycle();
    assert_counts(2001, 1, 1);
    pprof_heap_record_free(object(1));
    end_cycle();
    end_cycle();
    assert_counts(2001, 1, 0);
}

static void an_allocation_is_shown_two_cycles_later(void **state)
{
    (void)state;
    alloc(1, 2003);
    assert_counts(2003, 0, 0);
    end_cycle();
    assert_counts(2003, 0, 0);
    end_cycle();
    assert_counts(2003, 1, 1);
}

static void a_free_is_shown_with_allocations_of_its_time(void **state)
{
    (void)state;
    alloc(1, 2005);
    end_cycle();
    pprof_heap_record_free(object(1)); /* C+2, one later than the allocation */
    end_cycle();
    assert_counts(2005, 1, 1);
    end_cycle();
    assert_counts(2005, 1, 0);
}

static void a_sweep_is_shown_with_allocations_before_the_mark(void **state)
{
    (void)state;
    alloc(1, 2007);
    alloc(2, 2007);
    end_cycle();
    pprof_heap_record_sweep(object(1)); /* C+1, the cycle of the allocation */
    assert_counts(2007, 0, 0);
    end_cycle();
    assert_counts(2007, 2, 1);
}

static void post_sweep_shows_the_mark_without_advancing(void **state)
{
    (void)state;
    alloc(1, 2009);
    alloc(2, 2009);
    end_cycle();
    alloc(3, 2009); /* after the mark */
    pprof_heap_record_sweep(object(1));
    uint32_t before = pp_heap_cycle_current();
    pprof_heap_cycle_post_sweep();
    assert_int_equal(pp_heap_cycle_current(), before);
    assert_counts(2009, 2, 1);
    end_cycle();
    pprof_heap_cycle_post_sweep();
    assert_counts(2009, 3, 2);
    pprof_heap_record_sweep(object(2));
    pprof_heap_record_sweep(object(3));
    end_cycle();
    assert_counts(2009, 3, 0);
}

/* Between next and flush a reader publishes what is due; the flush then finds nothing. */
static void a_reader_need_not_wait_for_flush(void **state)
{
    (void)state;
    alloc(1, 2011);
    end_cycle();
    pprof_heap_cycle_next();
    assert_counts(2011, 1, 1);
    pprof_heap_cycle_flush();
    pprof_heap_cycle_flush();
    assert_counts(2011, 1, 1);
}

static void next_without_flush_flushes(void **state)
{
    (void)state;
    alloc(1, 2013);
    for (int i = 0; i < 7; i++)
        pprof_heap_cycle_next(); /* would bring its place in the ring round twice */
    assert_counts(2013, 1, 1);
    for (uintptr_t i = 0; i < 20; i++) {
        alloc(100 + i, 2013);
        pprof_heap_cycle_next();
    }
    end_cycle();
    end_cycle();
    assert_counts(2013, 21, 21);
}

static void the_number_of_the_cycle_wraps(void **state)
{
    (void)state;
    assert_int_equal(PP_HEAP_CYCLE_WRAP % 3, 0);
    while (pp_heap_cycle_current() != PP_HEAP_CYCLE_WRAP - 4)
        pprof_heap_cycle_next();
    /* One allocation and one sweep in each cycle, over the wrap. */
    for (int64_t i = 0; i < 9; i++) {
        alloc(200 + (uintptr_t)i, 2015);
        if (i > 0)
            pprof_heap_record_sweep(object(200 + (uintptr_t)i - 1));
        /* All but the last two cycles; each sweep belongs to the cycle of its allocation. */
        assert_counts(2015, i < 2 ? 0 : i - 1, 0);
        end_cycle();
    }
    assert_int_equal(pp_heap_cycle_current(), 5);
    pprof_heap_record_sweep(object(208));
    end_cycle();
    end_cycle();
    assert_counts(2015, 9, 0);
}

static void threads_lose_nothing_while_cycles_go_by(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    worker workers[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++) {
        workers[i] = (worker){1000000 + i * ROUNDS, 2017};
        assert_int_equal(pthread_create(&threads[i], NULL, churn, &workers[i]), 0);
    }
    for (int i = 0; i < 300; i++) {
        end_cycle();
        counts_of(2017);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    end_cycle();
    end_cycle();
    end_cycle();
    assert_counts(2017, THREADS * ROUNDS, THREADS * ROUNDS / 2);
    release_odd();
    end_cycle();
    end_cycle();
    end_cycle();
    assert_counts(2017, THREADS * ROUNDS, 0);
}

/* ---- the collector ---- */

static int collections;

static void collect(void)
{
    collections++;
    end_cycle();
}

static void the_collector_is_called(void **state)
{
    (void)state;
    pp_heap_collector before;
    pp_heap_collector after;
    assert_false(pp_heap_collect());
    pprof_set_collector(collect);
    pp_heap_collector_read(&before);
    assert_true(before.exists);
    assert_true(pp_heap_collect());
    assert_int_equal(collections, 1);
    pp_heap_collector_read(&after);
    assert_int_equal(after.collections, before.collections + 1);
    assert_int_equal(after.collections_forced, before.collections_forced + 1);
    assert_true(after.last_end_ns > before.last_end_ns);
    pprof_set_collector(NULL);
    assert_false(pp_heap_collect());
    assert_int_equal(collections, 1);
}

static bool ran_inside;

static void collect_again(void)
{
    collections++;
    ran_inside = pp_heap_collect();
    errno = EXDEV;
}

/* One that ends no cycles, and comes back to us. */
static void the_collector_does_not_call_itself(void **state)
{
    (void)state;
    pp_heap_collector before;
    pp_heap_collector after;
    collections = 0;
    pprof_set_collector(collect_again);
    pp_heap_collector_read(&before);
    errno = EEXIST;
    assert_true(pp_heap_collect());
    assert_int_equal(errno, EEXIST);
    assert_false(ran_inside);
    assert_int_equal(collections, 1);
    pp_heap_collector_read(&after);
    assert_int_equal(after.collections, before.collections + 1);
    assert_int_equal(after.collections_forced, before.collections_forced + 1);
    assert_true(pp_heap_collect());
    assert_int_equal(collections, 2);
    pprof_set_collector(NULL);
    pp_heap_collector_read(&after);
    assert_true(after.exists); /* somebody has ended cycles */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_those_of_the_model),
        cmocka_unit_test(without_data_everything_is_shown),
        cmocka_unit_test(without_cycles_everything_is_shown),
        cmocka_unit_test(flush_alone_is_no_cycle),
        cmocka_unit_test(nothing_is_ignored),
        cmocka_unit_test(reuse_heals_a_missed_free),
        cmocka_unit_test(an_address_of_malloc_is_another_one),
        cmocka_unit_test(a_block_stays_what_it_is),
        cmocka_unit_test(a_trace_remembers_no_blocks),
        cmocka_unit_test(the_stack_begins_at_the_caller),
        cmocka_unit_test(threads_lose_nothing),
        cmocka_unit_test(what_was_before_the_first_cycle_is_kept),
        cmocka_unit_test(an_allocation_is_shown_two_cycles_later),
        cmocka_unit_test(a_free_is_shown_with_allocations_of_its_time),
        cmocka_unit_test(a_sweep_is_shown_with_allocations_before_the_mark),
        cmocka_unit_test(post_sweep_shows_the_mark_without_advancing),
        cmocka_unit_test(a_reader_need_not_wait_for_flush),
        cmocka_unit_test(next_without_flush_flushes),
        cmocka_unit_test(the_number_of_the_cycle_wraps),
        cmocka_unit_test(threads_lose_nothing_while_cycles_go_by),
        cmocka_unit_test(the_collector_is_called),
        cmocka_unit_test(the_collector_does_not_call_itself),
    };
    return cmocka_run_group_tests(tests, prepare, NULL);
}
