/* SPDX-License-Identifier: MIT
 *
 * cmd_page.c: the page that `cpprof flame` writes: what is put into it, and where. test/page/ looks
 * at the page itself.
 */
#include "cmd_builder.h"

#include "import/profile_file.h"
#include "page/base64.h"
#include "page/page_data.h"
#include "page/page_file.h"
#include "page/page_sources.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/cmd_page.XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"small.pb", "small.html", "source.c", "binary.c"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        unlink(names[i]);
    }
    return chdir("/") == 0 ? rmdir(folder) : -1;
}

static void write_text(const char *path, const void *data, size_t length)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void expect_base64(const char *plain, const char *expected)
{
    char text[16] = "";
    size_t length = strlen(plain);

    for (size_t i = 0; i < length; i += BASE64_BYTES) {
        base64_group((const uint8_t *)plain + i, length - i,
                     text + i / BASE64_BYTES * BASE64_DIGITS);
    }
    assert_string_equal(text, expected);
}

/* The vectors of RFC 4648, and the last two digits. */
static void base64_is_that_of_the_standard(void **state)
{
    (void)state;
    expect_base64("f", "Zg==");
    expect_base64("fo", "Zm8=");
    expect_base64("foo", "Zm9v");
    expect_base64("foob", "Zm9vYg==");
    expect_base64("fooba", "Zm9vYmE=");
    expect_base64("foobar", "Zm9vYmFy");
    expect_base64("\xfb\xff\xff", "+///");
}

static void the_page_has_the_profile_before_its_end(void **state)
{
    const cp_page_options options = {.path = "small.pb"};
    cp_bytes profile = {0}, page = {0};
    cp_error error;

    (void)state;
    put_small_profile(&profile);
    write_text("small.pb", profile.data, profile.length);
    assert_int_equal(cp_page_write(&options, "small.html", &error), 0);
    int fd = open("small.html", O_RDONLY);
    assert_int_equal(cp_file_get(fd, SIZE_MAX, &page), 0);
    close(fd);
    cp_bytes_append(&page, "", 1);

    const char *text = (const char *)page.data;
    const char *element = strstr(text, "id=\"profile\" data-name=\"small.pb\">H4sI");
    assert_non_null(element);
    assert_non_null(strstr(element, "</script>\n</body>\n</html>\n"));
    assert_null(strstr(text, "id=\"sources\""));
    assert_true(page.length > cp_page_length);
    cp_bytes_release(&profile);
    cp_bytes_release(&page);
}

static void a_profile_that_cannot_be_read_leaves_no_page(void **state)
{
    const cp_page_options options = {.path = "absent.pb"};
    cp_error error;

    (void)state;
    assert_int_equal(cp_page_write(&options, "absent.html", &error), -1);
    assert_string_equal(error.text, "absent.pb: cannot open: No such file or directory");
    assert_int_equal(access("absent.html", F_OK), -1);
}

/* Gives the first function of a profile with one sample a file and a line. */
static cp_profile *profile_in(const char *file)
{
    cp_profile *profile = new_model("cpu", "ns");

    add_sample(profile, "work", 1);
    profile->functions[0].filename = cp_strings_put(&profile->strings, file);
    profile->locations[0].lines[0].line = 2;
    return profile;
}

static void expect_sources(const char *file, const char *expected)
{
    cp_profile *profile = profile_in(file);
    cp_bytes out = {0};

    cp_page_put_sources(profile, &out);
    cp_bytes_append(&out, "", 1);
    assert_string_equal((const char *)out.data, expected);
    cp_bytes_release(&out);
    cp_profile_free(profile);
}

static void sources_are_json_that_means_nothing_in_html(void **state)
{
    static const char source[] = "a(\"</script>\\\");\n\tb();\n";

    (void)state;
    write_text("source.c", source, sizeof source - 1);
    expect_sources("source.c", "{\"source.c\":\"a(\\u0022\\u003c/script>\\u005c\\u0022);"
                               "\\u000a\\u0009b();\\u000a\"}");
}

static void what_is_no_source_is_left_out(void **state)
{
    (void)state;
    write_text("binary.c", "a\0b", 3);
    expect_sources("binary.c", "{}");
    expect_sources("absent.c", "{}");
    expect_sources("/dev/zero", "{}");
    expect_sources("/tmp", "{}");
    expect_sources("", "{}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base64_is_that_of_the_standard),
        cmocka_unit_test(the_page_has_the_profile_before_its_end),
        cmocka_unit_test(a_profile_that_cannot_be_read_leaves_no_page),
        cmocka_unit_test(sources_are_json_that_means_nothing_in_html),
        cmocka_unit_test(what_is_no_source_is_left_out),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
