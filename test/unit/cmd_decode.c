/* SPDX-License-Identifier: MIT
 *
 * cmd_decode.c: the decoder with good and with broken profiles, and its complaints.
 */
#include "cmd_builder.h"

#include "import/gunzip.h"
#include "import/profile_file.h"

#include <stdlib.h>

#define LIMIT ((size_t)1 << 20)

static cp_profile *read_good(const cp_bytes *bytes)
{
    cp_profile *profile = NULL;
    cp_error error;

    if (cp_profile_read_bytes(bytes->data, bytes->length, LIMIT, &profile, &error) < 0) {
        fail_msg("%s", error.text);
    }
    return profile;
}

static void expect_bad(const cp_bytes *bytes, const char *complaint)
{
    cp_profile *profile = NULL;
    cp_error error;

    assert_int_equal(cp_profile_read_bytes(bytes->data, bytes->length, LIMIT, &profile, &error),
                     -1);
    if (!strstr(error.text, complaint)) {
        fail_msg("expected '%s', found '%s'", complaint, error.text);
    }
}

static void check_small(const cp_profile *profile)
{
    assert_int_equal(profile->sample_count, 1);
    assert_int_equal(profile->samples[0].values[0], 7);
    assert_string_equal(stack_of(profile, 0), "work main");
    assert_int_equal(profile->locations[0].address, 0x1000);
    assert_int_equal(profile->locations[0].mapping, 0);
    assert_int_equal(profile->locations[1].lines[0].line, 20);
    assert_string_equal(cp_profile_text(profile, profile->mappings[0].file), "/bin/app");
    assert_string_equal(cp_profile_text(profile, profile->sample_types[0].type), "cpu");
}

static void plain_profile_is_read(void **state)
{
    cp_bytes bytes = {0};

    (void)state;
    put_small_profile(&bytes);
    cp_profile *profile = read_good(&bytes);
    check_small(profile);
    cp_profile_free(profile);
    cp_bytes_release(&bytes);
}

static void gzip_in_several_members_is_read(void **state)
{
    cp_bytes bytes = {0}, packed = {0};

    (void)state;
    put_small_profile(&bytes);
    cp_gzip_compress(bytes.data, 20, &packed);
    cp_gzip_compress(bytes.data + 20, bytes.length - 20, &packed);
    cp_profile *profile = read_good(&packed);
    check_small(profile);
    cp_profile_free(profile);
    cp_bytes_release(&bytes);
    cp_bytes_release(&packed);
}

static void every_truncation_is_noticed_or_harmless(void **state)
{
    cp_bytes bytes = {0}, packed = {0};

    (void)state;
    put_small_profile(&bytes);
    cp_gzip_compress(bytes.data, bytes.length, &packed);
    for (size_t length = 0; length < packed.length; length++) {
        cp_bytes cut = {packed.data, length, length};
        if (length >= 2) {
            expect_bad(&cut, "expected more gzip data");
        }
    }
    for (size_t length = 0; length < bytes.length; length++) {
        cp_bytes cut = {bytes.data, length, length};
        expect_bad(&cut, "expected");
    }
    cp_bytes_release(&bytes);
    cp_bytes_release(&packed);
}

static void decompression_is_bounded(void **state)
{
    cp_bytes zeros = {0}, packed = {0};

    (void)state;
    zeros.data = calloc(1, 8 * LIMIT);
    zeros.length = zeros.capacity = 8 * LIMIT;
    cp_gzip_compress(zeros.data, zeros.length, &packed);
    expect_bad(&packed, "expected a profile of at most 1048576 bytes, found more");
    cp_bytes_release(&zeros);
    cp_bytes_release(&packed);
}

static void what_is_no_profile_is_named(void **state)
{
    static const struct {
        const char *data;
        size_t length;
        const char *complaint;
    } cases[] = {
        {"", 0, "byte 0: expected a profile, found an empty file"},
        {"hello, world\n", 13, "found text"},
        {"\177ELF\2\1\1", 7, "found an ELF program"},
        {"\0\0\0\0", 4, "byte 0: expected a protobuf field, found field number 0"},
        {"\x0f\1", 2, "found type 7"},
        {"\x1f\x8bxx", 4, "expected valid gzip data"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cp_bytes bytes = {(uint8_t *)(uintptr_t)cases[i].data, cases[i].length, 0};
        expect_bad(&bytes, cases[i].complaint);
    }
}

/* Each case changes one byte of the small profile. */
static void references_are_checked_and_the_byte_is_named(void **state)
{
    static const struct {
        size_t at;
        uint8_t value;
        const char *complaint;
    } cases[] = {
        /* 0: sample type {8 1 16 2}; 6: sample {10 2 1 2 18 1 7} */
        {3, 9, "byte 2: expected a string index below 6 (the size of string_table), found 9"},
        {10, 3, "byte 8: expected the id of a location, found 3"},
        {10, 0, "byte 8: expected the id of a location, found 0"},
        {9, 9, "byte 9: expected a length of at most 5 (the rest of the message), found 9"},
        /* 15: mapping {8 1 16 ..}; its id is the byte at 18 */
        {18, 0, "byte 15: expected a mapping with an id, found id 0"},
        {18, 2, "expected the id of a mapping, found 1"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cp_bytes bytes = {0};

        put_small_profile(&bytes);
        bytes.data[cases[i].at] = cases[i].value;
        expect_bad(&bytes, cases[i].complaint);
        cp_bytes_release(&bytes);
    }
}

static void doubled_ids_are_refused(void **state)
{
    cp_bytes bytes = {0}, function = {0};

    (void)state;
    put_small_profile(&bytes);
    put_number(&function, 1, 2);
    put_message(&bytes, 5, &function);
    expect_bad(&bytes, "expected a new function id, found 2 for the second time");
    cp_bytes_release(&bytes);
    cp_bytes_release(&function);
}

static void samples_need_a_value_for_each_type(void **state)
{
    cp_bytes bytes = {0}, sample = {0};

    (void)state;
    put_small_profile(&bytes);
    put_field(&sample, 2, "\1\2", 2);
    put_message(&bytes, 2, &sample);
    expect_bad(&bytes, "expected a sample with 1 values (one for each sample type), found 2");
    cp_bytes_release(&bytes);
    cp_bytes_release(&sample);
}

static void samples_need_a_type(void **state)
{
    cp_bytes bytes = {0}, sample = {0};

    (void)state;
    put_message(&bytes, 2, &sample);
    put_field(&bytes, 6, "", 0);
    expect_bad(&bytes, "expected a sample_type, found samples without one");
    cp_bytes_release(&bytes);
    cp_bytes_release(&sample);
}

static void two_profiles_in_one_file_are_refused(void **state)
{
    cp_bytes bytes = {0};

    (void)state;
    put_small_profile(&bytes);
    put_number(&bytes, 9, 1);
    put_number(&bytes, 9, 2);
    expect_bad(&bytes, "several profiles in one file");
    cp_bytes_release(&bytes);
}

static void first_string_must_be_empty(void **state)
{
    cp_bytes bytes = {0};

    (void)state;
    put_text(&bytes, "x");
    expect_bad(&bytes, "expected string_table[0] to be empty");
    cp_bytes_release(&bytes);
}

static void unknown_fields_are_skipped(void **state)
{
    cp_bytes bytes = {0};

    (void)state;
    put_small_profile(&bytes);
    put_number(&bytes, 15, 1);
    put_field(&bytes, 1000, "future", 6);
    cp_bytes_append(&bytes, "\x9d\x01\1\2\3\4", 6);           /* field 19, four bytes */
    cp_bytes_append(&bytes, "\xa1\x01\1\2\3\4\5\6\7\10", 10); /* field 20, eight */
    cp_profile *profile = read_good(&bytes);
    check_small(profile);
    cp_profile_free(profile);
    cp_bytes_release(&bytes);
}

/* Text labels come first; labels are sorted by key; the values of one key keep their order; empty
 * labels vanish. */
static void labels_are_sorted(void **state)
{
    static const uint8_t labels[][8] = {
        {8, 4, 24, 9}, {8, 3, 16, 1}, {8, 2, 16, 2}, {8, 2, 16, 1}, {8, 3}};
    cp_bytes bytes = {0}, sample = {0};

    (void)state;
    put_small_profile(&bytes);
    put_field(&sample, 2, "\1", 1);
    for (size_t i = 0; i < 5; i++) {
        put_field(&sample, 3, labels[i], i == 4 ? 2 : 4);
    }
    put_message(&bytes, 2, &sample);
    cp_profile *profile = read_good(&bytes);
    const cp_label *sorted = profile->samples[1].labels;
    assert_int_equal(profile->samples[1].label_count, 4);
    assert_string_equal(cp_profile_text(profile, sorted[0].key), "nanoseconds");
    assert_string_equal(cp_profile_text(profile, sorted[0].text), "nanoseconds");
    assert_string_equal(cp_profile_text(profile, sorted[1].text), "cpu");
    assert_string_equal(cp_profile_text(profile, sorted[2].key), "work");
    assert_true(sorted[3].numeric);
    assert_int_equal(sorted[3].number, 9);
    cp_profile_free(profile);
    cp_bytes_release(&bytes);
    cp_bytes_release(&sample);
}

static void sample_types_are_found_by_name_and_number(void **state)
{
    cp_profile *profile = new_model("space", "bytes");

    (void)state;
    assert_int_equal(cp_profile_sample_index(profile, NULL), 0);
    assert_int_equal(cp_profile_sample_index(profile, "space"), 0);
    assert_int_equal(cp_profile_sample_index(profile, "inuse_space"), 0);
    assert_int_equal(cp_profile_sample_index(profile, "0"), 0);
    assert_int_equal(cp_profile_sample_index(profile, "1"), -1);
    assert_int_equal(cp_profile_sample_index(profile, "-1"), -1);
    assert_int_equal(cp_profile_sample_index(profile, "cpu"), -1);
    cp_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_profile_is_read),
        cmocka_unit_test(gzip_in_several_members_is_read),
        cmocka_unit_test(every_truncation_is_noticed_or_harmless),
        cmocka_unit_test(decompression_is_bounded),
        cmocka_unit_test(what_is_no_profile_is_named),
        cmocka_unit_test(references_are_checked_and_the_byte_is_named),
        cmocka_unit_test(doubled_ids_are_refused),
        cmocka_unit_test(samples_need_a_value_for_each_type),
        cmocka_unit_test(samples_need_a_type),
        cmocka_unit_test(two_profiles_in_one_file_are_refused),
        cmocka_unit_test(first_string_must_be_empty),
        cmocka_unit_test(unknown_fields_are_skipped),
        cmocka_unit_test(labels_are_sorted),
        cmocka_unit_test(sample_types_are_found_by_name_and_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
