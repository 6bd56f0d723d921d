/* SPDX-License-Identifier: MIT
 *
 * test_cpu_priority.c: a thread that goes first stops the profile on the processor of another one
 * that is in a handler.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "one_processor.h"
#include "kinds/cpu/cpu.h"
#include "kinds/cpu/cpu_session.h"

enum { MANY_MS = 400 };

static void stop(void *result)
{
    const uint64_t patience_ns = 60 * UINT64_C(1000000000);
    pp_cpu_stop(patience_ns, result);
}

static void who_stops_lets_a_handler_finish(void **state)
{
    (void)state;
    pp_cpu_result result;
    urgent other;
    if (!urgent_begin(&other, stop, &result))
        skip();
    assert_int_equal(pp_cpu_start(UINT64_C(3600) * 1000000000, 0, PP_CPU_TIMERS), 0);
    pp_cpu_session *session = pp_cpu_session_enter(); /* as a handler does */
    assert_non_null(session);
    urgent_let(&other);
    pp_cpu_session_leave(session);
    urgent_end(&other);
    assert_false(result.handlers_in_flight);
    pp_cpu_result_release(&result);
    assert_in_range((uint64_t)other.cpu_ms, 0, MANY_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_stops_lets_a_handler_finish)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
