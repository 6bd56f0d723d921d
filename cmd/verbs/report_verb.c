/* SPDX-License-Identifier: MIT
 *
 * report_verb.c: see report_verb.h.
 *
 * Owns: the compiled filters, and the profile, for the length of a call.
 * Tested by: e2e.cpprof_top, e2e.cpprof_reports.
 */
#include "verbs/report_verb.h"

#include "base/duration.h"
#include "base/measurement.h"
#include "base/message.h"
#include "base/out_file.h"
#include "base/pager.h"
#include "base/regex.h"
#include "base/terminal.h"
#include "live/live.h"
#include "profile/profile_model.h"
#include "report/nameless.h"
#include "report/report.h"
#include "report/report_load.h"
#include "report/shown_sources.h"
#include "verbs/command_line.h"
#include "verbs/default_file.h"
#include "verbs/filter_options.h"
#include "verbs/token_option.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the user typed. */
typedef struct request {
    const cp_report_verb *verb;
    cp_report_options options;
    cp_sources sources;
    cp_text_list bases, diff_bases;
    long rows;
    const char *demangle, *granularity, *style, *fail_above, *fail_above_total, *symbolize, *color;
    const char *expression_text;
    cp_regex *expression;
    char *newest; /* the FILE, if the user named none */
    const char *newest_path;
    bool json, no_pager;
    const char *out_path, *format, *root;
    cp_live_options live; /* its source is NULL without -p */
    const char *interval;
} request;

static int refuse(const request *r, const char *option, const char *expected, const char *found)
{
    return cp_bad_usage(r->verb->name, "%s: %s: expected %s, found %s", r->verb->name, option,
                        expected, found);
}

/* As in go tool pprof, an option with an empty value counts as not given. */
static void drop_empty(const char **text)
{
    if (*text && !**text) {
        *text = NULL;
    }
}

/* ---- expressions ---- */

static int compile(const request *r, const char *option, const char *pattern, cp_regex **regex)
{
    cp_error error;

    *regex = cp_regex_compile(pattern, &error);
    if (*regex) {
        return CP_EXIT_OK;
    }
    return cp_bad_usage(r->verb->name, "%s: %s: %s", r->verb->name, option, error.text);
}

static int compile_all(request *r)
{
    int status = cp_filters_compile(r->verb->name, &r->options.filters);

    if (status == CP_EXIT_OK && r->expression_text) {
        status = compile(r, "RE", r->expression_text, &r->expression);
    }
    return status;
}

static void release(request *r)
{
    cp_filters_release(&r->options.filters);
    cp_regex_free(r->expression);
    free(r->bases.values);
    free(r->diff_bases.values);
    free(r->newest);
}

/* ---- the report ---- */

/* As cp_report_verb.print(). */
static int write_or_print(const request *r, cp_report *report, FILE *out, cp_error *error)
{
    const cp_report_verb *verb = r->verb;

    if (verb->print) {
        return verb->print(report, r->expression, r->json, out, error);
    }
    (r->json ? verb->write_json : verb->write)(report, out);
    return 0;
}

/* Returns 0, an exit status, or -1 with a sentence. */
static int print_to_file(const request *r, cp_report *report, cp_error *error)
{
    cp_out_file out;

    if (cp_out_open(&out, r->out_path ? r->out_path : "-", error) < 0) {
        return -1;
    }
    int status = write_or_print(r, report, out.file, error);
    cp_pager_finish();
    if (status < 0) {
        cp_out_abandon(&out);
        return -1;
    }
    return cp_out_close(&out, error) < 0 ? -1 : status;
}

static int print(const request *r, cp_report *report)
{
    static char buffer[1 << 18];
    cp_error error;

    if (!r->json && !r->no_pager && !r->out_path) {
        cp_pager_start();
    }
    if (!isatty(STDOUT_FILENO)) {
        setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    }

    int status = print_to_file(r, report, &error);
    if (status < 0) {
        cp_complain("%s: %s", r->verb->name, error.text);
        return CP_EXIT_BAD_INPUT;
    }
    cp_shown_sources_check(report);
    if (isatty(STDERR_FILENO)) {
        cp_nameless_advise(report);
    }
    return status;
}

static int report_on(const request *r, cp_profile *profile)
{
    const char *path = r->sources.paths[0];
    cp_report report;
    cp_error error;

    if (cp_report_init(&report, profile, &r->options, &error) < 0) {
        if (r->options.sample) {
            return cp_bad_usage(r->verb->name, "%s: %s", path, error.text);
        }
        cp_complain("%s: %s", path, error.text);
        return CP_EXIT_BAD_INPUT;
    }
    int status = print(r, &report);
    cp_report_release(&report);
    return status;
}

static int load_and_report(const request *r)
{
    cp_sources sources = r->sources;
    cp_profile *profile;
    cp_error error;

    sources.lines.about = r->verb->shows_lines ? r->expression : NULL;
    if (cp_report_load(&sources, &profile, &error) < 0) {
        cp_complain("%s", error.text);
        return CP_EXIT_BAD_INPUT;
    }
    int status = report_on(r, profile);
    cp_profile_free(profile);
    return status;
}

/* ---- options ---- */

/* Reads "5%" or "5". */
static int read_limit(const request *r, const char *option, const char *text, double *limit)
{
    char *end;

    if (!text) {
        return CP_EXIT_OK;
    }
    *limit = strtod(text, &end);
    end += *end == '%';
    if (!r->verb->has_base || end == text || *end || !(*limit > 0)) {
        return refuse(r, option, "a percentage, for diff", text);
    }
    return CP_EXIT_OK;
}

static int check_limits(request *r)
{
    int status = read_limit(r, "--fail-above", r->fail_above, &r->options.fail_above);

    return status != CP_EXIT_OK ? status
                                : read_limit(r, "--fail-above-total", r->fail_above_total,
                                             &r->options.fail_above_total);
}

/* The parser has refused other words than those of the table of options. */
static int check_words(request *r)
{
    if (r->demangle) {
        cp_demangle_mode_named(r->demangle, &r->sources.mode);
    }
    if (r->granularity) {
        cp_granularity_named(r->granularity, &r->options.granularity);
    }
    if (!r->out_path || r->color) {
        r->options.colored = cp_color_wanted(cp_color_named(r->color), STDOUT_FILENO);
    }
    if (r->style && strcmp(r->style, "go1.19") == 0) {
        r->options.style = CP_STYLE_GO_1_19;
        if (r->sources.mode == CP_DEMANGLE_SIMPLE) {
            r->sources.mode = CP_DEMANGLE_GO_1_19;
        }
    }
    if (r->symbolize) {
        cp_lines_wanted_named(r->symbolize, &r->sources.lines.wanted);
    }
    if (r->root && !r->verb->draws) {
        return refuse(r, "--root", "an svg", r->out_path ? r->out_path : "another format");
    }
    if (r->options.as_asm && !r->verb->has_asm) {
        return refuse(r, "--asm", "the verb list", r->verb->name);
    }
    r->options.root_at_bottom = r->root && strcmp(r->root, "bottom") == 0;
    return check_limits(r);
}

/* Takes the newest profile of the folder. */
static int take_newest(request *r)
{
    r->newest = cp_default_file(r->verb->name);
    r->newest_path = r->newest;
    r->sources.paths = &r->newest_path;
    r->sources.path_count = 1;
    return r->newest ? CP_EXIT_OK : CP_EXIT_BAD_USAGE;
}

/* A process instead of files. */
static int check_process(request *r, const cp_operands *operands)
{
    const cp_sources *s = &r->sources;
    double *seconds = &r->live.seconds;

    if (!r->verb->watches) {
        return refuse(r, "-p", "the verb top", r->verb->name);
    }
    if (operands->count || r->bases.count || r->diff_bases.count || s->normalize) {
        return cp_bad_usage(r->verb->name, "%s: expected -p or FILE, found both", r->verb->name);
    }
    *seconds = 1;
    if (r->interval &&
        (!cp_duration_read(r->interval, seconds) || *seconds < 0.05 || *seconds > 86400)) {
        return refuse(r, "-d", "a number of seconds of 0.05 or more, or a time such as 500ms",
                      r->interval);
    }
    return CP_EXIT_OK;
}

static int check_operands(request *r, const cp_operands *operands)
{
    const char *name = r->verb->name;
    int files = operands->count;
    char **paths = operands->values;

    if (r->live.source) {
        return check_process(r, operands);
    }
    if (r->interval || r->live.profile || r->live.tables || r->live.is_batch) {
        return cp_bad_usage(
            name, "%s: expected -p PID with -e, -d, --iterations and -b, found none", name);
    }
    if (r->verb->has_expression) {
        if (files == 0) {
            return cp_bad_usage(name, "%s: expected RE, found nothing", name);
        }
        r->expression_text = *paths++;
        files--;
    }
    if (r->verb->has_base) {
        if (files < 2 || r->bases.count || r->diff_bases.count) {
            return cp_bad_usage(name, "%s: expected BASE and FILE, and no other base", name);
        }
        cp_text_list_add(&r->diff_bases, *paths++);
        files--;
    }
    if (files == 0) {
        return take_newest(r);
    }
    r->sources.paths = (const char *const *)paths;
    r->sources.path_count = (size_t)files;
    return CP_EXIT_OK;
}

static int check_bases(request *r)
{
    const char *name = r->verb->name;

    if (r->bases.count && r->diff_bases.count) {
        return cp_bad_usage(name, "%s: expected --base or --diff-base, found both", name);
    }
    const cp_text_list *bases = r->bases.count ? &r->bases : &r->diff_bases;
    r->sources.bases = bases->values;
    r->sources.base_count = bases->count;
    r->sources.label_base = r->diff_bases.count > 0;
    if (r->sources.normalize && !bases->count) {
        return cp_bad_usage(name, "%s: --normalize: expected --base or --diff-base, found neither",
                            name);
    }
    return CP_EXIT_OK;
}

/* Lines are looked for where the report shows them; names, where they are missing. A file that
 * may be another one than the profiled one is only used if the user asks for it. */
static void choose_lines(request *r)
{
    cp_lines_options *lines = &r->sources.lines;
    bool shows_lines = r->verb->shows_lines || r->options.granularity == CP_FILEFUNCTIONS ||
                       r->options.granularity == CP_FILES || r->options.granularity == CP_LINES ||
                       (r->options.granularity == CP_ADDRESSES && !r->verb->shows_addresses);

    if (!r->symbolize) {
        lines->wanted = shows_lines ? CP_LINES_MISSING : CP_LINES_NAMELESS;
    }
    lines->any_build = r->options.any_build = r->symbolize != NULL;
    lines->complains = r->symbolize ? lines->wanted != CP_LINES_NONE : r->verb->shows_lines;
}

static void apply_traits(request *r)
{
    const cp_report_verb *verb = r->verb;

    r->options.untrimmed = verb->untrimmed;
    r->options.any_bytes = r->json || verb->is_binary || verb->any_bytes;
    if (!r->granularity) {
        r->options.granularity = verb->granularity;
    }
    r->options.node_count = r->rows < 0 ? verb->node_count : (uint32_t)r->rows;
    if (verb->untrimmed) {
        r->options.node_count = 0;
    }
    if (verb->shows_addresses) {
        r->options.granularity = CP_ADDRESSES;
    } else if (verb->shows_lines) {
        r->options.granularity = CP_SOURCES;
    }
    if (r->options.style == CP_STYLE_GO_1_26) {
        r->sources.join = CP_JOIN_NEVER;
    } else if (verb->shows_samples) {
        r->sources.join = CP_JOIN_ALWAYS;
    }
    r->sources.verbatim = verb->verbatim && !r->demangle;
    choose_lines(r);
    drop_empty(&r->options.sample);
    drop_empty(&r->options.unit);
    if (r->options.unit && strcmp(r->options.unit, CP_UNIT_MINIMUM) == 0) {
        r->options.unit = NULL; /* it is the default */
    }
    drop_empty(&r->options.sources.folders);
    drop_empty(&r->options.sources.trim);
}

/* A verb that writes a file does so in a format that decides what is to be done. */
static int check_format(request *r)
{
    const char *name = r->verb->name;
    cp_error error;

    drop_empty(&r->out_path);
    drop_empty(&r->format);
    if (!r->verb->choose) {
        return r->out_path || r->format ? cp_bad_usage(name, "%s: %s: this verb writes no file",
                                                       name, r->out_path ? "-o" : "--to")
                                        : CP_EXIT_OK;
    }
    if (r->json) {
        return cp_bad_usage(name, "%s: --json: the formats are those of --to", name);
    }
    r->verb = r->verb->choose(r->out_path, r->format, &error);
    if (!r->verb ||
        (r->verb->is_binary && cp_out_check_binary(r->out_path ? r->out_path : "-", &error) < 0)) {
        return cp_bad_usage(name, "%s: %s", name, error.text);
    }
    return CP_EXIT_OK;
}

static int watch(request *r)
{
    r->live.verb = r->verb->name;
    r->live.json = r->json;
    r->live.report = &r->options;
    r->live.sources = &r->sources;
    r->sources.lines.complains = false;
    r->sources.lines.is_quiet = true;
    return cp_live_run(&r->live);
}

static int finish(request *r, const cp_operands *operands)
{
    int status = check_format(r);

    if (status == CP_EXIT_OK) {
        status = check_operands(r, operands);
    }
    if (status == CP_EXIT_OK) {
        status = check_words(r);
    }
    if (status == CP_EXIT_OK) {
        status = check_bases(r);
    }
    if (status == CP_EXIT_OK) {
        apply_traits(r);
        status = compile_all(r);
    }
    if (status != CP_EXIT_OK) {
        return status;
    }
    return r->live.source ? watch(r) : load_and_report(r);
}

/* The table of options. */
typedef struct option_table {
    cp_option rows[48]; /* the last one has no name */
    size_t count;
} option_table;

static void add_options(option_table *table, const cp_option *rows, size_t count)
{
    memcpy(&table->rows[table->count], rows, count * sizeof *rows);
    table->count += count;
}

/* In a format of many. */
static bool writes_file(const cp_report_verb *verb)
{
    return verb->choose != NULL;
}

/* What the report shows of a row, and where it goes. */
static void add_result_options(request *r, option_table *table)
{
    const cp_report_verb *verb = r->verb;
    cp_report_options *o = &r->options;
    const cp_option rows[] = {
        {0, "cum", NULL, CP_OPTION_FLAG, &o->by_cum, 0, 0, NULL,
         verb->sorts ? "sort by cum (with callees), not by flat (without)" : NULL},
        {'n', "rows", "nodecount", CP_OPTION_COUNT, &r->rows, -1, INT_MAX, "N",
         verb->limits ? "print at most N rows; 0: all, -1: as many as usual" : NULL},
        {0, "fail-above", NULL, CP_OPTION_TEXT, &r->fail_above, 0, 0, "N%",
         verb->has_base ? "exit with status 3 if anything grew by more" : NULL},
        {0, "fail-above-total", NULL, CP_OPTION_TEXT, &r->fail_above_total, 0, 0, "N%",
         verb->has_base ? "the same, if the total did" : NULL},
        {0, "source-path", "source_path", CP_OPTION_TEXT, &o->sources.folders, 0, 0, "FOLDERS",
         verb->shows_lines ? "look for source files here; colons are between" : NULL},
        {0, "trim-path", "trim_path", CP_OPTION_TEXT, &o->sources.trim, 0, 0, "FOLDERS",
         verb->shows_lines ? "cut these folders off the paths in the profile first" : NULL},
        {'o', "output", NULL, CP_OPTION_TEXT, &r->out_path, 0, 0, "OUT",
         writes_file(verb) ? "the file to write; -: standard output" : NULL},
        {0, "to", NULL, CP_OPTION_TEXT, &r->format, 0, 0, "FORMAT",
         writes_file(verb) ? "the format, if OUT has no such ending" : NULL},
        {0, "width", NULL, CP_OPTION_COUNT, &o->width, 200, 20000, "PIXELS",
         writes_file(verb) ? "the width of an svg (1200)" : NULL},
        {0, "root", NULL, CP_OPTION_TEXT, &r->root, 0, 0, "WHERE",
         writes_file(verb) ? "where the root of an svg is: top or bottom" : NULL, "top bottom"},
    };

    add_options(table, rows, sizeof rows / sizeof *rows);
}

/* A process that runs. */
static void add_process_options(request *r, option_table *table)
{
    bool watches = r->verb->watches;
    const cp_option rows[] = {
        {'p', "pid", NULL, CP_OPTION_TEXT, &r->live.source, 0, 0, "PID",
         watches ? "watch a process (see `cpprof ps`); the key ? helps" : NULL},
        {'e', "event", NULL, CP_OPTION_TEXT, &r->live.profile, 0, 0, "KIND",
         watches ? "with -p: begin with this profile, such as wall (cpu)" : NULL,
         "cpu heap allocs block mutex thread wall"},
        {'d', "interval", "delay", CP_OPTION_TEXT, &r->interval, 0, 0, "TIME",
         watches ? "with -p: the time between two tables (1s)" : NULL},
        {'b', "batch", NULL, CP_OPTION_FLAG, &r->live.is_batch, 0, 0, NULL,
         watches ? "with -p: print one table after the other, also on a terminal" : NULL,
         .rare = true},
        {0, "iterations", NULL, CP_OPTION_COUNT, &r->live.tables, 1, INT_MAX, "N",
         watches ? "with -p: end after N tables" : NULL, .rare = true},
    };

    add_options(table, rows, sizeof rows / sizeof *rows);
}

/* Which samples and frames count. */
static void add_sample_options(request *r, option_table *table)
{
    const cp_report_verb *verb = r->verb;
    cp_option filters[CP_FILTER_OPTIONS];
    const cp_option rows[] = {
        {0, "base", NULL, CP_OPTION_LIST, &r->bases, 0, 0, "FILE",
         verb->has_base ? NULL : "subtract this profile first", .rare = writes_file(verb)},
        {0, "diff-base", "diff_base", CP_OPTION_LIST, &r->diff_bases, 0, 0, "FILE",
         verb->has_base ? NULL : "subtract this profile, and take its total as 100 %",
         .rare = true},
        {0, "normalize", NULL, CP_OPTION_FLAG, &r->sources.normalize, 0, 0, NULL,
         "scale the profile to the total of the base first", .rare = true},
    };

    cp_filter_options(&r->options.sample, &r->options.filters, writes_file(verb), filters);
    add_options(table, filters, CP_FILTER_OPTIONS);
    add_options(table, rows, sizeof rows / sizeof *rows);
}

/* How it is printed. */
static void add_form_options(request *r, option_table *table)
{
    const cp_report_verb *verb = r->verb;
    cp_report_options *o = &r->options;
    const cp_option rows[] = {
        {0, "unit", NULL, CP_OPTION_TEXT, &o->unit, 0, 0, "UNIT",
         "print all values in this unit, such as ms or MB", .rare = true},
        {0, "granularity", NULL, CP_OPTION_TEXT, &r->granularity, 0, 0, "WHAT",
         "rows for functions, filefunctions, files, lines or addresses",
         "functions filefunctions files lines addresses",
         .rare = writes_file(verb) || verb->untrimmed || verb->watches},
        {0, "functions", NULL, CP_OPTION_WORD, &r->granularity, 0, 0},
        {0, "filefunctions", NULL, CP_OPTION_WORD, &r->granularity, 0, 0},
        {0, "files", NULL, CP_OPTION_WORD, &r->granularity, 0, 0},
        {0, "lines", NULL, CP_OPTION_WORD, &r->granularity, 0, 0},
        {0, "addresses", NULL, CP_OPTION_WORD, &r->granularity, 0, 0},
        {0, "demangle", NULL, CP_OPTION_TEXT, &r->demangle, 0, 0, "MODE",
         "C++ and Rust names: simple, templates, full or none", CP_DEMANGLE_WORDS},
        {0, "json", NULL, CP_OPTION_FLAG, &r->json, 0, 0, NULL,
         writes_file(verb) ? NULL : "print JSON, with values in the unit of the sample type"},
        {0, "asm", NULL, CP_OPTION_FLAG, &o->as_asm, 0, 0, NULL,
         verb->has_asm ? "print instructions, and the lines they come from (by objdump)" : NULL},
        {0, "symbolize", NULL, CP_OPTION_TEXT, &r->symbolize, 0, 0, "WHAT",
         "look for lines in debug information: none, local (those that are missing) or force; "
         "without it, where the report shows lines, or no name is known",
         CP_LINES_WORDS, .rare = true},
        {0, "color", "colour", CP_OPTION_TEXT, &r->color, 0, 0, "WHEN",
         "auto (on a terminal, unless NO_COLOR is set), always or never", CP_COLOR_WORDS,
         .rare = true},
        {0, "no-pager", NULL, CP_OPTION_FLAG, &r->no_pager, 0, 0, NULL,
         "print a long report on a terminal, not through less or $PAGER", .rare = true},
        {0, "style", NULL, CP_OPTION_TEXT, &r->style, 0, 0, "VERSION",
         "print what the `go tool pprof` of go1.26 (the default) or go1.19 prints", "go1.26 go1.19",
         .rare = true},
        CP_TOKEN_OPTION,
    };

    add_options(table, rows, sizeof rows / sizeof *rows);
}

int cp_report_verb_run(const cp_report_verb *verb, int argc, char **argv)
{
    request r = {.verb = verb, .rows = -1};
    option_table table = {.count = 0};
    cp_operands operands;
    int status = CP_EXIT_OK;

    add_process_options(&r, &table);
    add_result_options(&r, &table);
    add_sample_options(&r, &table);
    add_form_options(&r, &table);
    if (cp_options_parse(verb->name, table.rows, false, argc, argv, &operands, &status) == 0) {
        status = finish(&r, &operands);
    }
    release(&r);
    return status;
}
