/* SPDX-License-Identifier: MIT
 *
 * verb_top.c: `cpprof top`, which prints the functions that cost most, as `go tool pprof -top`
 * does.
 *
 * Tested by: e2e.cpprof_top.
 */
#include "verbs/verbs.h"

#include "base/message.h"
#include "base/regex.h"
#include "profile/profile_model.h"
#include "report/nameless.h"
#include "report/report.h"
#include "verbs/command_line.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

const char cp_help_top[] =
    "usage: cpprof top [--cum] [-n N] [--sample TYPE] [--focus RE] [--ignore RE] [--base FILE]\n"
    "                  [--demangle MODE] FILE\n"
    "\n"
    "Prints the functions that cost most, as `go tool pprof -top` does.\n"
    "FILE is a profile.proto, gzipped or plain, or a CPU profile of gperftools; - is standard "
    "input.\n"
    "\n"
    "  --cum          sort by cum (the function and its callees), not by flat (only the function)\n"
    "  -n N           print at most N rows (all)\n"
    "  --sample TYPE  show this sample type, such as cpu or inuse_space; or its index\n"
    "  --focus RE     take only samples in which a function, file or program matches RE\n"
    "  --ignore RE    take only samples in which none of these matches RE\n"
    "  --base FILE    subtract this profile first\n"
    "  --demangle MODE  show C++ and Rust names like this: simple (the default: no parameters and\n"
    "                 no template arguments, so overloads and instances share a row), templates,\n"
    "                 full, or none (the symbols)\n"
    "\n"
    "Functions below 0.5 % of the total are left out; the header has their number.\n"
    "The options of go tool pprof work too: -cum, -nodecount=N, -sample_index=TYPE.\n";

typedef struct top {
    cp_report_options options;
    const char *base;
    const char *demangle;
    cp_demangle_mode mode;
} top;

static int compile(const char *option, const char *pattern, cp_regex **regex)
{
    if (!pattern) {
        return 0;
    }
    cp_error error;
    *regex = cp_regex_compile(pattern, &error);
    if (*regex) {
        return 0;
    }
    cp_bad_usage("top", "top: %s: %s", option, error.text);
    return -1;
}

static int print_top(const top *t, const char *path)
{
    int status = CP_EXIT_OK;

    cp_profile *profile;
    cp_error error;
    if (cp_report_load(path, t->base, t->mode, &profile, &error) < 0) {
        cp_complain("%s", error.text);
        return CP_EXIT_BAD_INPUT;
    }
    cp_report report;
    if (cp_report_init(&report, profile, &t->options, &error) < 0) {
        cp_profile_free(profile);
        if (t->options.sample) {
            return cp_bad_usage("top", "%s: %s", path, error.text);
        }
        cp_complain("%s: %s", path, error.text);
        return CP_EXIT_BAD_INPUT;
    }
    cp_report_print_profile(&report, stdout);
    cp_report_print_summary(&report, stdout);
    cp_report_print_rows(&report, stdout);
    if (fflush(stdout) != 0) {
        cp_complain("standard output: cannot write: %s", strerror(errno));
        status = CP_EXIT_BAD_INPUT;
    } else if (isatty(STDERR_FILENO)) {
        cp_nameless_advise(&report);
    }
    cp_report_release(&report);
    cp_profile_free(profile);
    return status;
}

/* As in go tool pprof, an option with an empty value counts as not given. */
static void drop_empty(const char **text)
{
    if (*text && !**text) {
        *text = NULL;
    }
}

int cp_run_top(int argc, char **argv)
{
    top t = {0};
    cp_report_options *report = &t.options;
    long rows = 0;
    const cp_option table[] = {
        {0, "cum", NULL, CP_OPTION_FLAG, &report->by_cum, 0, 0},
        {'n', "rows", "nodecount", CP_OPTION_COUNT, &rows, 0, INT_MAX},
        {0, "sample", "sample_index", CP_OPTION_TEXT, &report->sample, 0, 0},
        {0, "focus", NULL, CP_OPTION_TEXT, &report->focus, 0, 0},
        {0, "ignore", NULL, CP_OPTION_TEXT, &report->ignore, 0, 0},
        {0, "demangle", NULL, CP_OPTION_TEXT, &t.demangle, 0, 0},
        {0, "base", NULL, CP_OPTION_TEXT, &t.base, 0, 0},
        {0},
    };

    cp_operands files;
    int status;
    if (cp_options_parse("top", table, false, argc, argv, &files, &status) < 0) {
        return status;
    }
    if (files.count != 1) {
        return cp_bad_usage("top", "top: expected one FILE, found %d", files.count);
    }
    if (t.demangle && cp_demangle_mode_named(t.demangle, &t.mode) < 0) {
        return cp_bad_usage("top",
                            "top: --demangle: expected simple, templates, full or none, found %s",
                            t.demangle);
    }
    report->node_count = (uint32_t)rows;
    drop_empty(&report->sample);
    drop_empty(&report->focus);
    drop_empty(&report->ignore);
    drop_empty(&t.base);
    status = CP_EXIT_BAD_USAGE;
    if (compile("--focus", report->focus, &report->focus_regex) == 0 &&
        compile("--ignore", report->ignore, &report->ignore_regex) == 0) {
        status = print_top(&t, files.values[0]);
    }
    cp_regex_free(report->focus_regex);
    cp_regex_free(report->ignore_regex);
    return status;
}
