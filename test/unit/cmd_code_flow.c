/* SPDX-License-Identifier: MIT
 *
 * cmd_code_flow.c: the flow of control corrects samples that fall where time passes, and not where code runs.
 */
#include "cmd_builder.h"

#include "convert/code_flow.h"

/* Instructions of 4 bytes. */
static void add(cp_flow *flow, uint64_t from, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        cp_flow_instruction(flow, from + 4 * i, 4, CP_FLOW_ON, 0);
    }
}

static void assert_about(double expected, double found)
{
    if (found < 0.8 * expected || found > 1.25 * expected) {
        fail_msg("expected about %g, found %g", expected, found);
    }
}

/* A loop of two halves, each in every round; all samples are in the second one. */
static void all_of_a_loop_runs_equally_often(void **state)
{
    cp_flow *flow = cp_flow_new();

    (void)state;
    cp_flow_function(flow);
    add(flow, 0x1000, 4);
    add(flow, 0x1010, 9);
    cp_flow_instruction(flow, 0x1034, 4, CP_FLOW_JUMP, 0x1038);
    add(flow, 0x1038, 9);
    cp_flow_instruction(flow, 0x105c, 4, CP_FLOW_BRANCH, 0x1010);
    cp_flow_instruction(flow, 0x1060, 4, CP_FLOW_END, 0);
    cp_flow_samples(flow, 0x1040, 20000);
    cp_flow_solve(flow);

    assert_about(1000, cp_flow_runs(flow, 0x1010));
    assert_about(1000, cp_flow_runs(flow, 0x1050));
    assert_about(cp_flow_runs(flow, 0x1010), cp_flow_runs(flow, 0x1038));
    assert_true(cp_flow_runs(flow, 0x1000) < 100);
    assert_true(cp_flow_runs(flow, 0x1060) < 500); /* one instruction tells little */
    assert_true(cp_flow_runs(flow, 0xfff) < 0);
    assert_true(cp_flow_runs(flow, 0x1063) >= 0);
    assert_true(cp_flow_runs(flow, 0x1064) < 0);
    cp_flow_free(flow);
}

/* Of two ways, the one without samples does not run. */
static void samples_tell_which_way_is_taken(void **state)
{
    cp_flow *flow = cp_flow_new();

    (void)state;
    cp_flow_function(flow);
    add(flow, 0x1000, 9);
    cp_flow_instruction(flow, 0x1024, 4, CP_FLOW_BRANCH, 0x1054); /* to the second way */
    add(flow, 0x1028, 10);
    cp_flow_instruction(flow, 0x1050, 4, CP_FLOW_JUMP, 0x107c);
    add(flow, 0x1054, 10);
    cp_flow_instruction(flow, 0x107c, 4, CP_FLOW_BRANCH, 0x1000);
    cp_flow_instruction(flow, 0x1080, 4, CP_FLOW_END, 0);
    for (uint64_t address = 0x1000; address < 0x1054; address += 4) {
        cp_flow_samples(flow, address, 1000);
    }
    cp_flow_solve(flow);

    assert_about(1000, cp_flow_runs(flow, 0x1000));
    assert_about(1000, cp_flow_runs(flow, 0x1028));
    assert_true(cp_flow_runs(flow, 0x1054) < 200);
    cp_flow_free(flow);
}

/* A jump through a table goes to the blocks that nothing else goes to. */
static void a_table_leads_to_its_cases(void **state)
{
    cp_flow *flow = cp_flow_new();

    (void)state;
    cp_flow_function(flow);
    cp_flow_instruction(flow, 0x1000, 4, CP_FLOW_ON, 0);
    cp_flow_instruction(flow, 0x1004, 4, CP_FLOW_JUMP, 0);
    add(flow, 0x1008, 5);
    cp_flow_instruction(flow, 0x101c, 4, CP_FLOW_JUMP, 0x1000);
    add(flow, 0x1020, 5);
    cp_flow_instruction(flow, 0x1034, 4, CP_FLOW_JUMP, 0x1000);
    cp_flow_samples(flow, 0x1008, 3000);
    cp_flow_samples(flow, 0x1020, 3000);
    cp_flow_solve(flow);

    assert_about(2 * cp_flow_runs(flow, 0x1008), cp_flow_runs(flow, 0x1000));
    assert_about(cp_flow_runs(flow, 0x1008), cp_flow_runs(flow, 0x1020));
    cp_flow_free(flow);
}

/* A function that is called once in each round of a loop is entered as often as the loop runs, though its own time is
 * long; another one, that the pointer calls, too. */
static void a_function_is_entered_as_often_as_it_is_called(void **state)
{
    for (int by_pointer = 0; by_pointer < 2; by_pointer++) {
        cp_flow *flow = cp_flow_new();

        (void)state;
        cp_flow_function(flow);
        add(flow, 0x1000, 8);
        cp_flow_instruction(flow, 0x1020, 4, CP_FLOW_CALL, by_pointer ? 0 : 0x2000);
        add(flow, 0x1024, 20);
        cp_flow_instruction(flow, 0x1074, 4, CP_FLOW_BRANCH, 0x1000);
        cp_flow_instruction(flow, 0x1078, 4, CP_FLOW_END, 0);
        cp_flow_function(flow);
        add(flow, 0x2000, 9);
        cp_flow_instruction(flow, 0x2024, 4, CP_FLOW_END, 0);
        cp_flow_samples(flow, 0x1000, 30000);
        cp_flow_samples(flow, 0x2000, 30000);
        cp_flow_call(flow, 0x1023, 0x2000, 30000);
        cp_flow_solve(flow);

        assert_about(cp_flow_runs(flow, 0x1000), cp_flow_runs(flow, 0x2000));
        cp_flow_free(flow);
    }
}

/* A function that a tail call enters in each round of a loop: the code of a direct call without samples does not run as
 * often. */
static void a_tail_call_enters_a_function(void **state)
{
    cp_flow *flow = cp_flow_new();

    (void)state;
    cp_flow_function(flow);
    add(flow, 0x1000, 9);
    cp_flow_instruction(flow, 0x1024, 4, CP_FLOW_BRANCH, 0x1034);
    cp_flow_instruction(flow, 0x1028, 4, CP_FLOW_CALL, 0x2000);
    cp_flow_instruction(flow, 0x102c, 4, CP_FLOW_BRANCH, 0x1000);
    cp_flow_instruction(flow, 0x1030, 4, CP_FLOW_END, 0);
    cp_flow_instruction(flow, 0x1034, 4, CP_FLOW_CALL, 0x3000);
    cp_flow_instruction(flow, 0x1038, 4, CP_FLOW_END, 0);
    cp_flow_function(flow);
    add(flow, 0x2000, 9);
    cp_flow_instruction(flow, 0x2024, 4, CP_FLOW_JUMP, 0x3000);
    cp_flow_function(flow);
    add(flow, 0x3000, 9);
    cp_flow_instruction(flow, 0x3024, 4, CP_FLOW_END, 0);
    for (unsigned i = 0; i < 10; i++) {
        cp_flow_samples(flow, 0x1000 + 4 * i, 1000);
        cp_flow_samples(flow, 0x2000 + 4 * i, 1000);
        cp_flow_samples(flow, 0x3000 + 4 * i, 1000);
    }
    cp_flow_call(flow, 0x102b, 0x2000, 10000);
    cp_flow_call(flow, 0x102b, 0x3000, 10000);
    cp_flow_solve(flow);

    assert_about(1000, cp_flow_runs(flow, 0x2000));
    assert_about(1000, cp_flow_runs(flow, 0x3000));
    assert_true(cp_flow_runs(flow, 0x1034) < 100);
    cp_flow_free(flow);
}

/* Code for exceptions comes after a tail call through a pointer, and nothing that is known goes there. */
static void a_tail_call_does_not_lead_to_code_for_exceptions(void **state)
{
    cp_flow *flow = cp_flow_new();

    (void)state;
    cp_flow_function(flow);
    add(flow, 0x1000, 9);
    cp_flow_instruction(flow, 0x1024, 4, CP_FLOW_JUMP, 0);
    add(flow, 0x1028, 4);
    cp_flow_instruction(flow, 0x1038, 4, CP_FLOW_END, 0);
    for (unsigned i = 0; i < 10; i++) {
        cp_flow_samples(flow, 0x1000 + 4 * i, 1000);
    }
    cp_flow_solve(flow);

    assert_about(1000, cp_flow_runs(flow, 0x1000));
    assert_true(cp_flow_runs(flow, 0x1028) < 100);
    cp_flow_free(flow);
}

/* A word of padding before a loop: control comes to the loop by a jump around it. */
static void padding_does_not_run(void **state)
{
    cp_flow *flow = cp_flow_new();

    (void)state;
    cp_flow_function(flow);
    add(flow, 0x1000, 4);
    cp_flow_instruction(flow, 0x1010, 4, CP_FLOW_JUMP, 0x1040);
    add(flow, 0x1014, 1);
    add(flow, 0x1018, 10);
    add(flow, 0x1040, 1);
    cp_flow_instruction(flow, 0x1044, 4, CP_FLOW_BRANCH, 0x1018);
    cp_flow_instruction(flow, 0x1048, 4, CP_FLOW_END, 0);
    for (uint64_t address = 0x1018; address < 0x1048; address += 4) {
        cp_flow_samples(flow, address, 1000);
    }
    cp_flow_solve(flow);

    assert_about(1000, cp_flow_runs(flow, 0x1018));
    assert_true(cp_flow_runs(flow, 0x1014) == 0);
    cp_flow_free(flow);
}

/* A jump to each of many jumps through tables would be an edge for each two of them: more than there is memory for. */
static void many_tables_have_few_edges(void **state)
{
    cp_flow *flow = cp_flow_new();

    (void)state;
    cp_flow_function(flow);
    for (unsigned i = 0; i < 50000; i++) {
        cp_flow_instruction(flow, 0x1000 + 2 * i, 2, CP_FLOW_JUMP, 0);
    }
    cp_flow_samples(flow, 0x1000, 1000);
    cp_flow_solve(flow);

    assert_true(cp_flow_runs(flow, 0x1000) > cp_flow_runs(flow, 0x1002));
    cp_flow_free(flow);
}

/* The code after a branch cannot be read: the branch may go there. */
static void a_branch_may_go_to_code_that_cannot_be_read(void **state)
{
    cp_flow *flow = cp_flow_new();

    (void)state;
    cp_flow_function(flow);
    add(flow, 0x1000, 9);
    cp_flow_instruction(flow, 0x1024, 4, CP_FLOW_BRANCH, 0x1030);
    cp_flow_instruction(flow, 0x1028, 4, CP_FLOW_ON, 0);
    cp_flow_instruction(flow, 0x102c, 4, CP_FLOW_END, 0);
    add(flow, 0x1030, 40);
    cp_flow_instruction(flow, 0x10d0, 4, CP_FLOW_BRANCH, 0x1028);
    for (uint64_t address = 0x1030; address < 0x10d4; address += 4) {
        cp_flow_samples(flow, address, 1000);
    }
    cp_flow_solve(flow);

    assert_about(1000, cp_flow_runs(flow, 0x1030));
    assert_true(cp_flow_runs(flow, 0x1028) < 700);
    cp_flow_free(flow);
}

/* A function that another file calls, and a function of its own seldom: the caller does not run as often. A direct call
 * by way of a stub is as one without it. */
static void not_all_calls_are_in_the_file(void **state)
{
    for (int by_stub = 0; by_stub < 2; by_stub++) {
        cp_flow *flow = cp_flow_new();

        (void)state;
        cp_flow_function(flow);
        add(flow, 0x1000, 9);
        cp_flow_instruction(flow, 0x1024, 4, CP_FLOW_CALL, by_stub ? 0x9000 : 0x2000);
        cp_flow_instruction(flow, 0x1028, 4, CP_FLOW_END, 0);
        cp_flow_function(flow);
        add(flow, 0x2000, 9);
        cp_flow_instruction(flow, 0x2024, 4, CP_FLOW_END, 0);
        cp_flow_samples(flow, 0x1000, 1000);
        cp_flow_samples(flow, 0x2000, 10000);
        cp_flow_call(flow, 0x1027, 0x2000, 1000);
        cp_flow_call(flow, 0, 0x2000, 9000);
        cp_flow_solve(flow);

        assert_about(1000, cp_flow_runs(flow, 0x2000));
        assert_about(100, cp_flow_runs(flow, 0x1000));
        cp_flow_free(flow);
    }
}

/* Sums of samples do not overflow. */
static void there_may_be_many_samples(void **state)
{
    cp_flow *flow = cp_flow_new();

    (void)state;
    cp_flow_function(flow);
    add(flow, 0x1000, 9);
    cp_flow_instruction(flow, 0x1024, 4, CP_FLOW_END, 0);
    for (unsigned i = 0; i < 10; i++) {
        cp_flow_samples(flow, 0x1000, INT64_MAX);
        cp_flow_call(flow, 0, 0x1000, INT64_MAX);
    }
    cp_flow_solve(flow);

    assert_about(9.2e18, cp_flow_runs(flow, 0x1000));
    cp_flow_free(flow);
}

/* Calls 0x2000 in each round of a loop of 30 instructions. */
static void add_caller(cp_flow *flow)
{
    cp_flow_function(flow);
    add(flow, 0x1000, 28);
    cp_flow_instruction(flow, 0x1070, 4, CP_FLOW_CALL, 0x2000);
    cp_flow_instruction(flow, 0x1074, 4, CP_FLOW_BRANCH, 0x1000);
    cp_flow_instruction(flow, 0x1078, 4, CP_FLOW_END, 0);
}

/* What is called: it has a long loop. Processors take the wrong way after it, so samples fall there, and then it ends. */
static void add_looping(cp_flow *flow)
{
    cp_flow_function(flow);
    add(flow, 0x2000, 4);
    add(flow, 0x2010, 9);
    cp_flow_instruction(flow, 0x2034, 4, CP_FLOW_BRANCH, 0x2010);
    cp_flow_instruction(flow, 0x2038, 4, CP_FLOW_ON, 0);
}

static void sample_looping(cp_flow *flow)
{
    cp_flow_samples(flow, 0x1000, 30000);
    for (uint64_t address = 0x2010; address < 0x2038; address += 4) {
        cp_flow_samples(flow, address, 1000000);
    }
    cp_flow_samples(flow, 0x2038, 6000);
    cp_flow_call(flow, 0x1073, 0x2000, 10000000);
}

static void assert_entries_equal_returns(const cp_flow *flow)
{
    assert_about(1000, cp_flow_runs(flow, 0x1070));
    assert_about(cp_flow_runs(flow, 0x1070), cp_flow_runs(flow, 0x2000));
    assert_about(cp_flow_runs(flow, 0x2000), cp_flow_runs(flow, 0x2038));
}

/* Also by a tail call, to a function or through a pointer. */
static void a_function_is_left_as_often_as_it_is_entered(void **state)
{
    const struct {
        cp_flow_kind kind;
        uint64_t target;
    } last[] = {
        {CP_FLOW_END, 0}, {CP_FLOW_JUMP, 0x3000}, {CP_FLOW_JUMP, 0}, {CP_FLOW_JUMP, 0x9000}};

    (void)state;
    for (size_t i = 0; i < sizeof last / sizeof *last; i++) {
        cp_flow *flow = cp_flow_new();

        add_caller(flow);
        add_looping(flow);
        cp_flow_instruction(flow, 0x203c, 4, last[i].kind, last[i].target);
        cp_flow_function(flow);
        add(flow, 0x3000, 9);
        cp_flow_instruction(flow, 0x3024, 4, CP_FLOW_END, 0);
        sample_looping(flow);
        if (last[i].target == 0x3000) {
            cp_flow_samples(flow, 0x3000, 10000);
        }
        cp_flow_solve(flow);

        assert_entries_equal_returns(flow);
        if (last[i].target == 0x3000) {
            assert_about(cp_flow_runs(flow, 0x2000), cp_flow_runs(flow, 0x3000));
        }
        cp_flow_free(flow);
    }
}

/* Of ten runs, three end with the tail call. */
static void a_conditional_tail_call_is_one_of_the_returns(void **state)
{
    cp_flow *flow = cp_flow_new();

    (void)state;
    add_caller(flow);
    add_looping(flow);
    cp_flow_instruction(flow, 0x203c, 4, CP_FLOW_BRANCH, 0x3000);
    add(flow, 0x2040, 9);
    cp_flow_instruction(flow, 0x2064, 4, CP_FLOW_END, 0);
    cp_flow_function(flow);
    add(flow, 0x3000, 29);
    cp_flow_instruction(flow, 0x3074, 4, CP_FLOW_END, 0);
    sample_looping(flow);
    cp_flow_samples(flow, 0x2040, 7000);
    cp_flow_samples(flow, 0x3000, 9000);
    cp_flow_solve(flow);

    assert_entries_equal_returns(flow);
    assert_about(0.3 * cp_flow_runs(flow, 0x2000), cp_flow_runs(flow, 0x3000));
    assert_about(0.7 * cp_flow_runs(flow, 0x2000), cp_flow_runs(flow, 0x2064));
    cp_flow_free(flow);
}

/* A loop that begins with the function's first instruction: its rounds are no calls. */
static void a_round_of_a_loop_is_no_call(void **state)
{
    cp_flow *flow = cp_flow_new();

    (void)state;
    add_caller(flow);
    cp_flow_function(flow);
    add(flow, 0x2000, 9);
    cp_flow_instruction(flow, 0x2024, 4, CP_FLOW_BRANCH, 0x2000);
    cp_flow_instruction(flow, 0x2028, 4, CP_FLOW_END, 0);
    cp_flow_samples(flow, 0x1000, 30000);
    for (uint64_t address = 0x2000; address < 0x2028; address += 4) {
        cp_flow_samples(flow, address, 20000);
    }
    cp_flow_call(flow, 0x1073, 0x2000, 200000);
    cp_flow_solve(flow);

    assert_about(1000, cp_flow_runs(flow, 0x1070));
    assert_about(cp_flow_runs(flow, 0x1070), cp_flow_runs(flow, 0x2028));
    assert_about(20000, cp_flow_runs(flow, 0x2000));
    assert_about(1000, cp_flow_entries(flow, 0x2000));
    assert_true(cp_flow_entries(flow, 0x2028) < 0); /* no function begins there */
    cp_flow_free(flow);
}

/* A function that calls itself in nine of ten runs. */
static void recursion_is_called_as_often_as_it_returns(void **state)
{
    cp_flow *flow = cp_flow_new();

    (void)state;
    cp_flow_function(flow);
    add(flow, 0x1000, 9);
    cp_flow_instruction(flow, 0x1024, 4, CP_FLOW_BRANCH, 0x1050);
    add(flow, 0x1028, 9);
    cp_flow_instruction(flow, 0x104c, 4, CP_FLOW_CALL, 0x1000);
    add(flow, 0x1050, 9);
    cp_flow_instruction(flow, 0x1074, 4, CP_FLOW_END, 0);
    cp_flow_samples(flow, 0x1000, 14000);
    cp_flow_samples(flow, 0x1050, 6000);
    cp_flow_samples(flow, 0x1028, 9000);
    cp_flow_call(flow, 0x104f, 0x1000, 26100);
    cp_flow_call(flow, 0, 0x1000, 2900);
    cp_flow_solve(flow);

    assert_about(1000, cp_flow_runs(flow, 0x1000));
    assert_about(cp_flow_runs(flow, 0x1000), cp_flow_runs(flow, 0x1074));
    assert_about(0.9 * cp_flow_runs(flow, 0x1000), cp_flow_runs(flow, 0x1028));
    cp_flow_free(flow);
}

/* One function ends with a call that does not return, and its return does not run; another one has no return. */
static void not_all_functions_return(void **state)
{
    cp_flow *flow = cp_flow_new();

    (void)state;
    add_caller(flow);
    cp_flow_function(flow);
    add(flow, 0x2000, 9);
    cp_flow_instruction(flow, 0x2024, 4, CP_FLOW_BRANCH, 0x2050);
    add(flow, 0x2028, 9);
    cp_flow_instruction(flow, 0x204c, 4, CP_FLOW_END, 0);
    add(flow, 0x2050, 9);
    cp_flow_instruction(flow, 0x2074, 4, CP_FLOW_CALL, 0x9000);
    cp_flow_function(flow);
    add(flow, 0x3000, 4);
    add(flow, 0x3010, 9);
    cp_flow_instruction(flow, 0x3034, 4, CP_FLOW_JUMP, 0x3010);
    cp_flow_samples(flow, 0x1000, 30000);
    cp_flow_samples(flow, 0x2000, 10000);
    cp_flow_samples(flow, 0x2050, 10000);
    cp_flow_samples(flow, 0x3010, 10000);
    cp_flow_call(flow, 0x1073, 0x2000, 20000);
    cp_flow_call(flow, 0, 0x3000, 10000);
    cp_flow_solve(flow);

    assert_about(1000, cp_flow_runs(flow, 0x1070));
    assert_about(1000, cp_flow_runs(flow, 0x2000));
    assert_about(1000, cp_flow_runs(flow, 0x2074));
    assert_true(cp_flow_runs(flow, 0x204c) < 100);
    assert_true(cp_flow_runs(flow, 0x3000) < 100);
    assert_about(1000, cp_flow_runs(flow, 0x3010));
    cp_flow_free(flow);
}

/* A part that seldom runs is a function of its own, and jumps back into the midst of the function. */
static void a_part_may_be_apart(void **state)
{
    cp_flow *flow = cp_flow_new();

    (void)state;
    add_caller(flow);
    cp_flow_function(flow);
    add(flow, 0x2000, 9);
    cp_flow_instruction(flow, 0x2024, 4, CP_FLOW_BRANCH, 0x3000);
    add(flow, 0x2028, 9);
    cp_flow_instruction(flow, 0x204c, 4, CP_FLOW_END, 0);
    cp_flow_function(flow);
    add(flow, 0x3000, 9);
    cp_flow_instruction(flow, 0x3024, 4, CP_FLOW_JUMP, 0x2028);
    cp_flow_samples(flow, 0x1000, 30000);
    cp_flow_samples(flow, 0x2000, 10000);
    cp_flow_samples(flow, 0x2028, 10000);
    cp_flow_samples(flow, 0x3000, 2000);
    cp_flow_call(flow, 0x1073, 0x2000, 22000);
    cp_flow_solve(flow);

    assert_about(1000, cp_flow_runs(flow, 0x2000));
    assert_about(1000, cp_flow_runs(flow, 0x204c));
    assert_about(200, cp_flow_runs(flow, 0x3000));
    cp_flow_free(flow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_a_loop_runs_equally_often),
        cmocka_unit_test(samples_tell_which_way_is_taken),
        cmocka_unit_test(a_table_leads_to_its_cases),
        cmocka_unit_test(a_function_is_entered_as_often_as_it_is_called),
        cmocka_unit_test(a_tail_call_enters_a_function),
        cmocka_unit_test(a_function_is_left_as_often_as_it_is_entered),
        cmocka_unit_test(a_conditional_tail_call_is_one_of_the_returns),
        cmocka_unit_test(a_round_of_a_loop_is_no_call),
        cmocka_unit_test(recursion_is_called_as_often_as_it_returns),
        cmocka_unit_test(not_all_functions_return),
        cmocka_unit_test(a_part_may_be_apart),
        cmocka_unit_test(not_all_calls_are_in_the_file),
        cmocka_unit_test(a_tail_call_does_not_lead_to_code_for_exceptions),
        cmocka_unit_test(padding_does_not_run),
        cmocka_unit_test(many_tables_have_few_edges),
        cmocka_unit_test(there_may_be_many_samples),
        cmocka_unit_test(a_branch_may_go_to_code_that_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
