/* SPDX-License-Identifier: MIT
 *
 * verb_symbolize.c: `cpprof symbolize`, which writes files, lines and inlined functions into a
 * profile.
 *
 * Tested by: e2e.cpprof_symbolize
 */
#include "verbs/verbs.h"

#include "base/message.h"
#include "base/out_file.h"
#include "import/profile_file.h"
#include "names/demangle.h"
#include "profile/profile_filter.h"
#include "profile/profile_lines.h"
#include "profile/profile_model.h"
#include "verbs/command_line.h"
#include "verbs/default_file.h"
#include "verbs/token_option.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const char cp_help_symbolize[] =
    "usage: cpprof symbolize [OPTIONS] [FILE]\n"
    "\n"
    "Writes files, lines and inlined functions into a profile, so that it can be read\n"
    "where the program is not. They come from debug information here, and from the\n"
    "servers of DEBUGINFOD_URLS. FILE is replaced when the new one is whole.\n"
    "\n"
    "Example: cpprof symbolize -o lines.pb.gz prof.pb.gz\n"
    "\n"
    "A file of another build is not used. Without FILE a pipe or file at\n"
    "standard input is read, or the newest *.pb.gz of this folder.\n";

typedef struct request {
    const char *in, *out;
    char *newest; /* the FILE, if the user named none */
    cp_demangle_mode mode;
    bool force;
} request;

static int run(const request *r, cp_error *error)
{
    const cp_lines_options options = {
        .wanted = r->force ? CP_LINES_ALL : CP_LINES_MISSING, .any_build = true, .complains = true};
    cp_profile *profile;

    if (cp_profile_read_file(r->in, &profile, error) < 0) {
        return -1;
    }
    cp_profile_add_lines(profile, &options);
    cp_profile_demangle_as(profile, r->mode);
    cp_profile_drop_functions(profile);
    int status = cp_profile_write_file(r->out, profile, error);
    cp_profile_free(profile);
    return status;
}

/* Whether the source can be replaced by a file. */
static bool is_file(const char *source)
{
    return strcmp(source, "-") != 0 && !strstr(source, "://") && strncmp(source, "unix:", 5) != 0;
}

static int check(request *r, const cp_operands *files, const char *demangle)
{
    if (files->count > 1) {
        return cp_bad_usage("symbolize", "symbolize: expected one FILE, found %d", files->count);
    }
    if (files->count == 0) {
        r->newest = cp_default_file("symbolize");
    }
    r->in = r->newest ? r->newest : files->values[0];
    if (!r->in) {
        return CP_EXIT_BAD_USAGE;
    }
    if (demangle) {
        cp_demangle_mode_named(demangle, &r->mode);
    }
    if (!r->out || !*r->out) {
        r->out = r->in;
        if (!is_file(r->in)) {
            return cp_bad_usage("symbolize",
                                "symbolize: %s: expected -o OUT, the file to write, found none",
                                r->in);
        }
    }
    cp_error error;
    if (cp_out_check_binary(r->out, &error) < 0) {
        return cp_bad_usage("symbolize", "symbolize: %s", error.text);
    }
    return CP_EXIT_OK;
}

int cp_run_symbolize(int argc, char **argv)
{
    request r = {0};
    const char *demangle = NULL;
    const cp_option table[] = {
        {'o', "output", NULL, CP_OPTION_TEXT, &r.out, 0, 0, "OUT",
         "write this file instead; needed if FILE is - or a URL"},
        {0, "force", NULL, CP_OPTION_FLAG, &r.force, 0, 0, NULL,
         "also where the profile has lines already"},
        {0, "demangle", NULL, CP_OPTION_TEXT, &demangle, 0, 0, "MODE",
         "C++ and Rust names: simple, templates, full or none", CP_DEMANGLE_WORDS},
        CP_TOKEN_OPTION,
        {0},
    };

    cp_operands files;
    int status = CP_EXIT_OK;
    if (cp_options_parse("symbolize", table, false, argc, argv, &files, &status) < 0) {
        return status;
    }
    status = check(&r, &files, demangle);
    cp_error error;
    if (status == CP_EXIT_OK && run(&r, &error) < 0) {
        cp_complain("%s", error.text);
        status = CP_EXIT_BAD_INPUT;
    }
    free(r.newest);
    return status;
}
