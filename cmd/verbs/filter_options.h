/* SPDX-License-Identifier: MIT
 *
 * filter_options.h: the options that choose samples and frames, which reports and pages have in common.
 *
 * Owns: the compiled expressions, until cp_filters_release().
 */
#ifndef CP_FILTER_OPTIONS_H
#define CP_FILTER_OPTIONS_H

#include "report/report.h"
#include "verbs/command_line.h"

#include <stdbool.h>

/* Writes a row for --sample and one for each filter, which store what the user types. `few`:
 * `cpprof help VERB` only names most of them. */
enum { CP_FILTER_OPTIONS = CP_FILTERS + 1 };
void cp_filter_options(const char **sample, cp_filters *filters, bool few,
                       cp_option rows[CP_FILTER_OPTIONS]);

/* Compiles what the user typed; an empty text counts as none. Returns 0, or the exit status after a
 * complaint. */
int cp_filters_compile(const char *verb, cp_filters *filters);
void cp_filters_release(cp_filters *filters);

#endif
