/* SPDX-License-Identifier: MIT
 *
 * page_verb.c: the options of the verbs that write a page.
 *
 * Tested by: page.logic
 */
#include "verbs/page_verb.h"

#include "base/message.h"
#include "names/demangle.h"
#include "verbs/command_line.h"
#include "verbs/default_file.h"
#include "verbs/filter_options.h"
#include "verbs/token_option.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Without the option, lines are looked for if the page shows them. */
static void choose_lines(const char *symbolize, cp_page_options *options)
{
    options->lines.wanted = options->with_sources ? CP_LINES_MISSING : CP_LINES_NAMELESS;
    options->lines.any_build = symbolize != NULL;
    options->lines.complains = symbolize != NULL || options->with_sources;
    if (symbolize) {
        cp_lines_wanted_named(symbolize, &options->lines.wanted);
    }
}

int cp_page_parse(const char *verb, int argc, char **argv, cp_page_options *options,
                  const char **out, char **newest, int *status)
{
    const char *demangle = NULL, *symbolize = NULL;
    cp_option table[16 + CP_FILTER_OPTIONS] = {
        {'o', "output", NULL, CP_OPTION_TEXT, out, 0, 0, "OUT.html", "the file to write"},
        {0, "base", "diff_base", CP_OPTION_TEXT, &options->base, 0, 0, "FILE",
         "show what changed since this profile"},
        {0, "demangle", NULL, CP_OPTION_TEXT, &demangle, 0, 0, "MODE",
         "C++ and Rust names: simple, templates, full or none", CP_DEMANGLE_WORDS},
        {0, "sources", NULL, CP_OPTION_FLAG, &options->with_sources, 0, 0, NULL,
         "put the source files of the profile into the page"},
        {0, "symbolize", NULL, CP_OPTION_TEXT, &symbolize, 0, 0, "WHAT",
         "look for lines in debug information: none, local (those that are missing) or force; "
         "without it, with --sources, or where no name is known",
         CP_LINES_WORDS, .rare = true},
        CP_TOKEN_OPTION,
    };

    size_t count = 0;
    while (table[count].name) {
        count++;
    }
    cp_filter_options(&options->sample, &options->filters, true, &table[count]);
    *newest = NULL;
    cp_operands files;
    if (cp_options_parse(verb, table, false, argc, argv, &files, status) < 0) {
        return -1;
    }
    *status = CP_EXIT_BAD_USAGE;
    if (files.count > 1) {
        cp_bad_usage(verb, "%s: expected one FILE, found %d", verb, files.count);
        return -1;
    }
    if (demangle) {
        cp_demangle_mode_named(demangle, &options->mode);
    }
    choose_lines(symbolize, options);
    if (cp_filters_compile(verb, &options->filters) != CP_EXIT_OK) {
        return -1;
    }
    if (files.count == 0) {
        *newest = cp_default_file(verb);
    }
    options->path = *newest ? *newest : files.values[0];
    return options->path ? 0 : -1;
}

void cp_page_release(cp_page_options *options, char *newest)
{
    cp_filters_release(&options->filters);
    free(newest);
}
