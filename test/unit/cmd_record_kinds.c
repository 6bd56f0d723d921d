/* SPDX-License-Identifier: MIT
 *
 * cmd_record_kinds.c: the kinds of `cpprof record -e`, and the names of their files.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/message.h"
#include "record/record_kinds.h"

#include <stdlib.h>
#include <string.h>

/* A library with one more kind, which may have a rate. */
static bool library_has(const char *kind, const char *word)
{
    return strcmp(kind, "toy") == 0 &&
           (strcmp(word, "toy") == 0 || strncmp(word, "toy:5", strlen("toy:5")) == 0);
}

static void expect_words(const char *events, const char *words)
{
    cp_record_kinds kinds;

    assert_int_equal(cp_record_kinds_parse(events, library_has, &kinds), 0);
    char *found = cp_record_kinds_words(&kinds, 100);
    assert_string_equal(found, words);
    free(found);
}

static void expect_inherited(const char *events, const char *options, const char *words)
{
    long hz = 0;

    cp_record_kinds kinds;
    assert_int_equal(cp_record_kinds_parse(events, library_has, &kinds), 0);
    cp_record_kinds_inherit(options, &kinds, &hz);
    char *found = cp_record_kinds_words(&kinds, hz ? hz : 100);
    assert_string_equal(found, words);
    free(found);
}

static void what_the_environment_asks_for_is_added(void **state)
{
    (void)state;
    expect_inherited("cpu", "", "cpu:100");
    expect_inherited("cpu", "fd,log=stderr,,peak", "cpu:100,fd,peak");
    expect_inherited("heap", "cpu:500,heap:64k,block:1000", "heap,cpu:500,block:1000");
    expect_inherited("heap", "cpu", "heap,cpu:100");
    expect_inherited("heap", "cpu:x,mutex:,thread:5,nonsense:1,engine=perf,cpus", "heap");
}

static void expect_refusal(const char *events)
{
    cp_record_kinds kinds;

    assert_int_equal(cp_record_kinds_parse(events, library_has, &kinds), CP_EXIT_BAD_USAGE);
}

static void words(void **state)
{
    (void)state;
    expect_words("cpu", "cpu:100");
    expect_words("mutex,heap", "mutex,heap");
    expect_words("heap:1", "heap:1");
    expect_words("heap:64K,block:1000,mutex:10,cpu", "heap:64K,block:1000,mutex:10,cpu:100");
    expect_words("wall,cpu,wall:1000", "wall:1000,cpu:100");
    expect_words("heap,cpu,heap:2m", "heap:2m,cpu:100"); /* each once, the last rate */
    expect_words("block:999999999999999", "block:999999999999999");
}

static void other_kinds_are_asked_of_the_library(void **state)
{
    (void)state;
    expect_words("toy", "toy");
    expect_words("toy:5,cpu,toy:5s", "toy:5s,cpu:100");
    expect_inherited("cpu", "toy", "cpu:100"); /* the library is not asked */
}

static void refusals(void **state)
{
    static const char *const events[] = {
        "",         ",",        "cpu,",      "cpu,,heap",
        "cpus",     "cp",       "thread:1",  "cpu:100",
        "heap:",    "heap:k",   "heap:0",    "heap:x",
        "block:-1", "block:1k", "mutex:1:2", "block:9999999999999999",
        "wall:0",   "wall:x",   "wall:1001", "wall:50k",
        "toy:",     "toy:x",    "toys",      "toy:5555555555555555",
        "toy=5",    ":5"};
    (void)state;
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        expect_refusal(events[i]);
    }
}

static void expect_output(const char *events, const char *output, const char *path)
{
    cp_record_kinds kinds;

    assert_int_equal(cp_record_kinds_parse(events, library_has, &kinds), 0);
    char *found = cp_record_kind_output(&kinds, kinds.count - 1, output);
    assert_string_equal(found, path);
    free(found);
}

static void outputs(void **state)
{
    (void)state;
    expect_output("heap", "p.pb.gz", "p.pb.gz");
    expect_output("heap", "%k", "heap");
    expect_output("cpu,heap", "p.pb.gz", "p.heap.pb.gz");
    expect_output("cpu,heap", "p.pb", "p.heap.pb");
    expect_output("cpu,heap", "p.gz", "p.heap.gz");
    expect_output("cpu,heap", "p.q", "p.q.heap");
    expect_output("cpu,heap", "d.pb/p", "d.pb/p.heap");
    expect_output("cpu,heap", "d/.pb.gz", "d/.pb.heap.gz");
    expect_output("cpu,heap", "%k/%k%%x", "heap/heap%%x");
    expect_output("cpu,heap", "100%.pb.gz", "100%.heap.pb.gz");
    expect_output("cpu,heap", "/dev/null", "/dev/null");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words),
        cmocka_unit_test(what_the_environment_asks_for_is_added),
        cmocka_unit_test(other_kinds_are_asked_of_the_library),
        cmocka_unit_test(refusals),
        cmocka_unit_test(outputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
