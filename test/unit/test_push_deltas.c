/* SPDX-License-Identifier: MIT
 *
 * test_push_deltas.c: the times of the profiles that push= sends follow each other, also when a server takes none for a
 * while, and are those of the wall clock at their end when somebody sets it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "host/kind.h"
#include "modules/modules.h"
#include "profile/model.h"
#include "sys/clock.h"
#include "web/push_deltas.h"

static const int64_t interval_ns = 15 * (int64_t)PP_NS_PER_S, hour_ns = 3600 * (int64_t)PP_NS_PER_S;

/* ---- clocks ---- */

static int64_t passed_ns, wall_ns;

static int read_clock(clockid_t clock, struct timespec *now)
{
    int64_t ns = passed_ns + (clock == CLOCK_REALTIME ? wall_ns : 0);
    now->tv_sec = (time_t)(ns / PP_NS_PER_S);
    now->tv_nsec = (long)(ns % PP_NS_PER_S);
    return 0;
}

/* ---- a kind that counts one wait each time ---- */

static int64_t waits;
static bool is_on;

static bool records(void)
{
    return is_on;
}

static int build(pp_arena *arena, struct pp_profile *profile)
{
    static const uintptr_t stack[] = {0x10, 0x20};
    pp_profile_sample *sample = pp_arena_alloc(arena, sizeof *sample);
    waits++;
    *sample = (pp_profile_sample){.pc = stack, .depth = 2, .value = {waits, 100 * waits}};
    *profile = (pp_profile){.sample_type_count = 2,
                            .sample_type = {{"contentions", "count"}, {"delay", "nanoseconds"}},
                            .period_type = {"contentions", "count"},
                            .period = 1,
                            .samples = sample,
                            .sample_count = 1};
    return 0;
}

static int64_t set_rate(int64_t rate)
{
    return rate;
}

static const pprof_profile profiles[] = {{.name = "block", .build = build, .set_rate = set_rate},
                                         {.name = NULL}};
static const pp_kind_hooks hooks = {.record = records};
static const pp_kind kind = {.name = "contention", .profiles = profiles, .hooks = &hooks};
const pp_kind *const pp_kinds[] = {&kind, NULL};

/* ---- the server ---- */

static unsigned taken;
static int64_t begin_ns, end_ns; /* of the last profile */

static bool take(const pp_push_taken *profile, void *context)
{
    bool takes = context == NULL;
    if (takes) {
        taken++;
        begin_ns = profile->begin_ns;
        end_ns = profile->end_ns;
    }
    return takes;
}

static void next(void)
{
    passed_ns += interval_ns;
    pp_push_deltas_collect(take, NULL);
}

static void expect_times(int64_t begin, int64_t end)
{
    assert_int_equal(begin_ns, begin);
    assert_int_equal(end_ns, end);
}

static int set_up(void **state)
{
    (void)state;
    pp_modules_init();
    pp_push_deltas_after_fork_in_child(); /* forgets what other tests have left */
    pp_clock_reader = read_clock;
    passed_ns = 1000 * (int64_t)PP_NS_PER_S;
    wall_ns = 1800000000 * (int64_t)PP_NS_PER_S;
    taken = 0;
    is_on = true;
    pp_push_deltas_begin();
    return 0;
}

/* ---- tests ---- */

static void each_begins_where_the_last_one_ends(void **state)
{
    (void)state;
    int64_t begun_ns = passed_ns + wall_ns;
    next();
    expect_times(begun_ns, begun_ns + interval_ns);
    next();
    expect_times(begun_ns + interval_ns, begun_ns + 2 * interval_ns);
    passed_ns += interval_ns;
    pp_push_deltas_collect(take, &waits); /* is not taken */
    assert_int_equal(taken, 2);
    next();
    expect_times(begun_ns + 2 * interval_ns, begun_ns + 4 * interval_ns);
}

static void a_clock_that_is_set_moves_one_profile(void **state)
{
    (void)state;
    next();
    static const int64_t steps[] = {-1, 2, 5, -5};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        wall_ns += steps[i] * hour_ns;
        next();
        expect_times(passed_ns + wall_ns - interval_ns, passed_ns + wall_ns);
        next();
        expect_times(passed_ns + wall_ns - interval_ns, passed_ns + wall_ns);
    }
}

/* A machine without a clock of its own gets the time from the network when it is up. */
static void a_clock_that_is_set_before_the_first_one_moves_it(void **state)
{
    (void)state;
    wall_ns += 100000 * hour_ns;
    next();
    expect_times(passed_ns + wall_ns - interval_ns, passed_ns + wall_ns);
}

static void a_kind_that_is_off_is_nothing_to_push(void **state)
{
    (void)state;
    assert_true(pp_push_deltas_has_any());
    is_on = false;
    assert_false(pp_push_deltas_has_any());
    next();
    assert_int_equal(taken, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_begins_where_the_last_one_ends, set_up),
        cmocka_unit_test_setup(a_clock_that_is_set_moves_one_profile, set_up),
        cmocka_unit_test_setup(a_clock_that_is_set_before_the_first_one_moves_it, set_up),
        cmocka_unit_test_setup(a_kind_that_is_off_is_nothing_to_push, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
