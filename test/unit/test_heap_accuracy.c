/* SPDX-License-Identifier: MIT
 *
 * test_heap_accuracy.c: the estimates of the heap profile beside a known truth, over runs whose
 * intervals follow from seeds, so that every execution sees the same numbers. The long form, with
 * more runs and rates, is bench/inside/heap_accuracy.c.
 *
 * Sources: bench/inside/heap_truth.c
 */
#include "../../bench/inside/heap_truth.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { RUNS = 12 };

static heap_truth_site runs[RUNS * HEAP_TRUTH_SITES];

static void run_all(const heap_truth_plan *plan)
{
    for (unsigned i = 0; i < RUNS; i++) {
        bool hooked = false;
        bool good = heap_truth_run(plan, i + 1, &runs[i * HEAP_TRUTH_SITES], &hooked);
        if (!hooked) {
            skip(); /* a build with sanitizers has their malloc */
        }
        assert_true(good); /* nothing in use after everything was freed */
    }
}

/* Means within four standard errors of the truth each, one on the average; spreads as
 * theory says. */
static void check(void)
{
    double squares = 0;
    double spread = 0;
    unsigned spreads = 0;
    for (unsigned site = 0; site < HEAP_TRUTH_SITES; site++) {
        for (int value = 0; value < HEAP_TRUTH_VALUES; value++) {
            heap_truth_summary summary;
            heap_truth_summarize(runs, RUNS, site, (heap_truth_value)value, &summary);
            if (fabs(summary.standard_errors) > 4) {
                fail_msg("blocks of %llu, %s: mean %g, truth %g, %g standard errors",
                         (unsigned long long)runs[site].size, heap_truth_value_names[value],
                         summary.mean, summary.truth, summary.standard_errors);
            }
            squares += summary.standard_errors * summary.standard_errors;
            spreads += summary.spread > 0;
            spread += summary.spread;
        }
    }
    double distance = sqrt(squares / (HEAP_TRUTH_SITES * HEAP_TRUTH_VALUES));
    if (distance > 1.5 || spread / spreads < 0.8 || spread / spreads > 1.2) {
        fail_msg("distance of the means %g standard errors, spread %g of theory", distance,
                 spread / spreads);
    }
}

static void test_one_rate(void **state)
{
    (void)state;
    const heap_truth_plan plan = {4 << 20, {32 << 10}, 1};
    run_all(&plan);
    check();
}

static void test_changing_rate(void **state)
{
    (void)state;
    const heap_truth_plan plan = {4 << 20, {8 << 10, 256 << 10, 64 << 10}, 3};
    run_all(&plan);
    check();
}

/* Every block is a sample, and the estimates are the truth. */
static void test_every_block(void **state)
{
    (void)state;
    const heap_truth_plan plan = {1 << 20, {1}, 1};
    run_all(&plan);
    for (unsigned site = 0; site < HEAP_TRUTH_SITES; site++) {
        for (int value = 0; value < HEAP_TRUTH_VALUES; value++) {
            if (runs[site].estimate[value] != runs[site].truth[value]) {
                fail_msg("blocks of %llu, %s: found %g, truth %g",
                         (unsigned long long)runs[site].size, heap_truth_value_names[value],
                         runs[site].estimate[value], runs[site].truth[value]);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_rate),
        cmocka_unit_test(test_changing_rate),
        cmocka_unit_test(test_every_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
