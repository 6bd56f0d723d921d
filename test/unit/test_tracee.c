/* SPDX-License-Identifier: MIT
 *
 * test_tracee.c: the frame of a call that another process makes for us (arch/tracee.h).
 *
 * Architecture: x86_64
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arch/tracee.h"

#include <string.h>

enum { RESTORER = 0x7000, FUNCTION = 0x8000, STACK = 0x10000, SHADOW = 0x20000 };

static pp_tracee_registers now;
static pp_tracee_frame frame;

static struct user_regs_struct build(uint64_t shadow)
{
    const pp_tracee_call call = {.function = FUNCTION, .restorer = RESTORER, .text = "/lib"};
    struct user_regs_struct entry;
    memset(&now, 0, sizeof now);
    now.general.rsp = STACK;
    now.shadow = shadow;
    assert_true(pp_tracee_build(&now, &now.general, &call, &frame, &entry));
    return entry;
}

static void a_function_returns_to_the_restorer(void **unused)
{
    uintptr_t restorer = 0;
    (void)unused;
    const struct user_regs_struct entry = build(0);
    memcpy(&restorer, frame.data, sizeof restorer);
    assert_int_equal(entry.rip, FUNCTION);
    assert_int_equal(entry.rsp, frame.at);
    assert_int_equal(restorer, RESTORER);
}

/* As setup_signal_shadow_stack() of the kernel does it: the return checks the first word, and
 * rt_sigreturn takes the pointer from the second, in which bit 63 has to be set. */
static void a_shadow_stack_has_the_return_too(void **unused)
{
    (void)unused;
    build(SHADOW);
    assert_int_equal(frame.shadow_at, SHADOW - 16);
    assert_int_equal(frame.shadow[0], RESTORER);
    assert_true(frame.shadow[1] == (SHADOW | UINT64_C(1) << 63));
}

static void without_a_shadow_stack_there_is_none(void **unused)
{
    (void)unused;
    build(0);
    assert_int_equal(frame.shadow_at, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_returns_to_the_restorer),
        cmocka_unit_test(a_shadow_stack_has_the_return_too),
        cmocka_unit_test(without_a_shadow_stack_there_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
