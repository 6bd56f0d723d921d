/* SPDX-License-Identifier: MIT
 *
 * filter_options.c: see filter_options.h.
 *
 * Tested by: e2e.cpprof_reports, page.logic.
 */
#include "verbs/filter_options.h"

#include "base/message.h"
#include "base/regex.h"

#include <stddef.h>
#include <string.h>

void cp_filter_options(const char **sample, cp_filters *filters, bool few,
                       cp_option rows[CP_FILTER_OPTIONS])
{
    const char **texts = filters->texts;
    const cp_option all[CP_FILTER_OPTIONS] = {
        {0, "sample", "sample_index", CP_OPTION_TEXT, sample, 0, 0, "TYPE",
         "the sample type, such as cpu or inuse_space"},
        {0, "focus", NULL, CP_OPTION_TEXT, &texts[CP_FOCUS], 0, 0, "RE",
         "only samples with a function, file or program of RE"},
        {0, "ignore", NULL, CP_OPTION_TEXT, &texts[CP_IGNORE], 0, 0, "RE", "only samples without",
         .rare = few},
        {0, "hide", NULL, CP_OPTION_TEXT, &texts[CP_HIDE], 0, 0, "RE",
         "leave out the frames that match", .rare = few},
        {0, "show", NULL, CP_OPTION_TEXT, &texts[CP_SHOW], 0, 0, "RE",
         "leave out the frames that do not", .rare = true},
        {0, "show-from", "show_from", CP_OPTION_TEXT, &texts[CP_SHOW_FROM], 0, 0, "RE",
         "leave out the callers above the first frame that matches", .rare = true},
        {0, "tagfocus", NULL, CP_OPTION_TEXT, &texts[CP_TAG_FOCUS], 0, 0, "TAG",
         "only samples with a label, such as key:value", .rare = few},
        {0, "tagignore", NULL, CP_OPTION_TEXT, &texts[CP_TAG_IGNORE], 0, 0, "TAG",
         "only samples without", .rare = true},
        {0, "ignore-idle", NULL, CP_OPTION_WORD, &texts[CP_IGNORE_IDLE], 0, 0, NULL,
         "leave out of a wall-clock profile what threads wait for work", .rare = true},
    };

    memcpy(rows, all, sizeof all);
}

/* As in go tool pprof, an option with an empty value counts as not given. */
static void drop_empty(const char **text)
{
    if (*text && !**text) {
        *text = NULL;
    }
}

static int compile_names(const char *verb, cp_filters *filters)
{
    static const char *const options[CP_NAME_FILTERS] = {
        [CP_FOCUS] = "--focus", [CP_IGNORE] = "--ignore",       [CP_HIDE] = "--hide",
        [CP_SHOW] = "--show",   [CP_SHOW_FROM] = "--show-from",
    };
    cp_error error;

    for (int i = 0; i < CP_NAME_FILTERS; i++) {
        if (!filters->texts[i]) {
            continue;
        }
        filters->names[i] = cp_regex_compile(filters->texts[i], &error);
        if (!filters->names[i]) {
            return cp_bad_usage(verb, "%s: %s: %s", verb, options[i], error.text);
        }
    }
    return CP_EXIT_OK;
}

static int compile_label(const char *verb, const char *option, const char *text,
                         cp_label_filter **filter)
{
    cp_error error;

    if (!text) {
        return CP_EXIT_OK;
    }
    *filter = cp_label_filter_compile(text, &error);
    return *filter ? CP_EXIT_OK : cp_bad_usage(verb, "%s: %s: %s", verb, option, error.text);
}

int cp_filters_compile(const char *verb, cp_filters *filters)
{
    for (int i = 0; i < CP_FILTERS; i++) {
        drop_empty(&filters->texts[i]);
    }
    int status = compile_names(verb, filters);
    if (status == CP_EXIT_OK) {
        status =
            compile_label(verb, "--tagfocus", filters->texts[CP_TAG_FOCUS], &filters->tag_focus);
    }
    if (status == CP_EXIT_OK) {
        status =
            compile_label(verb, "--tagignore", filters->texts[CP_TAG_IGNORE], &filters->tag_ignore);
    }
    return status;
}

void cp_filters_release(cp_filters *filters)
{
    for (int i = 0; i < CP_NAME_FILTERS; i++) {
        cp_regex_free(filters->names[i]);
    }
    cp_label_filter_free(filters->tag_focus);
    cp_label_filter_free(filters->tag_ignore);
}
