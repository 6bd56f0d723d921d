/* SPDX-License-Identifier: MIT
 *
 * test_thread_table.c: records come, are read while others come and go, and are not looked at once
 * they are gone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "one_processor.h"
#include "sys/own_threads.h"
#include "threads/thread_creation.h"
#include "threads/thread_table.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum {
    MANY = 3000,
    STORM_ROUNDS = 20000,
    STORM_THREADS = 3,
    STORM_RECORDS = 2 * STORM_THREADS + 2
};

static pp_thread_record content(int tid)
{
    return (pp_thread_record){
        .tid = tid, .creator = tid + 1, .entry = (uintptr_t)tid * 2, .place = &malloc};
}

static void test_records_are_found_until_removed(void **state)
{
    (void)state;
    static pp_thread_record *records[MANY];
    static pp_thread_record copies[MANY];
    static pp_thread_record *from[MANY];
    for (int i = 0; i < MANY; i++) {
        pp_thread_record c = content(i + 1);
        records[i] = pp_thread_table_add(&c);
        assert_non_null(records[i]);
    }
    assert_int_equal(pp_thread_table_count(), MANY);
    assert_int_equal(pp_thread_table_read(copies, from, MANY), MANY);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(copies[i].creator, copies[i].tid + 1);
        assert_int_equal(copies[i].entry, copies[i].tid * 2);
        assert_ptr_equal(from[i], records[copies[i].tid - 1]);
    }
    assert_int_equal(pp_thread_table_read(copies, NULL, 10), 10);
    for (int i = 0; i < MANY; i += 2) {
        pp_thread_table_remove(records[i]);
    }
    assert_int_equal(pp_thread_table_read(copies, NULL, MANY), MANY / 2);
    for (int i = 0; i < MANY / 2; i++) {
        assert_int_equal(copies[i].tid % 2, 0);
    }
    for (int i = 1; i < MANY; i += 2) {
        pp_thread_table_remove(records[i]);
    }
    assert_int_equal(pp_thread_table_count(), 0);
    pp_thread_table_remove(NULL);
}

static void test_a_later_record_has_a_higher_serial(void **state)
{
    (void)state;
    pp_thread_record c = content(7);
    pp_thread_record copies[2];
    pp_thread_record *first = pp_thread_table_add(&c);
    pp_thread_record *gap = pp_thread_table_add(&c);
    pp_thread_table_remove(first);
    first = pp_thread_table_add(&c); /* in front of the other again */
    assert_int_equal(pp_thread_table_read(copies, NULL, 2), 2);
    assert_true(copies[0].serial > copies[1].serial);
    pp_thread_table_remove(first);
    pp_thread_table_remove(gap);
}

static void test_ours_are_counted(void **state)
{
    (void)state;
    pp_thread_record c = content(8);
    pp_thread_record copy;
    pp_thread_record *record = pp_thread_table_add(&c);
    assert_int_equal(pp_thread_table_count_ours(), 0);
    pp_thread_table_disown(record);
    pp_thread_table_disown(record);
    assert_int_equal(pp_thread_table_count_ours(), 1);
    assert_int_equal(pp_thread_table_read(&copy, NULL, 1), 1);
    assert_true(copy.ours);
    pp_thread_table_remove(record);
    assert_int_equal(pp_thread_table_count_ours(), 0);
}

static void note_place(const void *place, void *context)
{
    *(const void **)context = place;
}

static void test_the_place_is_not_looked_at_afterwards(void **state)
{
    (void)state;
    int something = 0;
    const void *seen = NULL;
    pp_thread_record c = content(9);
    pp_thread_record copy;
    pp_thread_record *from = NULL;
    c.place = &something;
    pp_thread_record *record = pp_thread_table_add(&c);
    assert_int_equal(pp_thread_table_read(&copy, &from, 1), 1);
    assert_true(pp_thread_table_look(from, &copy, note_place, &seen));
    assert_ptr_equal(seen, &something);
    pp_thread_table_remove(record);
    seen = NULL;
    assert_false(pp_thread_table_look(from, &copy, note_place, &seen));
    assert_null(seen);
    record = pp_thread_table_add(&c); /* the same place in the table */
    assert_ptr_equal(record, from);
    assert_false(pp_thread_table_look(from, &copy, note_place, &seen));
    pp_thread_table_remove(record);
}

static void test_a_thread_that_ends_keeps_its_record_for_a_while(void **state)
{
    (void)state;
    enum { RING = 256, FIRST = 1000 };
    pp_thread_record copies[RING + 2];
    pp_thread_table_end(NULL);
    for (int i = 0; i < RING + 10; i++) {
        pp_thread_record c = content(FIRST + i);
        pp_thread_table_end(pp_thread_table_add(&c));
    }
    assert_int_equal(pp_thread_table_read(copies, NULL, RING + 2), RING);
    bool found[RING + 10] = {false};
    for (size_t i = 0; i < RING; i++) {
        assert_in_range(copies[i].tid, FIRST + 10, FIRST + 10 + RING - 1); /* the oldest are gone */
        assert_int_equal(copies[i].creator, copies[i].tid + 1);
        assert_null(copies[i].place);
        assert_false(found[copies[i].tid - FIRST]);
        found[copies[i].tid - FIRST] = true;
    }
    pp_thread_table_after_fork_in_child(NULL, 0);
    assert_int_equal(pp_thread_table_count(), 0);
}

static void test_the_child_of_fork_keeps_its_own(void **state)
{
    (void)state;
    pp_thread_record c = content(10);
    pp_thread_record copy;
    pp_thread_table_add(&c);
    pp_thread_record *mine = pp_thread_table_add(&c);
    pp_thread_record *other = pp_thread_table_add(&c);
    other->readers = 1; /* by a thread that is not there any more */
    pp_thread_table_after_fork_in_child(mine, 11);
    assert_int_equal(pp_thread_table_read(&copy, NULL, 1), 1);
    assert_int_equal(copy.tid, 11);
    assert_int_equal(pp_thread_table_count(), 1);
    pp_thread_table_remove(mine);
}

/* ---- a storm: a place is good exactly as long as its record ---- */

static bool storm_over;

static void *come_and_go(void *argument)
{
    int tid = (int)(intptr_t)argument;
    for (int i = 0; i < STORM_ROUNDS; i++) {
        volatile int alive = tid;
        pp_thread_record c = content(tid);
        c.place = (const void *)&alive;
        pp_thread_record *record = pp_thread_table_add(&c);
        pp_thread_table_remove(record);
        alive = 0; /* nobody may be looking */
    }
    return NULL;
}

static void expect_alive(const void *place, void *context)
{
    for (int i = 0; i < 10; i++) {
        if (*(const volatile int *)place == 0) {
            *(bool *)context = false;
        }
    }
}

static void *read_on(void *argument)
{
    (void)argument;
    static bool good;
    good = true;
    while (!__atomic_load_n(&storm_over, __ATOMIC_RELAXED)) {
        pp_thread_record copies[STORM_RECORDS];
        pp_thread_record *from[STORM_RECORDS];
        size_t count = pp_thread_table_read(copies, from, STORM_RECORDS);
        for (size_t i = 0; i < count; i++) {
            if (copies[i].creator == 0 || copies[i].entry != (uintptr_t)copies[i].tid * 2) {
                continue; /* of one of these threads itself, by the hook */
            }
            good = good && copies[i].creator == copies[i].tid + 1;
            pp_thread_table_look(from[i], &copies[i], expect_alive, &good);
        }
    }
    return &good;
}

static void test_storm(void **state)
{
    (void)state;
    pthread_t threads[STORM_THREADS];
    pthread_t reader;
    void *good = NULL;
    assert_int_equal(pthread_create(&reader, NULL, read_on, NULL), 0);
    for (int i = 0; i < STORM_THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, (void *)(intptr_t)(i + 1)),
                         0);
    }
    for (int i = 0; i < STORM_THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    __atomic_store_n(&storm_over, true, __ATOMIC_RELAXED);
    pthread_join(reader, &good);
    assert_true(*(bool *)good);
}

static void remove_record(void *record)
{
    pp_thread_table_remove(record);
}

static void let_it_be_removed(const void *place, void *other)
{
    (void)place;
    urgent_let(other);
}

/* A reader that is interrupted by the end of the thread it looks at, on the same processor, by a
 * thread that goes first. */
static void test_who_removes_lets_a_reader_finish(void **state)
{
    (void)state;
    enum { MANY_MS = 400 };
    pp_thread_record c = content(77);
    pp_thread_record copy;
    urgent other;
    pp_thread_table_after_fork_in_child(NULL, 0); /* the storm's threads leave records */
    assert_int_equal(pp_thread_table_count(), 0);
    pp_thread_record *record = pp_thread_table_add(&c);
    assert_int_equal(pp_thread_table_read(&copy, NULL, 1), 1);
    if (!urgent_begin(&other, remove_record, record)) {
        pp_thread_table_remove(record);
        skip();
    }
    assert_true(pp_thread_table_look(record, &copy, let_it_be_removed, &other));
    urgent_end(&other);
    assert_in_range((uint64_t)other.cpu_ms, 0, MANY_MS);
    assert_false(pp_thread_table_look(record, &copy, let_it_be_removed, &other));
}

static void *begin_twice(void *unused)
{
    const pp_thread_creation unknown = {.stack = NULL};
    (void)unused;
    pp_thread_creation_disown();
    pp_thread_creation_begin(0, &unknown);
    pp_thread_creation_end();
    return NULL;
}

static void test_a_thread_of_ours_that_begins_twice_ends_once(void **state)
{
    (void)state;
    pthread_t thread;
    size_t ours = pp_thread_table_count_ours();
    unsigned ids = pp_own_threads_count();
    assert_int_equal(pthread_create(&thread, NULL, begin_twice, NULL), 0);
    pthread_join(thread, NULL);
    assert_int_equal(pp_thread_table_count_ours(), ours);
    assert_int_equal(pp_own_threads_count(), ids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records_are_found_until_removed),
        cmocka_unit_test(test_a_later_record_has_a_higher_serial),
        cmocka_unit_test(test_ours_are_counted),
        cmocka_unit_test(test_the_place_is_not_looked_at_afterwards),
        cmocka_unit_test(test_a_thread_that_ends_keeps_its_record_for_a_while),
        cmocka_unit_test(test_the_child_of_fork_keeps_its_own),
        cmocka_unit_test(test_storm),
        cmocka_unit_test(test_who_removes_lets_a_reader_finish),
        cmocka_unit_test(test_a_thread_of_ours_that_begins_twice_ends_once),
    };
    pp_thread_creation_end();
    pp_thread_table_after_fork_in_child(NULL, 0); /* not even the record of this thread is left */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
