/* SPDX-License-Identifier: MIT
 *
 * test_custom_profiles.c: values go with the labels of the thread that added them, and keep them
 * alive; ten threads that add, remove, write and change their labels leave exact totals.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kinds/custom/custom_profiles.h"
#include "profile/value_rows.h"
#include "store/labels.h"

#include "pprof.h"

#include <errno.h>
#include <pthread.h>

static const void *value_of(uintptr_t number)
{
    return (const void *)number; /* NOLINT(performance-no-int-to-ptr): values are any word */
}

static pprof_labels *labels_of(const char *key, const char *value)
{
    pprof_labels *labels = pprof_labels_new(NULL, (const char *const[]){key, value}, 1);
    assert_non_null(labels);
    return labels;
}

static uint32_t references(const pprof_labels *labels)
{
    return __atomic_load_n(&labels->head.refs, __ATOMIC_ACQUIRE);
}

static int write_nothing(void *ctx, const void *data, size_t length)
{
    (void)ctx;
    (void)data;
    (void)length;
    return 0;
}

static void write_profile(pprof_profile *profile, int debug)
{
    assert_int_equal(pprof_profile_write(profile, (pprof_writer){write_nothing, NULL}, debug), 0);
}

/* How many values have that label; with NULL: have none. */
static int64_t count_with(pprof_profile *profile, const char *key, const char *value)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_value_rows rows = {.count = 0};
    int64_t count = 0;
    assert_int_equal(pp_value_rows_read(profile->values, &arena, &rows), 0);
    for (size_t i = 0; i < rows.count; i++) {
        const char *found = pprof_label(rows.list[i].labels, key);
        bool is_it = value == NULL ? rows.list[i].labels == NULL
                                   : found != NULL && strcmp(found, value) == 0;
        count += is_it ? rows.list[i].count : 0;
    }
    pp_value_rows_release(&rows);
    pp_arena_release(&arena);
    return count;
}

static void test_values_hold_references(void **state)
{
    (void)state;
    pprof_profile *profile = pprof_new_profile("references");
    pprof_labels *labels = labels_of("tenant", "a");
    assert_null(pprof_set_thread_labels(labels));
    assert_int_equal(references(labels), 2);
    for (uintptr_t i = 0; i < 10; i++) {
        assert_int_equal(pprof_profile_add(profile, value_of(i), 0), 0);
    }
    assert_int_equal(references(labels), 12);
    assert_int_equal(pprof_profile_add(profile, value_of(3), 0), -EEXIST);
    assert_int_equal(references(labels), 12);
    assert_int_equal(pprof_profile_remove(profile, value_of(3)), 0);
    assert_int_equal(pprof_profile_remove(profile, value_of(3)), 0);
    assert_int_equal(references(labels), 11);
    for (int debug = PPROF_DEBUG_BARE; debug <= 2; debug++) {
        write_profile(profile, debug);
        assert_int_equal(references(labels), 11);
    }
    /* The values keep them when nobody else does. */
    pprof_labels_unref(pprof_set_thread_labels(NULL));
    pprof_labels_unref(labels);
    assert_int_equal(references(labels), 9);
    assert_int_equal(pprof_profile_add(profile, value_of(100), 0), 0);
    assert_int_equal(count_with(profile, "tenant", "a"), 9);
    assert_int_equal(count_with(profile, NULL, NULL), 1);
    for (uintptr_t i = 0; i < 10; i++) {
        assert_int_equal(pprof_profile_remove(profile, value_of(i)), 0);
    }
    assert_int_equal(references(labels), 0);
    assert_int_equal(pprof_profile_count(profile), 1);
}

static void test_no_labels_at_all(void **state)
{
    (void)state;
    pprof_profile *profile = pprof_new_profile("none");
    pprof_labels *empty = pprof_labels_new(NULL, NULL, 0);
    assert_non_null(empty);
    pprof_set_thread_labels(empty);
    assert_int_equal(pprof_profile_add(profile, value_of(1), 0), 0);
    assert_int_equal(references(empty), 2);
    assert_int_equal(count_with(profile, NULL, NULL), 1);
    pprof_labels_unref(pprof_set_thread_labels(NULL));
    pprof_labels_unref(empty);
}

/* ---- threads ---- */

enum { THREADS = 10, ROUNDS = 3000, KEPT = 100, TENANTS = 4 };

static pprof_profile *shared;
static pprof_labels *tenants[TENANTS];
static const char *const tenant_names[TENANTS] = {"red", "green", "blue", "white"};

/* A set of its own for each value, as of requests, or one that all share. */
static pprof_labels *next_labels(uintptr_t round)
{
    unsigned tenant = (unsigned)(round % TENANTS);
    return round / TENANTS % 2 == 0 ? pprof_labels_ref(tenants[tenant])
                                    : labels_of("tenant", tenant_names[tenant]);
}

static void *work(void *argument)
{
    uintptr_t own = ((uintptr_t)argument + 1) << 24;
    for (uintptr_t i = 0; i < ROUNDS; i++) {
        pprof_labels *labels = next_labels(i);
        pprof_labels_unref(pprof_set_thread_labels(labels));
        pprof_labels_unref(labels);
        assert_int_equal(pprof_profile_add(shared, value_of(own + i), 0), 0);
        if (i >= KEPT) {
            assert_int_equal(pprof_profile_remove(shared, value_of(own + i - KEPT)), 0);
        }
        if (i % 500 == 0) {
            write_profile(shared, (int)(i / 500 % 3) - 1);
        }
    }
    pprof_labels_unref(pprof_set_thread_labels(NULL));
    return NULL;
}

static void test_ten_threads(void **state)
{
    (void)state;
    pthread_t thread[THREADS];
    shared = pprof_new_profile("shared");
    for (unsigned i = 0; i < TENANTS; i++) {
        tenants[i] = labels_of("tenant", tenant_names[i]);
    }
    for (uintptr_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, work, (void *)i), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    assert_int_equal(pprof_profile_count(shared), THREADS * KEPT);
    for (unsigned i = 0; i < TENANTS; i++) {
        assert_int_equal(count_with(shared, "tenant", tenant_names[i]), THREADS * KEPT / TENANTS);
    }
    for (uintptr_t i = 0; i < THREADS; i++) {
        for (uintptr_t k = ROUNDS - KEPT; k < ROUNDS; k++) {
            assert_int_equal(pprof_profile_remove(shared, value_of(((i + 1) << 24) + k)), 0);
        }
    }
    assert_int_equal(pprof_profile_count(shared), 0);
    for (unsigned i = 0; i < TENANTS; i++) {
        assert_int_equal(references(tenants[i]), 1); /* nobody has lost one, or kept one */
        pprof_labels_unref(tenants[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_hold_references),
        cmocka_unit_test(test_no_labels_at_all),
        cmocka_unit_test(test_ten_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
