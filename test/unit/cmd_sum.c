/* SPDX-License-Identifier: MIT
 *
 * cmd_sum.c: the sum of files is the merge of their profiles, in the files' order; and what has to
 * be read in another way is left to the caller.
 */
#include "cmd_builder.h"

#include "import/profile_file.h"
#include "import/profile_sum.h"
#include "profile/profile_encode.h"
#include "profile/profile_merge.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES 50 /* more than are in memory at a time */

static char folder[] = "/tmp/cmd_sum.XXXXXX";
static char names[FILES][64];
static const char *paths[FILES];

static int make_folder(void **state)
{
    (void)state;
    for (int i = 0; i < FILES; i++) {
        paths[i] = names[i];
    }
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    for (int i = 0; i < FILES; i++) {
        unlink(paths[i]);
    }
    return rmdir(folder);
}

/* Makes the n-th profile: all have one stack in common, and some have a stack of their own. */
static cp_profile *nth(int n, const char *unit)
{
    cp_profile *profile = new_model("cpu", unit);
    char stack[64];

    snprintf(stack, sizeof stack, "leaf%d root", n % 7);
    add_sample(profile, stack, n + 1);
    add_sample(profile, "common root", 1);
    profile->duration_nanos = n;
    return profile;
}

static void write_nth(int n, const char *unit)
{
    cp_profile *profile = nth(n, unit);
    cp_error error;

    snprintf(names[n], sizeof names[n], "%s/%d.pb.gz", folder, n);
    assert_int_equal(cp_profile_write_file(names[n], profile, &error), 0);
    cp_profile_free(profile);
}

static void write_all(void)
{
    for (int i = 0; i < FILES; i++) {
        write_nth(i, "ms");
    }
}

/* Reads all files and merges them then. */
static cp_profile *merged_at_once(size_t count)
{
    cp_profile *profiles[FILES], *merged;
    cp_error error;

    for (size_t i = 0; i < count; i++) {
        assert_int_equal(cp_profile_read_file(paths[i], &profiles[i], &error), 0);
    }
    assert_int_equal(cp_profile_merge(profiles, count, &merged, &error), 0);
    for (size_t i = 0; i < count; i++) {
        cp_profile_free(profiles[i]);
    }
    return merged;
}

static void expect_equal(cp_profile *left, cp_profile *right)
{
    pp_buffer a = PP_BUFFER_INIT, b = PP_BUFFER_INIT;

    assert_non_null(left);
    cp_profile_encode(left, &a);
    cp_profile_encode(right, &b);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    pp_buffer_release(&a);
    pp_buffer_release(&b);
    cp_profile_free(left);
    cp_profile_free(right);
}

static void sum_is_the_merge_of_all(void **state)
{
    (void)state;
    write_all();
    for (size_t count = 1; count <= FILES; count = count < 3 ? count + 1 : 2 * count + 1) {
        expect_equal(cp_profile_sum_files(paths, count, NULL), merged_at_once(count));
    }
    expect_equal(cp_profile_sum_files(paths, FILES, NULL), merged_at_once(FILES));
}

static int prepared;

static void prepare(cp_profile *profile)
{
    assert_int_equal(profile->duration_nanos, prepared);
    prepared++;
}

static void each_profile_is_prepared_in_order(void **state)
{
    (void)state;
    write_all();
    cp_profile_free(cp_profile_sum_files(paths, FILES, prepare));
    assert_int_equal(prepared, FILES);
}

/* The bad file is the first one, one in the middle, and the last one. */
static void broken_files_are_left_to_the_caller(void **state)
{
    static const int bad[] = {0, FILES / 2, FILES - 1};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_all();
        assert_int_equal(truncate(paths[bad[i]], 20), 0);
        assert_null(cp_profile_sum_files(paths, FILES, NULL));
    }
}

static void other_units_are_left_to_the_caller(void **state)
{
    (void)state;
    write_all();
    write_nth(FILES / 2, "us");
    assert_null(cp_profile_sum_files(paths, FILES, NULL));
}

static void pipes_are_not_touched(void **state)
{
    char pipe_path[64];

    (void)state;
    write_all();
    snprintf(pipe_path, sizeof pipe_path, "%s/pipe", folder);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    const char *mixed[] = {paths[0], pipe_path, "-"};
    assert_null(cp_profile_sum_files(mixed, 2, NULL)); /* reading it would wait for ever */
    assert_null(cp_profile_sum_files(mixed + 2, 1, NULL));
    unlink(pipe_path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sum_is_the_merge_of_all),
        cmocka_unit_test(each_profile_is_prepared_in_order),
        cmocka_unit_test(broken_files_are_left_to_the_caller),
        cmocka_unit_test(other_units_are_left_to_the_caller),
        cmocka_unit_test(pipes_are_not_touched),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
