/* SPDX-License-Identifier: MIT
 *
 * test_handler_stack.c: the handler of samples needs little of the stack that it interrupts, which
 * may be the last page of a coroutine's or an alternate one of a few KiB.
 *
 * Holds for optimised builds; sanitizers and -O0 have their own idea of a frame.
 *
 * Sources: bench/inside/handler_depth.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../bench/inside/handler_depth.h"
#include "arch/registers.h"

#include <string.h>

enum { BOUND_BYTES = PP_HANDLER_STACK_BYTES };

#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static const int optimised = 1;
#else
static const int optimised = 0;
#endif

static handler_depth depths[HANDLER_DEPTHS];
static size_t count;

static int measure(void **state)
{
    (void)state;
    if (optimised)
        count = handler_depth_measure(depths);
    return 0;
}

static size_t bytes_of(const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(depths[i].name, name) == 0)
            return depths[i].bytes;
    }
    fail_msg("%s was not measured", name);
    return 0;
}

static void a_walk_by_cached_rules_keeps_to_the_bound(void **state)
{
    (void)state;
    if (!optimised)
        skip();
    assert_in_range(bytes_of("cached"), 1, BOUND_BYTES);
    assert_in_range(bytes_of("look_for_threads"), 1, BOUND_BYTES);
}

static void a_walk_that_makes_rules_keeps_to_the_bound(void **state)
{
    (void)state;
    if (!optimised)
        skip();
    for (size_t i = 0; i < count; i++) {
        print_message("%s: %zu bytes\n", depths[i].name, depths[i].bytes);
        assert_in_range(depths[i].bytes, 1, BOUND_BYTES);
    }
}

/* The paint works: what a miss needs more than a hit is seen. With musl on aarch64 a hit needs as much as a miss, but
 * for one of the library's own code. */
static void a_miss_goes_deeper_than_a_hit(void **state)
{
    (void)state;
    if (!optimised)
        skip();
    assert_true(bytes_of("own_code_miss") > bytes_of("cached"));
#if !defined(PP_MUSL) || !defined(__aarch64__)
    assert_true(bytes_of("permanent_miss") > bytes_of("cached"));
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_by_cached_rules_keeps_to_the_bound),
        cmocka_unit_test(a_walk_that_makes_rules_keeps_to_the_bound),
        cmocka_unit_test(a_miss_goes_deeper_than_a_hit),
    };
    return cmocka_run_group_tests(tests, measure, NULL);
}
