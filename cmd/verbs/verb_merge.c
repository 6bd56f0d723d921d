/* SPDX-License-Identifier: MIT
 *
 * verb_merge.c: `cpprof merge`, which adds up several profiles.
 *
 * Tested by: e2e.cpprof_top.
 */
#include "verbs/verbs.h"

#include "base/message.h"
#include "base/meter.h"
#include "base/out_file.h"
#include "base/pool.h"
#include "import/profile_file.h"
#include "import/profile_sum.h"
#include "profile/profile_merge.h"
#include "profile/profile_model.h"
#include "verbs/command_line.h"
#include "verbs/token_option.h"

#include <stdlib.h>

const char cp_help_merge[] =
    "usage: cpprof merge -o OUT FILE...\n"
    "\n"
    "Adds up profiles of one kind: equal stacks become one stack, units become equal,\n"
    "and a program counts as one program wherever it was loaded. OUT is a gzipped\n"
    "profile.proto.\n"
    "\n"
    "Example: cpprof merge -o all.pb.gz monday.pb.gz tuesday.pb.gz\n";

static int read_all(char *const *paths, int count, cp_profile **profiles, cp_error *error)
{
    cp_meter meter;
    int done = 0;

    cp_meter_begin(&meter, "reading", "files");
    while (done < count && cp_profile_read_file(paths[done], &profiles[done], error) == 0) {
        cp_meter_step(&meter, (uint64_t)++done, (uint64_t)count);
    }
    cp_meter_end(&meter);
    return done < count ? -1 : 0;
}

/* Finds the file that cannot be merged with the first one, and names it in the sentence. */
static void name_the_file(char *const *paths, cp_profile **profiles, int count, cp_error *error)
{
    for (int i = 1; i < count; i++) {
        cp_profile *pair[] = {profiles[0], profiles[i]}, *merged = NULL;
        cp_error why;

        if (cp_profile_add(pair, 2, &merged, &why) < 0) {
            cp_fail(error, "%s: %s", paths[i], why.text);
            return;
        }
        cp_profile_free(merged);
    }
}

/* Merges profiles that are all in memory: any files, in any units. */
static int merge_at_once(char *const *paths, int count, cp_profile **merged, cp_error *error)
{
    cp_profile **profiles = cp_heap_alloc((size_t)count, sizeof(cp_profile *));
    int status = read_all(paths, count, profiles, error);

    if (status == 0) {
        status = cp_profile_add(profiles, (size_t)count, merged, error);
        if (status < 0) {
            name_the_file(paths, profiles, count, error);
        }
    }
    for (int i = 0; i < count; i++) {
        cp_profile_free(profiles[i]);
    }
    free(profiles);
    return status;
}

static int merge_files(char *const *paths, int count, const char *out, cp_error *error)
{
    cp_profile *merged = cp_profile_sum_files((const char *const *)paths, (size_t)count, NULL);

    if (!merged && merge_at_once(paths, count, &merged, error) < 0) {
        return -1;
    }
    int status = cp_profile_write_file(out, merged, error);
    cp_profile_free(merged);
    return status;
}

int cp_run_merge(int argc, char **argv)
{
    const char *out = NULL;
    const cp_option table[] = {
        {'o', "output", NULL, CP_OPTION_TEXT, &out, 0, 0, "OUT",
         "the file to write; it may be one of the FILEs"},
        CP_TOKEN_OPTION,
        {0},
    };

    cp_operands files;
    int status = CP_EXIT_OK;
    if (cp_options_parse("merge", table, false, argc, argv, &files, &status) < 0) {
        return status;
    }
    if (!out || !*out) {
        return cp_bad_usage("merge", "merge: expected -o OUT, the file to write, found none");
    }
    if (files.count == 0) {
        return cp_bad_usage("merge", "merge: expected at least one FILE, found none");
    }
    cp_error error;
    if (cp_out_check_binary(out, &error) < 0) {
        return cp_bad_usage("merge", "merge: %s", error.text);
    }
    if (merge_files(files.values, files.count, out, &error) < 0) {
        cp_complain("%s", error.text);
        return CP_EXIT_BAD_INPUT;
    }
    return CP_EXIT_OK;
}
