/* SPDX-License-Identifier: MIT
 *
 * cmd_perf_script.c: what `perf script` prints becomes samples, with events, labels and inlined
 * functions.
 */
#include "cmd_builder.h"

#include "import/formats.h"

#include <inttypes.h>
#include <stdlib.h>

static bool is_perf(const char *text)
{
    return cp_perf_script.recognize((const uint8_t *)text, strlen(text));
}

static cp_profile *read_text(const char *text)
{
    return decode_text(cp_perf_script.decode, text);
}

static void put_location(const cp_profile *profile, const cp_location *location, FILE *out)
{
    fprintf(out, " %" PRIx64, location->address);
    for (uint32_t i = 0; i < location->line_count; i++) {
        const cp_function *function = &profile->functions[location->lines[i].function];
        fprintf(out, "%c%s", i ? '<' : '=', cp_profile_text(profile, function->name));
        if (function->filename) {
            fprintf(out, "@%s:%" PRId64, cp_profile_text(profile, function->filename),
                    location->lines[i].line);
        }
    }
    if (location->mapping != CP_NO_MAPPING) {
        fprintf(out, "(%s)", cp_profile_text(profile, profile->mappings[location->mapping].file));
    }
}

/* The samples as "VALUE VALUE [COMM PID TID]: LEAF CALLER;", where a location is
 * ADDRESS=INLINED<FUNCTION(FILE). To be freed. */
static char *samples_of(const cp_profile *profile)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const cp_sample *sample = &profile->samples[i];
        for (uint32_t j = 0; j < profile->sample_type_count; j++) {
            fprintf(out, "%" PRId64 " ", sample->values[j]);
        }
        fprintf(out, "[%s", cp_profile_text(profile, sample->labels[0].text));
        for (uint32_t j = 1; j < sample->label_count; j++) {
            fprintf(out, " %s=%" PRId64, cp_profile_text(profile, sample->labels[j].key),
                    sample->labels[j].number);
        }
        fputs("]:", out);
        for (uint32_t j = 0; j < sample->location_count; j++) {
            put_location(profile, &profile->locations[sample->locations[j]], out);
        }
        fputc(';', out);
    }
    fclose(out);
    return text;
}

static void expect_samples(const char *text, const char *expected)
{
    assert_true(is_perf(text));
    cp_profile *profile = read_text(text);
    char *samples = samples_of(profile);

    assert_string_equal(samples, expected);
    free(samples);
    cp_profile_free(profile);
}

static void a_stack_has_the_leaf_first(void **state)
{
    (void)state;
    expect_samples("# captured on: today\n"
                   "app  4500/4501 [003] 48967.862531:     250000  cpu-clock:u: \n"
                   "\tffffffff8157ccc6 do_mmap+0x146 ([kernel.kallsyms])\n"
                   "\t           20ca3 std::f(int, char (*)())+0x13 (/lib/a b.so (deleted))\n"
                   "\t           20cb3 [unknown] (/bin/app)\n"
                   "\t               0 [unknown] ([unknown])\n\n",
                   "1 250000 [app pid=4500 tid=4501]: ffffffff8157ccc6=do_mmap([kernel.kallsyms])"
                   " 20ca2=std::f(int, char (*)())(/lib/a b.so (deleted)) 20cb2(/bin/app);");
}

static void a_frame_may_be_on_the_first_line(void **state)
{
    (void)state;
    expect_samples(
        "             cc1   690 49176.440923:     250000 cpu-clock:      7f10 a+0xa (/x)\n"
        "   Web Content 12   691 49176.440923:     250000 cpu-clock:      7f10 a+0xa (/x)\n",
        "1 250000 [cc1 tid=690]: 7f10=a(/x);"
        "1 250000 [Web Content 12 tid=691]: 7f10=a(/x);");
}

static void fields_may_be_missing(void **state)
{
    (void)state;
    expect_samples("app 7 cycles:\n\t1 f\n", "1 1 [app tid=7]: 1=f;");
    expect_samples("app 7 1.5: cycles:\n\t1 f (x)\n", "1 1 [app tid=7]: 1=f(x);");
    expect_samples("app 7 [001] 1.5: sched:sched_switch: prev=1 next=2\n\t1 f (x)\n",
                   "1 1 [app tid=7]: 1=f(x);");
    expect_samples("app 7 9 cycles:\n\t1\n", "1 9 [app tid=7]: 1;");
}

static void each_event_is_a_sample_type(void **state)
{
    cp_profile *profile = read_text("a 1 1.0: 10 cpu-clock:pppH:\n\t1 f (x)\n\n"
                                    "a 1 1.0: 20 cycles:\n\t1 f (x)\n\n"
                                    "a 1 1.0: 30 cpu-clock:\n\t1 g (x)\n\n");
    char *samples = samples_of(profile);

    (void)state;
    assert_string_equal(samples, "1 10 0 [a tid=1]: 1=f(x);1 0 20 [a tid=1]: 1=f(x);"
                                 "1 30 0 [a tid=1]: 1=g(x);");
    assert_string_equal(cp_profile_text(profile, profile->sample_types[1].type), "cpu-clock");
    assert_string_equal(cp_profile_text(profile, profile->sample_types[1].unit), "nanoseconds");
    assert_string_equal(cp_profile_text(profile, profile->sample_types[2].unit), "count");
    assert_int_equal(cp_profile_sample_index(profile, NULL), 1);
    free(samples);
    cp_profile_free(profile);
}

static void inlined_functions_share_a_location(void **state)
{
    (void)state;
    expect_samples("a 1 1.0: 10 cycles:\n"
                   "\t10 inner (inlined)\n\t10 middle (inlined)\n\t10 outer+0x4 (/bin/a)\n"
                   "\t20 main+0x4 (/bin/a)\n\n",
                   "1 10 [a tid=1]: 10=inner<middle<outer(/bin/a) 1f=main(/bin/a);");
}

static void sources_belong_to_the_frame_before(void **state)
{
    (void)state;
    expect_samples("a 1 1.0: 10 cycles:\n"
                   "\t10 inner+0x4\n  w.c:4 (inlined)\n\t10 outer+0x4 (/bin/a)\n  w.c:5\n"
                   "\t20 main+0x4 (/bin/a)\n  ??:0\n\t20 main+0x4 (/bin/a)\n  :0\n\n",
                   "1 10 [a tid=1]: 10=inner@w.c:4<outer@w.c:5(/bin/a) 1f=main(/bin/a)"
                   " 1f=main(/bin/a);");
}

static void equal_frames_are_one_location(void **state)
{
    cp_profile *profile = read_text("a 1 1.0: 1 c:\n\t1 f (x)\n\t5 g (x)\n\t5 g (x)\n\n"
                                    "a 1 1.0: 1 c:\n\t1 f (x)\n\t5 g (x)\n\n");

    (void)state;
    assert_int_equal(profile->location_count, 2);
    assert_int_equal(profile->function_count, 2);
    assert_int_equal(profile->mapping_count, 1);
    cp_profile_free(profile);
}

static void the_program_is_the_first_mapping(void **state)
{
    cp_profile *profile =
        read_text("a 1 1.0: 1 c:\n\t1 f ([kernel])\n\t5 g (/lib/x.so.1)\n\t9 main (/bin/app)\n");
    const cp_sample *sample = &profile->samples[0];

    (void)state;
    assert_string_equal(cp_profile_text(profile, profile->mappings[0].file), "/bin/app");
    assert_int_equal(profile->locations[sample->locations[2]].mapping, 0);
    assert_string_equal(
        cp_profile_text(profile,
                        profile->mappings[profile->locations[sample->locations[0]].mapping].file),
        "[kernel]");
    cp_profile_free(profile);
}

static void other_texts_are_none(void **state)
{
    static const char *const others[] = {
        "",
        "#\n",
        "hello, world\n",
        "a;b 5\n",
        "a 1 1.0: 1 c:\nno frame\n",
        "a x c:\n\t1 f\n",
        "\t1 f (x)\n",
        "app 7 cycles\n\t1 f\n",
        "app 7 :\n\t1 f\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_false(is_perf(others[i]));
    }
}

static void complaints_name_byte_and_line(void **state)
{
    (void)state;
    expect_refusal(cp_perf_script.decode, "a 1 1.0: 1 c:\n\t1 f (x)\n\nrubbish\n",
                   "byte 24: line 4: expected COMM PID/TID");
    expect_refusal(cp_perf_script.decode, "\t1 f (x)\n", "byte 1: line 1: expected COMM PID/TID");
}

static void a_flood_of_events_is_refused(void **state)
{
    char text[4096];
    size_t length = 0;

    (void)state;
    for (int i = 0; i < 65; i++) {
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   "a 1 1.0: 1 e%d:\n\t1 f (x)\n", i);
    }
    expect_refusal(cp_perf_script.decode, text, "byte 1590: line 129: expected at most 64 events");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stack_has_the_leaf_first),
        cmocka_unit_test(a_frame_may_be_on_the_first_line),
        cmocka_unit_test(fields_may_be_missing),
        cmocka_unit_test(each_event_is_a_sample_type),
        cmocka_unit_test(inlined_functions_share_a_location),
        cmocka_unit_test(sources_belong_to_the_frame_before),
        cmocka_unit_test(equal_frames_are_one_location),
        cmocka_unit_test(the_program_is_the_first_mapping),
        cmocka_unit_test(other_texts_are_none),
        cmocka_unit_test(complaints_name_byte_and_line),
        cmocka_unit_test(a_flood_of_events_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
