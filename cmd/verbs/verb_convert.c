/* SPDX-License-Identifier: MIT
 *
 * verb_convert.c: `cpprof convert`, which writes a profile in another format.
 *
 * Each format is a report verb of its own, whose report goes to a file.
 *
 * Tested by: e2e.cpprof_convert.
 */
#include "verbs/verbs.h"

#include "base/message.h"
#include "convert/convert.h"
#include "report/report.h"
#include "report/report_text.h"
#include "verbs/report_verb.h"

#include <stddef.h>
#include <string.h>

const char cp_help_convert[] =
    "usage: cpprof convert -o OUT [OPTIONS] [FILE...]\n"
    "\n"
    "Writes a profile in the format that OUT ends in, whole or not at all:\n"
    "  pb.gz, pb        profile.proto, gzipped or plain, for `go tool pprof`, ...\n"
    "  folded           stacks as lines: for flamegraph.pl, inferno and grep\n"
    "  speedscope.json  the file format of speedscope\n"
    "  html, svg        the page of `cpprof flame`; a flame graph as a picture\n"
    "  dot, txt         the call graph, for Graphviz; the table of `cpprof top`\n"
    "  afdo-text, prof  a CPU profile for clang -fprofile-sample-use (docs/PGO.md)\n"
    "  gcov, fdata      a CPU profile for gcc -fauto-profile, for llvm-bolt --data\n"
    "\n"
    "Example: cpprof convert -o prof.folded prof.pb.gz\n"
    "\n" CP_REPORT_NOTES;

static int print_dot(cp_report *report, cp_regex *expression, bool json, FILE *out, cp_error *error)
{
    (void)expression, (void)json, (void)error;
    cp_convert_dot(report, out);
    return 0;
}

static int print_text(cp_report *report, cp_regex *expression, bool json, FILE *out,
                      cp_error *error)
{
    (void)expression, (void)json, (void)error;
    cp_report_build_graph(report, false);
    cp_report_print_profile(report, out);
    cp_report_print_summary(report, out);
    cp_report_print_rows(report, out);
    return 0;
}

static int print_afdo(cp_report *report, cp_regex *expression, bool json, FILE *out,
                      cp_error *error)
{
    (void)expression, (void)json;
    return cp_convert_afdo(report, out, error);
}

static int print_gcov(cp_report *report, cp_regex *expression, bool json, FILE *out,
                      cp_error *error)
{
    (void)expression, (void)json;
    return cp_convert_gcov(report, out, error);
}

static int print_fdata(cp_report *report, cp_regex *expression, bool json, FILE *out,
                       cp_error *error)
{
    (void)expression, (void)json;
    return cp_convert_fdata(report, out, error);
}

static const cp_report_verb *choose_svg(const char *path, const char *name, cp_error *error)
{
    static const cp_report_verb verb = {
        .name = "flame", .untrimmed = true, .draws = true, .write = cp_convert_svg};

    (void)path;
    if (name && strcmp(name, "svg") != 0) {
        cp_fail(error, "--to: expected svg, as -o says, found %s", name);
        return NULL;
    }
    return &verb;
}

const cp_report_verb cp_flame_svg = {.name = "flame", .choose = choose_svg};

#define CODE_VERB(function)                                                                        \
    {                                                                                              \
        .name = "convert", .untrimmed = true, .any_bytes = true, .verbatim = true,                 \
        .print = (function)                                                                        \
    }

typedef struct format {
    const char *name; /* also the ending of a file's name */
    cp_report_verb verb;
} format;

static const format formats[] = {
    {"pb.gz",
     {.name = "convert",
      .untrimmed = true,
      .shows_samples = true,
      .is_binary = true,
      .verbatim = true,
      .write = cp_convert_gzip}},
    {"pb",
     {.name = "convert",
      .untrimmed = true,
      .shows_samples = true,
      .is_binary = true,
      .verbatim = true,
      .write = cp_convert_proto}},
    {"folded", {.name = "convert", .untrimmed = true, .write = cp_convert_folded}},
    {"speedscope.json",
     {.name = "convert",
      .untrimmed = true,
      .granularity = CP_FILEFUNCTIONS,
      .any_bytes = true,
      .write = cp_convert_speedscope}},
    {"html", {.name = "convert", .untrimmed = true, .any_bytes = true, .write = cp_convert_page}},
    {"svg", {.name = "convert", .untrimmed = true, .draws = true, .write = cp_convert_svg}},
    {"dot", {.name = "convert", .node_count = 80, .print = print_dot}},
    {"txt", {.name = "convert", .print = print_text}},
    {"afdo-text", CODE_VERB(print_afdo)},
    {"prof", CODE_VERB(print_afdo)},
    {"gcov", CODE_VERB(print_gcov)},
    {"fdata", CODE_VERB(print_fdata)},
};

/* Whether the path ends in a dot and the name. */
static bool ends_in(const char *path, const char *name)
{
    size_t length = strlen(path), end = strlen(name);

    return length > end + 1 && path[length - end - 1] == '.' &&
           strcmp(path + length - end, name) == 0;
}

static void list_formats(char *text, size_t room)
{
    size_t length = 0;

    for (size_t i = 0; i < sizeof formats / sizeof *formats && length < room; i++) {
        length +=
            (size_t)snprintf(text + length, room - length, "%s%s", i ? ", " : "", formats[i].name);
    }
}

static const cp_report_verb *choose(const char *path, const char *name, cp_error *error)
{
    char known[256];

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (name ? strcmp(name, formats[i].name) == 0 : path && ends_in(path, formats[i].name)) {
            return &formats[i].verb;
        }
    }
    list_formats(known, sizeof known);
    if (name) {
        cp_fail(error, "--to: expected %s, found %s", known, name);
    } else if (path) {
        cp_fail(error, "-o: expected a name that ends in %s, or --to, found %s", known, path);
    } else {
        cp_fail(error, "expected -o OUT, the file to write, found none");
    }
    return NULL;
}

int cp_run_convert(int argc, char **argv)
{
    static const cp_report_verb verb = {.name = "convert", .choose = choose};

    return cp_report_verb_run(&verb, argc, argv);
}
