/* SPDX-License-Identifier: MIT
 *
 * cmd_legacy_text.c: profiles as text, as tcmalloc, gperftools and Go write them.
 */
#include "cmd_builder.h"

#include "import/formats.h"

#include <inttypes.h>
#include <stdlib.h>

static cp_profile *read_text(const char *text)
{
    assert_true(cp_legacy_text.recognize((const uint8_t *)text, strlen(text)));
    return decode_text(cp_legacy_text.decode, text);
}

/* The samples as "VALUE VALUE: ADDRESS ADDRESS;", to be freed. */
static char *samples_of(const cp_profile *profile)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const cp_sample *sample = &profile->samples[i];
        for (uint32_t j = 0; j < profile->sample_type_count; j++) {
            fprintf(out, "%s%" PRId64, j ? " " : "", sample->values[j]);
        }
        fputc(':', out);
        for (uint32_t j = 0; j < sample->location_count; j++) {
            fprintf(out, " %" PRIx64, profile->locations[sample->locations[j]].address);
        }
        fputc(';', out);
    }
    fclose(out);
    return text;
}

static void expect_samples(const char *text, const char *type, const char *expected)
{
    cp_profile *profile = read_text(text);
    char *samples = samples_of(profile);

    assert_string_equal(cp_profile_text(profile, profile->sample_types[0].type), type);
    assert_string_equal(samples, expected);
    free(samples);
    cp_profile_free(profile);
}

static void heaps_are_scaled_by_their_header(void **state)
{
    (void)state;
    expect_samples("heap profile: 1: 100 [1: 100] @ heapprofile\n1: 100 [1: 100] @ 0x11 0x22\n",
                   "objects", "1 100: 10 21;");
    expect_samples("heap profile: 1: 100 [2: 300] @ heapprofile\n1: 100 [2: 300] @ 0x11\n",
                   "alloc_objects", "2 300 1 100: 10;");
    expect_samples("heap profile: 1: 1000 [1: 1000] @ heap_v2/1000\n1: 1000 [0: 0] @ 0x11\n",
                   "objects", "1 1581: 10;");
    expect_samples("heap profile: 1: 1000 [1: 1000] @ heap/2000\n1: 1000 [0: 0] @ 0x11\n",
                   "objects", "1 1581: 10;");
    expect_samples("heap profile: 1: 100 [1: 100] @ growthz\n 1: 100 [1: 100] @ 0x11\n", "objects",
                   "1 100: 10;");
}

static void heaps_of_jemalloc_are_scaled_too(void **state)
{
    (void)state;
    expect_samples("heap_v2/1000\n  t*: 3: 3000 [0: 0]\n  t0: 3: 3000 [0: 0]\n"
                   "@ 0x11 0x22\n  t*: 1: 1000 [0: 0]\n  t0: 1: 1000 [0: 0]\n"
                   "@ 0x33\n  t*: 2: 2000 [0: 0]\n  t0: 2: 2000 [0: 0]\n\n"
                   "MAPPED_LIBRARIES:\n00000000-00001000 r-xp 00000000 08:02 18 /bin/app\n",
                   "objects", "1 1581: 10 21;3 3163: 32;");
    expect_samples("heap_v2/1\n  t*: 1: 100 [2: 300]\n@ 0x11\n  t*: 1: 100 [2: 300]\n",
                   "alloc_objects", "2 300 1 100: 10;");
}

static void blocks_have_their_size_as_a_label(void **state)
{
    cp_profile *profile =
        read_text("heap profile: 2: 64 [2: 64] @ heapprofile\n2: 64 [2: 64] @ 0x11\n");

    (void)state;
    assert_int_equal(profile->samples[0].label_count, 1);
    assert_int_equal(profile->samples[0].labels[0].number, 32);
    cp_profile_free(profile);
}

static void waits_are_counted_in_nanoseconds(void **state)
{
    (void)state;
    expect_samples("--- contention:\ncycles/second=2000000000\n4000 2 @ 0x11 0x22\n", "contentions",
                   "2 2000: 10 21;");
    expect_samples("--- mutex:\ncycles/second = 1000000000\nsampling period = 10\n5 2 @ 0x11\n",
                   "contentions", "20 50: 10;");
    expect_samples("--- contentionz 1 ---\n5 2 @ 0x11\n# a comment\n---\n7 7 @ 0x1\n",
                   "contentions", "2 5: 10;");
}

static void counts_have_the_name_of_their_profile(void **state)
{
    (void)state;
    expect_samples("# before\ngoroutine profile: total 3\n2 @ 0x11 0x22\n#\t0x11\tf\n\n1 @ 0x22\n",
                   "goroutine", "2: 10 21;1: 21;");
    expect_samples("threadcreate profile: total 4\n4 @\n", "threadcreate", "4:;");
}

static void maps_name_the_programs(void **state)
{
    static const char text[] =
        "goroutine profile: total 1\n1 @ 0x500001 0x7f0001 0x10 0x402001\n\n--- Memory map: ---\n"
        "7f0000-7f1000 r-xp 00000000 08:02 17 /lib/libx.so.1\n"
        "7f1000-7f2000 rw-p 00001000 08:02 17 /lib/libx.so.1\n"
        "00403000-00452000 r-xp 00003000 08:02 18 /bin/app (deleted)\n"
        "0x500000-0x501000 /opt/other (@1f000) abc123\nno mapping\n";
    cp_profile *profile = read_text(text);
    const char *const files[] = {"/bin/app", "/lib/libx.so.1", "/opt/other", ""};
    const uint32_t mappings[] = {2, 1, 3, 0};

    (void)state;
    assert_int_equal(profile->mapping_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_string_equal(cp_profile_text(profile, profile->mappings[i].file), files[i]);
        assert_int_equal(profile->locations[i].mapping, mappings[i]);
    }
    assert_int_equal(profile->mappings[0].start, 0x400000);
    assert_int_equal(profile->mappings[2].offset, 0x1f000);
    assert_string_equal(cp_profile_text(profile, profile->mappings[2].build_id), "abc123");
    cp_profile_free(profile);
}

/* The last address is outside of the mapping that has all others. */
static void every_address_has_a_mapping(void **state)
{
    cp_profile *profile = read_text("x profile: total 1\n1 @ 0x0 0x5 0x6 0x1\n");

    (void)state;
    assert_int_equal(profile->mapping_count, 1);
    assert_int_equal(profile->locations[0].mapping, 0);
    assert_int_equal(profile->locations[1].mapping, 0);
    assert_int_equal(profile->locations[3].mapping, CP_NO_MAPPING);
    cp_profile_free(profile);
}

static void complaints_name_the_byte(void **state)
{
    static const char *const cases[][2] = {
        {"heap profile: 1: 1 [1: 1] @ heapprofile\n1: 1 @ 0x11\n",
         "byte 40: line 2: expected OBJECTS: BYTES [OBJECTS: BYTES] @ ADDRESSES, found '1: 1 @ "
         "0x11'"},
        {"heap profile: 1: 1 [1: 1] @ pile\n", "byte 0: line 1: expected heap, heap_v2, heapz_v2"},
        {"heap profile: 1: 1 [1: 1] @ heapprofile\n0: 1 [0: 0] @ 0x11\n",
         "byte 40: line 2: expected 0 bytes for 0 objects"},
        {"--- mutex:\nsampling period=x\n", "byte 11: line 2: expected a number after the ="},
        {"--- mutex:\n1 @ 0x1\n", "byte 11: line 2: expected CYCLES COUNT @ ADDRESSES"},
        {"x profile: total 1\n1 0x1\n", "byte 19: line 2: expected COUNT @ ADDRESSES"},
        {"heap_v2/x\n", "byte 0: line 1: expected heap_v2/RATE"},
        {"heap_v2/1\n  t*: 1: 1\n", "byte 12: line 2: expected tTHREAD: OBJECTS: BYTES [OBJECTS:"},
        {"heap_v2/1\n@ 0x1\nmore\n", "byte 16: line 3: expected tTHREAD: OBJECTS: BYTES "},
        {"heap_v2/1\n@ 0x1\nt*: 1: 1 [0: 0]\nt*: 1: 1 [0: 0]\n",
         "byte 32: line 4: expected one row t* for each stack"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_refusal(cp_legacy_text.decode, cases[i][0], cases[i][1]);
    }
}

static void other_texts_are_none(void **state)
{
    static const char *const cases[] = {"", "hello\n", "x profile: total\n", "--- other\n",
                                        "#\n\n"};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_false(cp_legacy_text.recognize((const uint8_t *)cases[i], strlen(cases[i])));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heaps_are_scaled_by_their_header),
        cmocka_unit_test(heaps_of_jemalloc_are_scaled_too),
        cmocka_unit_test(blocks_have_their_size_as_a_label),
        cmocka_unit_test(waits_are_counted_in_nanoseconds),
        cmocka_unit_test(counts_have_the_name_of_their_profile),
        cmocka_unit_test(maps_name_the_programs),
        cmocka_unit_test(every_address_has_a_mapping),
        cmocka_unit_test(complaints_name_the_byte),
        cmocka_unit_test(other_texts_are_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
