/* SPDX-License-Identifier: MIT
 *
 * cmd_gperftools.c: the binary CPU format of gperftools, in all word sizes and byte orders.
 */
#include "cmd_builder.h"

#include "import/profile_file.h"

#include <stdlib.h>

struct writer {
    cp_bytes bytes;
    unsigned size;
    bool big_endian;
};

static void put(struct writer *writer, uint64_t word)
{
    uint8_t bytes[8];

    for (unsigned i = 0; i < writer->size; i++) {
        unsigned shift = writer->big_endian ? writer->size - 1 - i : i;
        bytes[i] = (uint8_t)(word >> (8 * shift));
    }
    cp_bytes_append(&writer->bytes, bytes, writer->size);
}

static void put_words(struct writer *writer, const uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put(writer, words[i]);
    }
}

static void put_maps(struct writer *writer)
{
    static const char maps[] =
        "00001000-00002000 r--p 00000000 08:01 1 /bin/app\n"
        "00002000-00003000 r-xp 00001000 08:01 1 /bin/app\n"
        "00007000-00009000 r-xp 00000000 08:01 2   /lib/libx.so.1 (deleted)\n";

    cp_bytes_append(&writer->bytes, maps, sizeof maps - 1);
}

static void expect_bad(const struct writer *writer, const char *complaint)
{
    cp_profile *profile;
    cp_error error;
    assert_int_equal(
        cp_profile_read_bytes(writer->bytes.data, writer->bytes.length, 1 << 20, &profile, &error),
        -1);
    if (!strstr(error.text, complaint)) {
        fail_msg("expected '%s', found '%s'", complaint, error.text);
    }
}

static const uint64_t header[] = {0, 3, 0, 10000, 0};
static const uint64_t samples[] = {5, 2, 0x2100, 0x7200, 2, 3, 0x7300, 0x2200, 0x7400};
static const uint64_t trailer[] = {0, 1, 0};

static void check(const cp_profile *profile)
{
    const cp_location *leaf = &profile->locations[profile->samples[0].locations[0]];
    const cp_location *caller = &profile->locations[profile->samples[0].locations[1]];

    assert_int_equal(profile->sample_count, 2);
    assert_int_equal(profile->samples[0].values[0], 5);
    assert_int_equal(profile->samples[0].values[1], 5 * 10000000);
    assert_int_equal(profile->samples[1].location_count, 3);
    assert_int_equal(leaf->address, 0x2100);
    assert_int_equal(caller->address, 0x71ff);
    assert_string_equal(cp_profile_text(profile, profile->mappings[leaf->mapping].file),
                        "/bin/app");
    assert_string_equal(cp_profile_text(profile, profile->mappings[caller->mapping].file),
                        "/lib/libx.so.1");
    assert_int_equal(profile->mapping_count, 2);
}

/* The maps are those of gperftools, without and with the line before them that Go wrote and
 * libpprof writes. */
static void all_word_sizes_and_byte_orders_are_read(void **state)
{
    static const char line[] = "\nMAPPED_LIBRARIES:\n";
    (void)state;
    for (unsigned variant = 0; variant < 8; variant++) {
        struct writer writer = {{0}, variant / 2 % 2 ? 8 : 4, variant % 2};

        put_words(&writer, header, 5);
        put_words(&writer, samples, 9);
        put_words(&writer, trailer, 3);
        if (variant >= 4) {
            cp_bytes_append(&writer.bytes, line, sizeof line - 1);
        }
        put_maps(&writer);
        cp_profile *profile;
        cp_error error;
        if (cp_profile_read_bytes(writer.bytes.data, writer.bytes.length, 1 << 20, &profile,
                                  &error) < 0) {
            fail_msg("%s", error.text);
        }
        check(profile);
        cp_profile_free(profile);
        cp_bytes_release(&writer.bytes);
    }
}

static void the_profilers_own_frame_is_removed(void **state)
{
    static const uint64_t handler[] = {1, 3, 0x2100, 0x7777, 0x2300, 1, 3, 0x2200, 0x7777, 0x2300};
    struct writer writer = {{0}, 8, false};

    (void)state;
    put_words(&writer, header, 5);
    put_words(&writer, handler, 10);
    put_words(&writer, trailer, 3);
    cp_profile *profile;
    cp_error error;
    assert_int_equal(
        cp_profile_read_bytes(writer.bytes.data, writer.bytes.length, 1 << 20, &profile, &error),
        0);
    for (uint32_t i = 0; i < 2; i++) {
        for (uint32_t j = 0; j < profile->samples[i].location_count; j++) {
            assert_int_not_equal(profile->locations[profile->samples[i].locations[j]].address,
                                 0x7776);
        }
    }
    cp_profile_free(profile);
    cp_bytes_release(&writer.bytes);
}

static void cut_files_are_noticed(void **state)
{
    struct writer writer = {{0}, 8, false};

    (void)state;
    put_words(&writer, header, 5);
    put_words(&writer, samples, 9);
    expect_bad(&writer, "byte 112: expected the record that ends the samples, found the end");
    writer.bytes.length -= 8;
    expect_bad(&writer, "byte 72: expected a stack that fits into the file, found one of 3 frames");
    cp_bytes_release(&writer.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_word_sizes_and_byte_orders_are_read),
        cmocka_unit_test(the_profilers_own_frame_is_removed),
        cmocka_unit_test(cut_files_are_noticed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
