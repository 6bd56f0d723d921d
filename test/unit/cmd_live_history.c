/* SPDX-License-Identifier: MIT
 *
 * cmd_live_history.c: windows between profiles that count from one moment on.
 */
#include "cmd_builder.h"

#include "live/live_history.h"
#include "profile/profile_encode.h"

/* Adds a profile of one stack that has counted `value` since `time_ns`. */
static void add(cp_live_history *history, cp_live_kind kind, int64_t value, int64_t time_ns,
                int64_t at_ns)
{
    cp_profile *profile = new_model("cpu", "ns");
    cp_bytes bytes = {0};
    cp_error error;

    add_sample(profile, "work main", value);
    profile->time_nanos = time_ns;
    profile->duration_nanos = at_ns - time_ns;
    pp_buffer encoded = PP_BUFFER_INIT;
    cp_profile_encode(profile, &encoded);
    cp_bytes_append(&bytes, encoded.data, encoded.size);
    pp_buffer_release(&encoded);
    cp_profile_free(profile);
    if (cp_live_history_add(history, kind, &bytes, at_ns, &error) < 0) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(bytes.length, 0);
}

static void expect_window(const cp_live_history *history, cp_live_kind kind, bool since_start,
                          int64_t value, int64_t elapsed_ns)
{
    cp_profile *profile;
    int64_t elapsed, sum = 0;
    cp_error error;

    assert_int_equal(cp_live_history_window(history, kind, since_start, &profile, &elapsed, &error),
                     0);
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        sum += profile->samples[i].values[0];
    }
    assert_int_equal(sum, value);
    assert_int_equal(elapsed, elapsed_ns);
    if (elapsed_ns) {
        assert_int_equal(profile->duration_nanos, elapsed_ns);
    }
    cp_profile_free(profile);
}

/* The wall clock at the beginning of the last window. */
static void expect_begin(const cp_live_history *history, int64_t time_ns)
{
    cp_profile *profile;
    int64_t elapsed;
    cp_error error;

    assert_int_equal(
        cp_live_history_window(history, CP_LIVE_SAMPLED, false, &profile, &elapsed, &error), 0);
    assert_int_equal(profile->time_nanos, time_ns);
    cp_profile_free(profile);
}

static void expect_nothing_yet(const cp_live_history *history, cp_live_kind kind, bool since_start)
{
    cp_profile *profile;
    int64_t elapsed;
    cp_error error;

    assert_int_equal(cp_live_history_window(history, kind, since_start, &profile, &elapsed, &error),
                     1);
}

static void windows_join(void **state)
{
    cp_live_history h = {0};

    (void)state;
    expect_nothing_yet(&h, CP_LIVE_SAMPLED, false);
    add(&h, CP_LIVE_SAMPLED, 100, 5, 1000);
    expect_nothing_yet(&h, CP_LIVE_SAMPLED, false);
    expect_nothing_yet(&h, CP_LIVE_SAMPLED, true);
    add(&h, CP_LIVE_SAMPLED, 130, 5, 2000);
    expect_window(&h, CP_LIVE_SAMPLED, false, 30, 1000);
    add(&h, CP_LIVE_SAMPLED, 175, 5, 4000);
    expect_window(&h, CP_LIVE_SAMPLED, false, 45, 2000);
    expect_begin(&h, 2000);
    expect_window(&h, CP_LIVE_SAMPLED, true, 75, 3000);
    assert_true(cp_live_history_pace(&h) > 0);
    assert_true(cp_live_history_pace(&h) < 1000000); /* one stack */
    cp_live_history_release(&h);
}

static void a_sampler_that_began_again_has_counted_nothing_before(void **state)
{
    cp_live_history h = {0};

    (void)state;
    add(&h, CP_LIVE_SAMPLED, 100, 5, 1000);
    add(&h, CP_LIVE_SAMPLED, 130, 5, 2000);
    add(&h, CP_LIVE_SAMPLED, 20, 2500, 3000);
    expect_window(&h, CP_LIVE_SAMPLED, false, 20, 500);
    add(&h, CP_LIVE_SAMPLED, 50, 2500, 4000);
    expect_window(&h, CP_LIVE_SAMPLED, false, 30, 1000);
    expect_window(&h, CP_LIVE_SAMPLED, true, 50, 1500);
    cp_live_history_release(&h);
}

/* Each answer of a server that does not know of `now` is a window of its own. */
static void answers_of_a_time_of_their_own_are_windows(void **state)
{
    cp_live_history h = {0};

    (void)state;
    add(&h, CP_LIVE_SAMPLED, 100, 1000, 2000);
    add(&h, CP_LIVE_SAMPLED, 90, 2100, 3100);
    expect_window(&h, CP_LIVE_SAMPLED, false, 90, 1000);
    add(&h, CP_LIVE_SAMPLED, 80, 3200, 4200);
    expect_window(&h, CP_LIVE_SAMPLED, false, 80, 1000);
    cp_live_history_release(&h);
}

static void sums_are_measured_by_the_clock_here(void **state)
{
    cp_live_history h = {0};

    (void)state;
    add(&h, CP_LIVE_SUMS, 100, 999, 1000);
    add(&h, CP_LIVE_SUMS, 107, 1999, 2000); /* its time is that of the answer */
    expect_window(&h, CP_LIVE_SUMS, false, 7, 1000);
    cp_live_history_release(&h);
}

static void levels_are_there_at_once(void **state)
{
    cp_live_history h = {0};

    (void)state;
    add(&h, CP_LIVE_LEVELS, 100, 999, 1000);
    expect_window(&h, CP_LIVE_LEVELS, false, 100, 0);
    expect_nothing_yet(&h, CP_LIVE_LEVELS, true);
    add(&h, CP_LIVE_LEVELS, 60, 1999, 2000);
    expect_window(&h, CP_LIVE_LEVELS, false, 60, 0);
    expect_window(&h, CP_LIVE_LEVELS, true, -40, 1000);
    cp_live_history_release(&h);
}

static void what_is_no_profile_changes_nothing(void **state)
{
    cp_live_history h = {0};
    cp_bytes bytes = {0};
    cp_error error;

    (void)state;
    add(&h, CP_LIVE_SUMS, 100, 0, 1000);
    add(&h, CP_LIVE_SUMS, 110, 0, 2000);
    cp_bytes_append(&bytes, "no profile", 10);
    assert_int_equal(cp_live_history_add(&h, CP_LIVE_SUMS, &bytes, 3000, &error), -1);
    assert_int_equal(bytes.length, 10);
    expect_window(&h, CP_LIVE_SUMS, false, 10, 1000);
    cp_bytes_release(&bytes);
    cp_live_history_release(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_join),
        cmocka_unit_test(a_sampler_that_began_again_has_counted_nothing_before),
        cmocka_unit_test(answers_of_a_time_of_their_own_are_windows),
        cmocka_unit_test(sums_are_measured_by_the_clock_here),
        cmocka_unit_test(levels_are_there_at_once),
        cmocka_unit_test(what_is_no_profile_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
