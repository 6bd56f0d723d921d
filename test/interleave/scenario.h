/* SPDX-License-Identifier: MIT
 *
 * scenario.h: what the tests of this folder have in common. Include it behind cmocka.h.
 *
 * `NAME [preemptions [stale reads]]` looks further than ./test.sh has time for.
 */
#ifndef PP_TEST_INTERLEAVE_SCENARIO_H
#define PP_TEST_INTERLEAVE_SCENARIO_H

#include "interleave/model.h"

#include <stdio.h>
#include <stdlib.h>

static model_bounds bounds = {2, 2};

static inline void read_bounds(int argc, char **argv)
{
    bounds.preemptions = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : bounds.preemptions;
    bounds.stale_reads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : bounds.stale_reads;
}

static inline unsigned less_by(unsigned most, unsigned less)
{
    return most > less ? most - less : 0;
}

/* Whatever the order is, and whatever loads return. `less`: so many fewer, where there is much to
 * explore. */
static inline void assert_holds_within(const model_scenario *scenario, unsigned less_preemptions,
                                       unsigned less_stale)
{
    model_bounds b = {less_by(bounds.preemptions, less_preemptions),
                      less_by(bounds.stale_reads, less_stale)};
    model_result result = model_explore(scenario, NULL, b);
    printf("%s: %llu executions with up to %u preemptions and %u stale reads\n", scenario->name,
           (unsigned long long)result.executions, b.preemptions, b.stale_reads);
    if (result.fault != NULL) {
        model_print_last();
        fail_msg("%s", result.fault);
    }
}

static inline void assert_holds(const model_scenario *scenario)
{
    assert_holds_within(scenario, 0, 0);
}

/* For what has to be read stale in many words to be wrong. */
static inline void allow_stale_reads(unsigned count)
{
    bounds.stale_reads = bounds.stale_reads > count ? bounds.stale_reads : count;
}

/* The model can fail: it finds the fault that is put in. */
static inline void assert_is_caught(const model_scenario *scenario, const char *function,
                                    unsigned kinds, int order)
{
    model_mutant mutant = {function, kinds, order};
    model_result result = model_explore(scenario, &mutant, bounds);
    printf("%s, %s weakened: %s after %llu executions\n", scenario->name, function,
           result.fault != NULL ? result.fault : "nothing", (unsigned long long)result.executions);
    assert_non_null(result.fault);
}

#endif
