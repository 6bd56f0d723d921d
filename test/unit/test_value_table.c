/* SPDX-License-Identifier: MIT
 *
 * test_value_table.c: each value once, whoever brings it; compared with a naive twin; in the child
 * of fork, whatever other threads were at.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/stack_hash.h"
#include "mmap_fault.h"
#include "store/value_table.h"

#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static const pp_trie_stack *stack_number(uintptr_t number)
{
    const uintptr_t pcs[2] = {number + 1, 0x1000};
    return pp_stack_trie_find(pcs, 2, pp_stack_hash(pcs, 2));
}

static int add(pp_value_table *table, uintptr_t value, const pp_trie_stack *stack)
{
    const pp_value added = {.value = value, .stack = stack};
    return pp_value_table_add(table, &added);
}

static bool take(pp_value_table *table, uintptr_t value)
{
    pp_value removed;
    return pp_value_table_remove(table, value, &removed);
}

typedef struct seen {
    size_t count;
    uintptr_t sum;
} seen;

static void see(const pp_value *value, void *context)
{
    seen *s = context;
    s->count++;
    s->sum += value->value;
}

static void test_add_and_remove(void **state)
{
    (void)state;
    pp_value_table *table = pp_value_table_new();
    const pp_trie_stack *a = stack_number(1);
    pp_value removed;
    assert_int_equal(add(table, 4096, a), 0);
    assert_int_equal(add(table, 4096, stack_number(2)), -EEXIST);
    assert_int_equal(pp_value_table_count(table), 1);
    assert_true(pp_value_table_remove(table, 4096, &removed));
    assert_ptr_equal(removed.stack, a);
    assert_int_equal(removed.value, 4096);
    assert_false(pp_value_table_remove(table, 4096, &removed));
    assert_int_equal(pp_value_table_count(table), 0);
    pp_value_table_free(table);
}

static void test_any_word_is_a_value(void **state)
{
    (void)state;
    const uintptr_t words[] = {0, 1, UINTPTR_MAX, (uintptr_t)1 << 63};
    pp_value_table *table = pp_value_table_new();
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(add(table, words[i], stack_number(i)), 0);
        assert_int_equal(add(table, words[i], stack_number(i)), -EEXIST);
    }
    for (size_t i = 0; i < 4; i++) {
        pp_value removed;
        assert_true(pp_value_table_remove(table, words[i], &removed));
        assert_ptr_equal(removed.stack, stack_number(i));
    }
    pp_value_table_free(table);
}

/* Random additions and removals, and what an array of flags says of them. */
static void test_naive_twin(void **state)
{
    (void)state;
    enum { VALUES = 5000, STEPS = 400000 };
    static bool twin[VALUES];
    size_t count = 0;
    uintptr_t sum = 0;
    uint64_t random = 1;
    pp_value_table *table = pp_value_table_new();
    const pp_trie_stack *stack = stack_number(1);
    for (unsigned step = 0; step < STEPS; step++) {
        /* Long stretches of growing and of shrinking. */
        bool adds = pp_random_next(&random) % 4 > (step / 50000) % 2 * 2;
        uintptr_t number = (uintptr_t)pp_random_next(&random) % VALUES;
        uintptr_t value = number * 16;
        if (adds) {
            assert_int_equal(add(table, value, stack), twin[number] ? -EEXIST : 0);
        } else {
            assert_int_equal(take(table, value), twin[number]);
        }
        count += adds && !twin[number];
        count -= !adds && twin[number];
        sum += adds && !twin[number] ? value : 0;
        sum -= !adds && twin[number] ? value : 0;
        twin[number] = adds;
        if (step % 4999 == 0) {
            seen s = {.count = 0};
            assert_true(pp_value_table_each(table, VALUES, see, &s));
            assert_int_equal(s.count, count);
            assert_int_equal(s.sum, sum);
            assert_int_equal(pp_value_table_count(table), count);
        }
    }
}

static void test_too_many_for_a_snapshot(void **state)
{
    (void)state;
    pp_value_table *table = pp_value_table_new();
    for (uintptr_t i = 0; i < 100; i++) {
        assert_int_equal(add(table, i, stack_number(1)), 0);
    }
    seen s = {.count = 0};
    assert_false(pp_value_table_each(table, 99, see, &s));
    assert_int_equal(s.count, 0);
    assert_true(pp_value_table_each(table, 100, see, &s));
    assert_int_equal(s.count, 100);
}

static void test_memory_follows_the_number(void **state)
{
    (void)state;
    enum { VALUES = 200000 };
    pp_value_table *table = pp_value_table_new();
    size_t before = pp_value_table_bytes(table);
    const pp_trie_stack *stack = stack_number(1);
    for (uintptr_t i = 0; i < VALUES; i++) {
        assert_int_equal(add(table, i * 64, stack), 0);
        if (i > 10000 && i % 1000 == 0) {
            assert_true(pp_value_table_bytes(table) < 68 * i);
        }
    }
    for (uintptr_t i = 0; i < VALUES; i++) {
        assert_true(take(table, i * 64));
    }
    assert_int_equal(pp_value_table_bytes(table), before);
    assert_int_equal(pp_value_table_count(table), 0);
}

/* One value that comes and goes among others: what it leaves behind must not fill the table. */
static void test_coming_and_going(void **state)
{
    (void)state;
    pp_value_table *table = pp_value_table_new();
    const pp_trie_stack *stack = stack_number(1);
    for (uintptr_t i = 0; i < 700; i++) {
        assert_int_equal(add(table, i, stack), 0);
    }
    for (uintptr_t i = 700; i < 500000; i++) {
        assert_int_equal(add(table, i, stack), 0);
        assert_true(take(table, i));
    }
    assert_int_equal(pp_value_table_count(table), 700);
    assert_true(pp_value_table_bytes(table) < 700 * 400);
}

static void test_no_memory(void **state)
{
    (void)state;
    needs_mmap_fault();
    mappings_left = 0;
    assert_null(pp_value_table_new());
    mappings_left = 1;
    pp_value_table *table = pp_value_table_new();
    assert_non_null(table);
    const pp_trie_stack *stack = stack_number(1);
    uintptr_t added = 0;
    while (add(table, added, stack) == 0) {
        added++;
    }
    errno = 0;
    assert_int_equal(add(table, added, stack), -ENOMEM);
    assert_int_equal(errno, 0);
    assert_int_equal(pp_value_table_count(table), added);
    assert_true(added > 64); /* 16 places in each of 64 */
    for (uintptr_t i = 0; i < added; i++) {
        assert_int_equal(add(table, i, stack), -EEXIST);
    }
    mappings_left = LONG_MAX;
    assert_int_equal(add(table, added, stack), 0);
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 20000, OWN = 200 };

static pp_value_table *shared;
static unsigned won[ROUNDS];
static bool stop;

/* The same values from all: one of them is first. And own ones, of which nobody else knows. */
static void *compete(void *argument)
{
    uintptr_t own = ((uintptr_t)argument + 1) << 32;
    for (uintptr_t i = 0; i < ROUNDS; i++) {
        const pp_trie_stack *stack = stack_number(i % 10);
        if (add(shared, i, stack) == 0) {
            __atomic_add_fetch(&won[i], 1, __ATOMIC_RELAXED);
        }
        assert_int_equal(add(shared, own + i, stack), 0);
        if (i >= OWN) {
            assert_true(take(shared, own + i - OWN));
        }
    }
    return NULL;
}

/* No more values than there were at any time, and no fewer. Without a pause: who adds gets in. */
static void *take_snapshots(void *argument)
{
    (void)argument;
    size_t most = 0;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        seen s = {.count = 0};
        assert_true(pp_value_table_each(shared, ROUNDS + (OWN + 1) * THREADS, see, &s));
        assert_true(s.count + (OWN + 1) * THREADS >= most);
        most = s.count > most ? s.count : most;
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    pthread_t reader;
    shared = pp_value_table_new();
    stop = false;
    pthread_create(&reader, NULL, take_snapshots, NULL);
    for (uintptr_t i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, compete, (void *)i);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    pthread_join(reader, NULL);
    for (unsigned i = 0; i < ROUNDS; i++) {
        assert_int_equal(won[i], 1);
    }
    assert_int_equal(pp_value_table_count(shared), ROUNDS + OWN * THREADS);
}

/* ---- counting ---- */

/* The next value comes before the one before it goes: there are always one or two. */
static void *replace_values(void *argument)
{
    (void)argument;
    enum { REPLACEMENTS = 500000 };
    const pp_trie_stack *stack = stack_number(1);
    for (uintptr_t i = 1; i <= REPLACEMENTS; i++) {
        assert_int_equal(add(shared, i * 16, stack), 0);
        assert_true(take(shared, (i - 1) * 16));
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    return NULL;
}

static void test_a_count_is_of_one_moment(void **state)
{
    (void)state;
    pthread_t thread;
    shared = pp_value_table_new();
    stop = false;
    assert_int_equal(add(shared, 0, stack_number(1)), 0);
    pthread_create(&thread, NULL, replace_values, NULL);
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        assert_in_range(pp_value_table_count(shared), 1, 2);
    }
    pthread_join(thread, NULL);
}

/* ---- fork ---- */

static uint64_t changes;

static void *come_and_go(void *argument)
{
    uintptr_t own = ((uintptr_t)argument + 1) << 32;
    const pp_trie_stack *stack = stack_number(1);
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        for (uintptr_t i = 0; i < 3000; i++) { /* arrays grow and shrink */
            add(shared, own + i, stack);
        }
        for (uintptr_t i = 0; i < 3000; i++) {
            take(shared, own + i);
        }
        __atomic_add_fetch(&changes, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

/* Everything that this thread added is there once, and the table goes on working. */
static bool child_is_right(void)
{
    pp_value_table_after_fork_in_child(shared);
    seen s = {.count = 0};
    bool right = pp_value_table_each(shared, 100000, see, &s);
    right = right && s.count == pp_value_table_count(shared);
    for (uintptr_t i = 0; i < 1000; i++) {
        right = right && add(shared, i, stack_number(1)) == -EEXIST && take(shared, i) &&
                !take(shared, i);
    }
    for (uintptr_t i = 0; i < 10000; i++) {
        right = right && add(shared, i, stack_number(1)) == 0;
    }
    for (uintptr_t thread = 1; thread <= 2; thread++) {
        for (uintptr_t i = 0; i < 3000; i++) {
            take(shared, (thread << 32) + i);
        }
    }
    return right && pp_value_table_count(shared) == 10000;
}

static void test_fork(void **state)
{
    (void)state;
    pthread_t threads[2];
    shared = pp_value_table_new();
    stop = false;
    changes = 0;
    for (uintptr_t i = 0; i < 1000; i++) {
        assert_int_equal(add(shared, i, stack_number(1)), 0);
    }
    for (uintptr_t i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, come_and_go, (void *)i);
    }
    for (unsigned i = 0; i < 100; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            _exit(child_is_right() ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    while (__atomic_load_n(&changes, __ATOMIC_RELAXED) == 0) {
        usleep(1000);
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add_and_remove),
        cmocka_unit_test(test_any_word_is_a_value),
        cmocka_unit_test(test_naive_twin),
        cmocka_unit_test(test_too_many_for_a_snapshot),
        cmocka_unit_test(test_memory_follows_the_number),
        cmocka_unit_test(test_coming_and_going),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_a_count_is_of_one_moment),
        cmocka_unit_test(test_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
