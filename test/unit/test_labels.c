/* SPDX-License-Identifier: MIT
 *
 * test_labels.c: sets of labels against a naive twin, their references, and other threads that
 * look.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel.h"
#include "base/random.h"
#include "store/labels.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NAMES = 12, ROUNDS = 3000, THREADS = 10, SWITCHES = 20000, MAX_PAIRS = 16 };

static const char *const keys[NAMES] = {"a",      "ab",   "abc", "b",        "path", "request",
                                        "tenant", "user", "x",   "\xc3\xa9", "z",    "zz"};
static const char *const values[NAMES] = {"",  "0", "1",    "two", "/index.html",  "/a/b/c",
                                          "x", "y", "zzzz", "v",   "\xe2\x82\xac", "last"};

static pprof_labels *make(const pprof_labels *parent, const char *const *key_values, size_t pairs)
{
    int error = 0;
    pprof_labels *labels = pp_labels_new(parent, key_values, pairs, &error);
    assert_int_equal(error, 0);
    assert_non_null(labels);
    return labels;
}

/* ---- contents ---- */

static void assert_sorted(const pprof_labels *labels)
{
    for (uint32_t i = 1; i < labels->count; i++) {
        assert_true(strcmp(labels->label[i - 1].key, labels->label[i].key) < 0);
    }
}

/* The twin: a value for each key, as an index; -1 = none. */
static void assert_same(const pprof_labels *labels, const int twin[NAMES])
{
    uint32_t count = 0;
    for (int k = 0; k < NAMES; k++) {
        const char *found = pp_labels_find(labels, keys[k]);
        if (twin[k] < 0) {
            assert_null(found);
        } else {
            assert_string_equal(found, values[twin[k]]);
            count++;
        }
    }
    assert_int_equal(labels->count, count);
    assert_sorted(labels);
}

static pprof_labels *random_set(const pprof_labels *parent, uint64_t *seed, int twin[NAMES])
{
    const char *pairs[2 * MAX_PAIRS];
    size_t count = pp_random_below(seed, MAX_PAIRS + 1);
    for (size_t i = 0; i < count; i++) {
        size_t k = pp_random_below(seed, NAMES);
        size_t v = pp_random_below(seed, NAMES);
        pairs[2 * i] = keys[k];
        pairs[2 * i + 1] = values[v];
        twin[k] = (int)v;
    }
    return make(parent, pairs, count);
}

static void test_later_labels_go_before_earlier_and_the_parents(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int round = 0; round < ROUNDS; round++) {
        int twin[NAMES];
        memset(twin, -1, sizeof twin);
        pprof_labels *parent = random_set(NULL, &seed, twin);
        assert_same(parent, twin);
        pprof_labels *child = random_set(parent, &seed, twin);
        pp_labels_unref(parent); /* the child needs nothing of it */
        assert_same(child, twin);
        pp_labels_unref(child);
    }
}

static void test_equal_exactly_if_the_labels_are(void **state)
{
    (void)state;
    uint64_t seed = 2;
    unsigned equal = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int a_twin[NAMES], b_twin[NAMES];
        memset(a_twin, -1, sizeof a_twin);
        memset(b_twin, -1, sizeof b_twin);
        pprof_labels *a = random_set(NULL, &seed, a_twin);
        uint64_t other = round % 2 == 0 ? seed : (uint64_t)round;
        memcpy(b_twin, a_twin, sizeof a_twin);
        pprof_labels *b = round % 2 == 0 ? make(a, NULL, 0) : random_set(NULL, &other, b_twin);
        if (round % 2 != 0) {
            int again[NAMES];
            memset(again, -1, sizeof again);
            other = (uint64_t)round;
            pp_labels_unref(random_set(NULL, &other, again));
            memcpy(b_twin, again, sizeof again);
        }
        bool same = memcmp(a_twin, b_twin, sizeof a_twin) == 0;
        equal += same;
        assert_int_equal(pp_labels_equal(a, b), same);
        assert_int_equal(pp_labels_compare(a, b) == 0, same);
        assert_int_equal(pp_labels_compare(a, b) < 0, pp_labels_compare(b, a) > 0);
        if (same) {
            assert_int_equal(pp_labels_hash(a), pp_labels_hash(b));
        }
        pp_labels_unref(a);
        pp_labels_unref(b);
    }
    assert_in_range(equal, ROUNDS / 2, ROUNDS - 1);
}

static void test_no_labels_are_as_good_as_no_set(void **state)
{
    (void)state;
    pprof_labels *none = make(NULL, NULL, 0);
    pprof_labels *some = make(NULL, (const char *const[]){"k", "v"}, 1);
    assert_true(pp_labels_equal(none, NULL));
    assert_int_equal(pp_labels_hash(none), pp_labels_hash(NULL));
    assert_false(pp_labels_equal(some, NULL));
    assert_true(pp_labels_compare(NULL, some) < 0);
    assert_true(pp_labels_compare(some, none) > 0);
    assert_null(pp_labels_find(NULL, "k"));
    assert_null(pp_labels_find(some, NULL));
    pp_labels_unref(none);
    pp_labels_unref(some);
    pp_labels_unref(NULL);
    assert_null(pp_labels_ref(NULL));
}

/* "a=bc" and "ab=c" have the same letters. */
static void test_texts_do_not_run_together(void **state)
{
    (void)state;
    pprof_labels *a = make(NULL, (const char *const[]){"a", "bc"}, 1);
    pprof_labels *b = make(NULL, (const char *const[]){"ab", "c"}, 1);
    assert_false(pp_labels_equal(a, b));
    pp_labels_unref(a);
    pp_labels_unref(b);
}

/* ---- errors ---- */

static void assert_invalid(const pprof_labels *parent, const char *const *key_values, size_t pairs)
{
    int error = 0;
    assert_null(pp_labels_new(parent, key_values, pairs, &error));
    assert_int_equal(error, EINVAL);
}

static void test_invalid_input(void **state)
{
    (void)state;
    assert_invalid(NULL, NULL, 1);
    assert_invalid(NULL, (const char *const[]){"k", NULL}, 1);
    assert_invalid(NULL, (const char *const[]){NULL, "v"}, 1);
    assert_invalid(NULL, (const char *const[]){"", "v"}, 1);
}

/* With one label, and with many. */
static void test_large_sets(void **state)
{
    (void)state;
    enum { LONG = 3 << 20, MANY = 10000 };
    static char text[LONG];
    memset(text, 'y', sizeof text - 1);
    pprof_labels *one = make(NULL, (const char *const[]){"k", text}, 1);
    pprof_labels *two = make(one, (const char *const[]){"l", text}, 1);
    assert_string_equal(pp_labels_find(two, "k"), text);
    assert_string_equal(pp_labels_find(two, "l"), text);
    assert_string_equal(pp_labels_find(one, "k"), text);
    pp_labels_unref(one);
    pp_labels_unref(two);

    static char names[MANY][8];
    static const char *pairs[2 * MANY];
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "k%d", i * 7 % MANY);
        pairs[2 * i] = pairs[2 * i + 1] = names[i];
    }
    pprof_labels *many = make(NULL, pairs, MANY);
    assert_int_equal(many->count, MANY);
    assert_sorted(many);
    for (int i = 0; i < MANY; i++) {
        assert_string_equal(pp_labels_find(many, names[i]), names[i]);
    }
    pp_labels_unref(many);
}

/* Values that are replaced, by the next set or in the same one, take no room. */
static void test_room_is_for_what_is_in_the_set(void **state)
{
    (void)state;
    enum { LONG = 100000 };
    static char text[LONG];
    memset(text, 'z', sizeof text - 1);
    pprof_labels *parent = make(NULL, (const char *const[]){"k", text, "o", "x"}, 2);
    pprof_labels *child = make(parent, (const char *const[]){"k", text, "k", "short"}, 2);
    assert_string_equal(pp_labels_find(child, "k"), "short");
    assert_string_equal(pp_labels_find(child, "o"), "x");
    assert_true(child->head.class < parent->head.class);
    pprof_labels *small = make(NULL, (const char *const[]){"k", "short", "o", "x"}, 2);
    assert_int_equal(child->head.class, small->head.class);
    assert_true(pp_labels_equal(child, small));
    pp_labels_unref(parent);
    pp_labels_unref(child);
    pp_labels_unref(small);
}

/* A large set that is gone leaves its room, not its memory; and the room is used again. */
static void test_large_sets_give_their_memory_back(void **state)
{
    (void)state;
    enum { LONG = 1 << 20, SMALLEST_PAGE = 4096 };
    static char text[LONG];
    unsigned char resident[LONG / SMALLEST_PAGE];
    size_t count = LONG / (size_t)sysconf(_SC_PAGESIZE);
    memset(text, 'm', sizeof text - 1);
    pprof_labels *labels = make(NULL, (const char *const[]){"k", text}, 1);
    char *pages = (char *)labels;
    assert_int_equal(mincore(pages, LONG, resident), 0);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(resident[i] & 1, 1);
    }
    pp_labels_unref(labels);
    assert_int_equal(mincore(pages, LONG, resident), 0);
    for (size_t i = 1; i < count; i++) {
        assert_int_equal(resident[i] & 1, 0);
    }
    assert_ptr_equal(make(NULL, (const char *const[]){"k", text}, 1), labels);
    assert_string_equal(pp_labels_find(labels, "k"), text);
    pp_labels_unref(labels);
}

static void test_labels_without_keys(void **state)
{
    (void)state;
    pprof_labels *parent = make(NULL, (const char *const[]){"a", "1", "b", "2", "c", "3"}, 3);
    const char *const pairs[] = {"b", NULL, NULL, "x", "", "y", "d", "4", "c", "5", "b", "6"};
    pprof_labels *rest = pp_labels_without(parent, pairs, sizeof pairs / sizeof *pairs / 2);
    pprof_labels *a = make(NULL, (const char *const[]){"a", "1"}, 1);
    assert_true(pp_labels_equal(rest, a));
    pprof_labels *all = pp_labels_without(parent, NULL, 1);
    assert_true(pp_labels_equal(all, parent));
    pprof_labels *none = pp_labels_without(a, (const char *const[]){"a", ""}, 1);
    assert_true(pp_labels_equal(none, NULL));
    assert_null(pp_labels_without(NULL, pairs, 1));
    pp_labels_unref(parent);
    pp_labels_unref(rest);
    pp_labels_unref(a);
    pp_labels_unref(all);
    pp_labels_unref(none);
}

/* In a child whose address space may not grow. */
static int exhaust(void)
{
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
    int error = 0;
    if (setrlimit(RLIMIT_AS, &none) != 0) {
        return 2;
    }
    for (int i = 0; i < 1 << 20; i++) {
        if (pp_labels_new(NULL, (const char *const[]){"k", "v"}, 1, &error) == NULL) {
            return error == ENOMEM ? 0 : 3;
        }
    }
    return 4;
}

/* More than there may be. The texts are one, to be copied 1024 times. */
static void test_no_room(void **state)
{
    (void)state;
    enum { LONG = 1 << 20, COPIES = 1 << 10 };
    static char text[LONG];
    static char names[COPIES][8];
    static const char *pairs[2 * COPIES];
    int error = 0;
    memset(text, 'n', sizeof text - 1);
    for (int i = 0; i < COPIES; i++) {
        snprintf(names[i], sizeof names[i], "k%d", i);
        pairs[2 * i] = names[i];
        pairs[2 * i + 1] = text;
    }
    assert_null(pp_labels_new(NULL, pairs, COPIES, &error));
    assert_int_equal(error, ENOMEM);
}

static void test_no_memory(void **state)
{
    (void)state;
    need_kernel();
#if defined(__SANITIZE_THREAD__)
    skip(); /* it needs memory of its own at any time */
#endif
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        _exit(exhaust());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* ---- memory ---- */

static pprof_labels *numbered(const char *prefix, unsigned number)
{
    char text[64];
    snprintf(text, sizeof text, "%s-%u", prefix, number);
    return make(NULL, (const char *const[]){"request", text, "path", "/x"}, 2);
}

static void test_memory_is_used_again(void **state)
{
    (void)state;
    pprof_labels *kept = numbered("kept", 1);
    for (unsigned i = 0; i < 100; i++) {
        pp_labels_unref(numbered("warm", i));
    }
    size_t before = pp_labels_pool_bytes();
    for (unsigned i = 0; i < 100000; i++) {
        pp_labels_unref(numbered("request", i));
    }
    assert_int_equal(pp_labels_pool_bytes(), before);
    assert_string_equal(pp_labels_find(kept, "request"), "kept-1");
    pp_labels_unref(kept);
}

static pthread_barrier_t barrier;

static void *make_and_drop(void *unused)
{
    enum { HELD = 64 };
    pprof_labels *held[HELD] = {NULL};
    unsigned name = (unsigned)(uintptr_t)pthread_self();
    pthread_barrier_wait(&barrier);
    for (unsigned i = 0; i < SWITCHES; i++) {
        pprof_labels **place = &held[i * 31 % HELD];
        pp_labels_unref(*place);
        *place = numbered("t", name + i);
        assert_int_equal((*place)->head.refs, 1);
    }
    for (unsigned i = 0; i < HELD; i++) {
        pp_labels_unref(held[i]);
    }
    return unused;
}

static void test_threads_take_and_give(void **state)
{
    (void)state;
    enum { BYTES_OF_ONE = 128, HELD_BY_ALL = THREADS * 64 };
    pthread_t threads[THREADS];
    size_t before = pp_labels_pool_bytes();
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, make_and_drop, NULL), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_barrier_destroy(&barrier);
    /* As many as were ever held at once, with the one that each thread is about to hold. */
    assert_in_range(pp_labels_pool_bytes() - before, 0, (HELD_BY_ALL + THREADS) * BYTES_OF_ONE);
}

/* ---- other threads' sets ---- */

enum { WRITERS = 6, READERS = 4 };

static pprof_labels **places[WRITERS];
static unsigned writers_left;

/* Each thread's sets have its own name in both labels. */
static void *relabel(void *number)
{
    unsigned index = (unsigned)(uintptr_t)number;
    char name[16];
    char text[64];
    snprintf(name, sizeof name, "writer-%u", index);
    pp_labels_unref(pp_labels_exchange(make(NULL, (const char *const[]){"writer", name}, 1)));
    places[index] = pp_labels_place();
    pthread_barrier_wait(&barrier);
    for (unsigned i = 0; i < SWITCHES; i++) {
        snprintf(text, sizeof text, "%s/%u", name, i);
        pprof_labels *labels =
            i % 64 == 0 ? NULL : make(NULL, (const char *const[]){"turn", text, "writer", name}, 2);
        pp_labels_unref(pp_labels_exchange(labels));
    }
    __atomic_sub_fetch(&writers_left, 1, __ATOMIC_SEQ_CST);
    pthread_barrier_wait(&barrier); /* the place must not go away */
    pp_labels_unref(pp_labels_exchange(NULL));
    return NULL;
}

static void *look(void *seen_count)
{
    uint64_t seen = 0;
    pthread_barrier_wait(&barrier);
    while (__atomic_load_n(&writers_left, __ATOMIC_SEQ_CST) > 0) {
        for (unsigned i = 0; i < WRITERS; i++) {
            char name[16];
            pprof_labels *labels = pp_labels_ref_of(places[i]);
            if (labels == NULL) {
                continue;
            }
            snprintf(name, sizeof name, "writer-%u", i);
            assert_string_equal(pp_labels_find(labels, "writer"), name);
            const char *turn = pp_labels_find(labels, "turn");
            assert_true(turn == NULL || strncmp(turn, name, strlen(name)) == 0);
            seen++;
            pp_labels_unref(labels);
        }
    }
    pthread_barrier_wait(&barrier);
    *(uint64_t *)seen_count = seen;
    return NULL;
}

static void test_sets_of_threads_that_relabel_themselves(void **state)
{
    (void)state;
    pthread_t threads[WRITERS + READERS];
    uint64_t seen[READERS] = {0};
    writers_left = WRITERS;
    pthread_barrier_init(&barrier, NULL, WRITERS + READERS);
    for (uintptr_t i = 0; i < WRITERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, relabel, (void *)i), 0);
    }
    for (unsigned i = 0; i < READERS; i++) {
        assert_int_equal(pthread_create(&threads[WRITERS + i], NULL, look, &seen[i]), 0);
    }
    for (unsigned i = 0; i < WRITERS + READERS; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_barrier_destroy(&barrier);
    uint64_t all = 0;
    for (unsigned i = 0; i < READERS; i++) {
        all += seen[i];
    }
    assert_true(all > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_later_labels_go_before_earlier_and_the_parents),
        cmocka_unit_test(test_equal_exactly_if_the_labels_are),
        cmocka_unit_test(test_no_labels_are_as_good_as_no_set),
        cmocka_unit_test(test_texts_do_not_run_together),
        cmocka_unit_test(test_invalid_input),
        cmocka_unit_test(test_large_sets),
        cmocka_unit_test(test_room_is_for_what_is_in_the_set),
        cmocka_unit_test(test_large_sets_give_their_memory_back),
        cmocka_unit_test(test_labels_without_keys),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_memory_is_used_again),
        cmocka_unit_test(test_threads_take_and_give),
        cmocka_unit_test(test_sets_of_threads_that_relabel_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
