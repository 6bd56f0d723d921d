/* SPDX-License-Identifier: MIT
 *
 * test_loader.c: the epoch changes with every load and unload, also with those that nobody asked
 * for, and never comes back. Threads that are out of the loader do not make a fork suspect.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/preload.h"
#include "spare_library.h"
#include "modules/loader.h"
#include "modules/loader_use.h"
#include "modules/modules.h"

#include <iconv.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

typedef struct counters {
    uint64_t loads, unloads;
} counters;

static int read_counters(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    *(counters *)context = (counters){info->dlpi_adds, info->dlpi_subs};
    return 1;
}

static counters loader_counters(void)
{
    counters now = {0, 0};
    dl_iterate_phdr(read_counters, &now);
    return now;
}

static void the_epoch_is_known_from_the_start(void **state)
{
    (void)state;
    assert_true(pp_loader_epoch_is_known());
}

static void the_epoch_rests_while_nothing_is_loaded(void **state)
{
    (void)state;
    uint64_t epoch = pp_loader_epoch();
    for (int i = 0; i < 1000; i++) {
        free(malloc((size_t)i * 100));
        tzset();
        assert_null(dlsym(RTLD_DEFAULT, "no such symbol"));
        assert_int_equal(pp_loader_epoch(), epoch);
    }
    pp_modules_refresh(); /* may drop a counter that was one by accident, once */
    epoch = pp_loader_epoch();
    pp_modules_refresh();
    assert_int_equal(pp_loader_epoch(), epoch);
}

static void opening_and_closing_change_the_epoch(void **state)
{
    (void)state;
    const char *name = spare_library();
    void *first = dlopen(name, RTLD_NOW);
    pp_modules_refresh(); /* drops counters that were ones by accident: it runs in dlclose, too */
    dlclose(first);
    uint64_t before = pp_loader_epoch();
    void *library = dlopen(name, RTLD_NOW);
    uint64_t open = pp_loader_epoch();
    assert_int_not_equal(open, before);
    void *again = dlopen(name, RTLD_NOW); /* only counted */
    assert_ptr_equal(again, library);
    assert_int_equal(pp_loader_epoch(), open);
    dlclose(again);
    assert_int_equal(pp_loader_epoch(), open);
    dlclose(library);
    assert_int_not_equal(pp_loader_epoch(), open);
    assert_int_not_equal(pp_loader_epoch(), before);
}

static void a_load_that_fails_half_way_changes_the_epoch_or_nothing(void **state)
{
    (void)state;
    counters before = loader_counters();
    uint64_t epoch = pp_loader_epoch();
    assert_null(dlopen("/proc/self/maps", RTLD_NOW));
    assert_null(dlopen("no such library", RTLD_NOW));
    counters after = loader_counters();
    assert_int_equal(pp_loader_epoch() != epoch,
                     after.loads != before.loads || after.unloads != before.unloads);
}

static int compare_epochs(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Opens and closes it so often; an epoch of each moment. */
static size_t note_epochs(const char *name, int rounds, uint64_t *epochs)
{
    for (int i = 0; i < rounds; i++) {
        void *library = dlopen(name, RTLD_NOW);
        epochs[2 * i] = pp_loader_epoch();
        dlclose(library);
        epochs[2 * i + 1] = pp_loader_epoch();
    }
    return 2 * (size_t)rounds;
}

static void assert_all_differ(uint64_t *epochs, size_t count)
{
    qsort(epochs, count, sizeof *epochs, compare_epochs);
    for (size_t i = 1; i < count; i++)
        assert_int_not_equal(epochs[i], epochs[i - 1]);
}

enum { ROUNDS = 300 };

static void no_epoch_comes_back(void **state)
{
    (void)state;
    static uint64_t epochs[2 * ROUNDS];
    const char *name = spare_library();
    pp_modules_refresh();
    assert_all_differ(epochs, note_epochs(name, ROUNDS, epochs));
}

/*
 * The number of loaded objects is the number of loads until the first of them goes: a counter by
 * accident, which a refresh drops. The number of loads goes on, past the sum that both had before.
 * Has to be the first test: a process begins with both.
 */
static void no_epoch_comes_back_after_a_counter_was_dropped(void **state)
{
    (void)state;
    enum { FIRST = 1 };
    static uint64_t epochs[FIRST + 2 + 2 * ROUNDS];
    epochs[0] = pp_loader_epoch();
    const char *name = spare_library();
    size_t count = FIRST + note_epochs(name, 1, epochs + FIRST);
    pp_modules_refresh();
    count += note_epochs(name, ROUNDS, epochs + count);
    assert_all_differ(epochs, count);
}

static void loads_inside_of_the_c_library_change_the_epoch(void **state)
{
    (void)state;
    static const char *const charsets[] = {"UTF-16", "CP1252", "EUC-JP", "KOI8-R"};
    bool seen = false;
    for (size_t i = 0; i < sizeof charsets / sizeof *charsets; i++) {
        counters before = loader_counters();
        uint64_t epoch = pp_loader_epoch();
        iconv_t converter = iconv_open(charsets[i], "ISO-8859-15");
        counters after = loader_counters();
        if (after.loads != before.loads) {
            assert_int_not_equal(pp_loader_epoch(), epoch);
            seen = true;
        }
        before = after;
        epoch = pp_loader_epoch();
        if (converter != (iconv_t)-1)
            iconv_close(converter);
        after = loader_counters();
        if (after.unloads != before.unloads)
            assert_int_not_equal(pp_loader_epoch(), epoch);
    }
    if (!seen)
        skip(); /* no converters are installed */
}

static void changes_that_we_saw_ourselves_count(void **state)
{
    (void)state;
    uint64_t epoch = pp_loader_epoch();
    pp_loader_note_change();
    assert_int_not_equal(pp_loader_epoch(), epoch);
}

/* ---- fork ---- */

static struct {
    sem_t is_out, may_go_in, end;
    bool was_out, is_in;
} own; /* a thread of the library */

static void *go_out_and_in(void *unused)
{
    pp_loader_go_out();
    sem_post(&own.is_out);
    sem_wait(&own.may_go_in);
    own.was_out = pp_loader_go_in();
    __atomic_store_n(&own.is_in, true, __ATOMIC_RELEASE);
    sem_wait(&own.end);
    return unused;
}

static void a_thread_that_is_out_makes_no_fork_suspect_and_waits(void **state)
{
    (void)state;
    pthread_t thread;
    sem_init(&own.is_out, 0, 0);
    sem_init(&own.may_go_in, 0, 0);
    sem_init(&own.end, 0, 0);
    assert_true(pp_loader_begin_fork()); /* there is no other thread */
    pp_loader_end_fork();
    assert_int_equal(pthread_create(&thread, NULL, go_out_and_in, NULL), 0);
    sem_wait(&own.is_out);
    assert_true(pp_loader_begin_fork());
    sem_post(&own.may_go_in);
    for (int i = 0; i < 100; i++) {
        sched_yield();
        assert_false(__atomic_load_n(&own.is_in, __ATOMIC_ACQUIRE));
    }
    pp_loader_end_fork();
    while (!__atomic_load_n(&own.is_in, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
    assert_true(own.was_out);
    assert_false(pp_loader_begin_fork());
    pp_loader_end_fork();
    sem_post(&own.end);
    pthread_join(thread, NULL);
    assert_false(pp_loader_go_in()); /* the caller never was out */
}

int main(void)
{
    pp_preload_link();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_epoch_comes_back_after_a_counter_was_dropped),
        cmocka_unit_test(the_epoch_is_known_from_the_start),
        cmocka_unit_test(the_epoch_rests_while_nothing_is_loaded),
        cmocka_unit_test(opening_and_closing_change_the_epoch),
        cmocka_unit_test(a_load_that_fails_half_way_changes_the_epoch_or_nothing),
        cmocka_unit_test(no_epoch_comes_back),
        cmocka_unit_test(loads_inside_of_the_c_library_change_the_epoch),
        cmocka_unit_test(changes_that_we_saw_ourselves_count),
        cmocka_unit_test(a_thread_that_is_out_makes_no_fork_suspect_and_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
