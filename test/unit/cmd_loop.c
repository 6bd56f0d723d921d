/* SPDX-License-Identifier: MIT
 *
 * cmd_loop.c: the agent's loop acts for its sources in the order of their times, whatever was added, removed and put off
 * before; compared with a list that is searched as a whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/loop.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { SOURCES = 200, CHANGES = 20000, TIMES = 50 };

/* Times that have come, so that nothing is waited for. */
static struct {
    cp_loop loop;
    cp_loop_source sources[SOURCES];
    int64_t times
        [SOURCES]; /* as the test has set them; CP_NEVER also for one that is not in the loop */
    size_t acted;
} all;

static int64_t find_earliest(void)
{
    int64_t earliest = CP_NEVER;

    for (size_t i = 0; i < SOURCES; i++) {
        earliest = all.times[i] < earliest ? all.times[i] : earliest;
    }
    return earliest;
}

static unsigned turn; /* of a small generator */

static void act(cp_loop_source *source, uint32_t events)
{
    size_t i = (size_t)(source - all.sources);

    assert_int_equal(events, 0);
    assert_true(all.times[i] != CP_NEVER);
    assert_true(all.times[i] == find_earliest());
    assert_true(source->deadline_ns == CP_NEVER); /* once for each time */
    all.times[i] = CP_NEVER;
    all.acted++;
    all.loop.ends = find_earliest() == CP_NEVER;
}

/* A number below the limit: the same ones in each run. */
static unsigned any(unsigned limit)
{
    turn = turn * 1103515245 + 12345;
    return (turn >> 16) % limit;
}

static void change(size_t i)
{
    cp_loop_source *source = &all.sources[i];

    if (!source->loop) {
        *source = (cp_loop_source){.fd = -1, .deadline_ns = 1 + any(TIMES), .act = act};
        assert_int_equal(cp_loop_add(&all.loop, source), 0);
        all.times[i] = source->deadline_ns;
    } else if (any(3) == 0) {
        cp_loop_remove(source);
        assert_null(source->loop);
        all.times[i] = CP_NEVER;
    } else {
        all.times[i] = any(4) != 0 ? (int64_t)(1 + any(TIMES)) : CP_NEVER;
        cp_loop_wait_until(source, all.times[i]);
    }
}

static void begin(void)
{
    memset(&all, 0, sizeof all);
    assert_int_equal(cp_loop_init(&all.loop), 0);
    for (size_t i = 0; i < SOURCES; i++) {
        all.times[i] = CP_NEVER;
    }
    turn = 1;
}

static void end(void)
{
    for (size_t i = 0; i < SOURCES; i++) {
        cp_loop_remove(&all.sources[i]);
    }
    assert_int_equal(all.loop.count, 0);
    cp_loop_release(&all.loop);
}

static void test_times_come_in_their_order(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < CHANGES; i++) {
        change(any(SOURCES));
        if (i % 100 == 0 && find_earliest() != CP_NEVER) {
            all.loop.ends = false;
            cp_loop_run(&all.loop);
        }
    }
    assert_true(all.acted > SOURCES);
    end();
}

static void remove_all(cp_loop_source *source, uint32_t events)
{
    (void)events;
    for (size_t i = 0; i < SOURCES; i++) {
        cp_loop_remove(&all.sources[i]);
    }
    assert_null(source->loop);
    all.acted++;
    all.loop.ends = true;
}

static void test_a_source_removes_all_of_them(void **state)
{
    (void)state;
    begin();
    for (size_t i = 0; i < SOURCES; i++) {
        all.sources[i] = (cp_loop_source){.fd = -1, .deadline_ns = 1, .act = remove_all};
        assert_int_equal(cp_loop_add(&all.loop, &all.sources[i]), 0);
    }
    cp_loop_run(&all.loop);
    assert_int_equal(all.acted, 1);
    end();
}

static void end_loop(cp_loop_source *source, uint32_t events)
{
    assert_true(events & EPOLLIN);
    source->loop->ends = true;
    all.acted++;
}

/* A descriptor acts while no time has come. */
static void test_events_come_before_later_times(void **state)
{
    int ends[2];
    (void)state;
    begin();
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    all.sources[0] = (cp_loop_source){
        .fd = ends[0], .events = EPOLLIN, .deadline_ns = CP_NEVER, .act = end_loop};
    all.sources[1] = (cp_loop_source){.fd = -1, .deadline_ns = CP_NEVER - 1, .act = act};
    assert_int_equal(cp_loop_add(&all.loop, &all.sources[0]), 0);
    assert_int_equal(cp_loop_add(&all.loop, &all.sources[1]), 0);
    cp_loop_run(&all.loop);
    assert_int_equal(all.acted, 1);
    cp_loop_close(&all.sources[0]);
    assert_int_equal(all.sources[0].fd, -1);
    close(ends[1]);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times_come_in_their_order),
        cmocka_unit_test(test_a_source_removes_all_of_them),
        cmocka_unit_test(test_events_come_before_later_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
