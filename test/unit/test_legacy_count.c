/* SPDX-License-Identifier: MIT
 *
 * test_legacy_count.c: the text of a profile that counts, line by line, and what becomes of errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "encode/legacy_count.h"
#include "memory_writer.h"
#include "mmap_fault.h"

static memory_writer sink;

static const uintptr_t one[] = {0x1001, 0x2005};
static const uintptr_t two[] = {0x1101};
static const pp_sample_label two_labels[] = {{.key = "kind", .text = "a \"b\""},
                                             {.key = "phase", .text = "burn"}};
static const pp_sample_label mixed[] = {{.key = "bytes", .number = 7, .unit = "bytes"},
                                        {.key = "n", .text = "1"}};
static const pp_sample_label number[] = {{.key = "bytes", .number = 7, .unit = "bytes"}};

static const pp_profile_sample samples[] = {
    {.pc = one, .depth = 2, .value = {7}, .labels = two_labels, .label_count = 2},
    {.pc = two, .depth = 1, .value = {3}, .labels = mixed, .label_count = 2},
    {.pc = two, .depth = 1, .value = {2}, .labels = number, .label_count = 1},
    {.pc = NULL, .depth = 0, .value = {1}},
};
static const char *const comments[] = {"something to know"};

static pp_profile profile_of_samples(void)
{
    return (pp_profile){.sample_type_count = 1,
                        .sample_type = {{"example.conn", "count"}},
                        .samples = samples,
                        .sample_count = 4};
}

static const char *encode(const pp_profile *profile, bool bare)
{
    pp_arena arena = PP_ARENA_INIT;
    memory_writer_reset(&sink);
    assert_int_equal(pp_legacy_count_encode(profile, bare, &arena, memory_writer_of(&sink)), 0);
    pp_arena_release(&arena);
    sink.data[sink.size] = '\0';
    return (const char *)sink.data;
}

static void assert_begins(const char *text, const char *beginning)
{
    char *copy = strndup(text, strlen(beginning));
    assert_string_equal(copy, beginning);
    free(copy);
}

static void with_comments(void **state)
{
    (void)state;
    pp_profile profile = profile_of_samples();
    assert_begins(encode(&profile, false),
                  "example.conn profile: total 13\n"
                  "7 @ 0x1001 0x2005\n"
                  "# labels: {\"kind\":\"a \\\"b\\\"\", \"phase\":\"burn\"}\n"
                  "#\t0x1000\n"
                  "#\t0x2004\n"
                  "\n"
                  "3 @ 0x1101\n"
                  "# labels: {\"n\":\"1\"}\n"
                  "#\t0x1100\n"
                  "\n"
                  "2 @ 0x1101\n"
                  "#\t0x1100\n"
                  "\n"
                  "1 @ 0x1\n"
                  "#\t0x0\n"
                  "\n"
                  "\n"
                  "--- Memory map: ---\n");
}

/* In quotes "a!" comes before "a", and "a b" before both. */
static void labels_are_in_the_order_of_their_quoted_keys(void **state)
{
    (void)state;
    static const pp_sample_label unordered[] = {
        {.key = "a", .text = "1"}, {.key = "a b", .text = "2"}, {.key = "a!", .text = "3"}};
    const pp_profile_sample sample = {
        .pc = two, .depth = 1, .value = {1}, .labels = unordered, .label_count = 3};
    pp_profile profile = profile_of_samples();
    profile.samples = &sample;
    profile.sample_count = 1;
    assert_begins(encode(&profile, false),
                  "example.conn profile: total 1\n"
                  "1 @ 0x1101\n"
                  "# labels: {\"a b\":\"2\", \"a!\":\"3\", \"a\":\"1\"}\n");
}

static void bare(void **state)
{
    (void)state;
    pp_profile profile = profile_of_samples();
    assert_begins(encode(&profile, true), "example.conn profile: total 13\n"
                                          "7 @ 0x1001 0x2005\n"
                                          "3 @ 0x1101\n"
                                          "2 @ 0x1101\n"
                                          "1 @ 0x1\n"
                                          "\n"
                                          "--- Memory map: ---\n");
}

static void comments_stand_below_the_header(void **state)
{
    (void)state;
    pp_profile profile = profile_of_samples();
    profile.comments = comments;
    profile.comment_count = 1;
    assert_begins(encode(&profile, true),
                  "example.conn profile: total 13\n# something to know\n7 @");
}

static void an_empty_profile(void **state)
{
    (void)state;
    pp_profile profile = profile_of_samples();
    profile.sample_count = 0;
    assert_begins(encode(&profile, false),
                  "example.conn profile: total 0\n\n--- Memory map: ---\n");
}

static void the_maps_are_at_the_end(void **state)
{
    (void)state;
    pp_profile profile = profile_of_samples();
    const char *text = encode(&profile, false);
    const char *maps = strstr(text, "\n--- Memory map: ---\n");
    assert_non_null(maps);
    assert_non_null(strstr(maps, "[stack]"));
    assert_non_null(strstr(maps, "test_legacy_count"));
    assert_null(strstr(text, "MAPPED_LIBRARIES"));
    assert_int_equal(sink.data[sink.size - 1], '\n');
}

static void the_writer_s_error_is_returned(void **state)
{
    (void)state;
    pp_profile profile = profile_of_samples();
    pp_arena arena = PP_ARENA_INIT;
    memory_writer_reset(&sink);
    sink.fail_at = 1;
    sink.error = -EPIPE;
    assert_int_equal(pp_legacy_count_encode(&profile, false, &arena, memory_writer_of(&sink)),
                     -EPIPE);
    assert_false(sink.called_after_error);
    pp_arena_release(&arena);
}

static int encode_once(void *profile)
{
    pp_arena arena = PP_ARENA_INIT;
    memory_writer_reset(&sink);
    int error = pp_legacy_count_encode(profile, false, &arena, memory_writer_of(&sink));
    pp_arena_release(&arena);
    return error;
}

static void without_memory_it_says_so(void **state)
{
    (void)state;
    needs_mmap_fault();
    pp_profile profile = profile_of_samples();
    assert_true(mappings_needed(encode_once, &profile) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_comments),
        cmocka_unit_test(labels_are_in_the_order_of_their_quoted_keys),
        cmocka_unit_test(bare),
        cmocka_unit_test(comments_stand_below_the_header),
        cmocka_unit_test(an_empty_profile),
        cmocka_unit_test(the_maps_are_at_the_end),
        cmocka_unit_test(the_writer_s_error_is_returned),
        cmocka_unit_test(without_memory_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
