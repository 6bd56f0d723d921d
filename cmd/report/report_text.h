/* SPDX-License-Identifier: MIT
 *
 * report_text.h: the reports as text, as `go tool pprof` prints them.
 *
 * cp_report_init() comes first; before the header's summary, rows and trees
 * cp_report_build_graph().
 */
#ifndef CP_REPORT_TEXT_H
#define CP_REPORT_TEXT_H

#include <stdint.h>
#include <stdio.h>

typedef struct cp_error cp_error;
typedef struct cp_node cp_node;
typedef struct cp_regex cp_regex;
typedef struct cp_report cp_report;

/* Prints "File: ...", "Type: ...", "Time: ...", "Duration: ..." and the profile's comments. */
void cp_report_print_profile(const cp_report *report, FILE *out);
/* Prints the filters, "Showing nodes accounting for ..." and the number of nodes left out. */
void cp_report_print_summary(const cp_report *report, FILE *out);

/* `top`: a table with a row for each frame, without what stands above it. */
void cp_report_print_rows(const cp_report *report, FILE *out);

/* `tree` and `peek`: each frame between its callers and its callees; with `only`, the frames that
 * match. Returns 0, or -1 with a sentence if no frame matches. */
int cp_report_print_tree(const cp_report *report, cp_regex *only, FILE *out, cp_error *error);

/* `traces`: every sample with its labels and its stack. */
void cp_report_print_traces(const cp_report *report, FILE *out);

/* `tags`: what the samples of each label cost. */
void cp_report_print_tags(const cp_report *report, FILE *out);

/* `list`: the source of the functions that match, with the values of each line. The granularity is
 * CP_SOURCES. Returns 0, or -1 with a sentence if no function matches. */
int cp_report_print_list(const cp_report *report, cp_regex *wanted, FILE *out, cp_error *error);

/* `list --asm`: the instructions of the functions that match, with the values of each, and the lines
 * of source that they come from. Returns 0, or -1 with a sentence. */
int cp_report_print_asm(const cp_report *report, cp_regex *wanted, FILE *out, cp_error *error);

/* `raw`: everything that is in the profile. */
void cp_report_print_raw(const cp_report *report, FILE *out);

/* Prints the text right-aligned in that many columns. A column is a character of UTF-8. */
void cp_print_right(const char *text, int columns, FILE *out);

/* Prints a value of the report right-aligned. */
void cp_report_print_value(const cp_report *report, int64_t value, int columns, FILE *out);

/* Prints the columns of a line of a listing: flat and cum, each a dot if it is 0. */
void cp_report_print_line_costs(const cp_report *report, int64_t flat, int64_t cum, FILE *out);

/* Prints a line in bold type, if the report has colours. */
void cp_report_print_heading(const cp_report *report, const char *line, FILE *out);

/* Prints the columns of `top` and `tree`: flat with its share, the share of the sum so far, and cum
 * with its share. */
void cp_report_print_costs(const cp_report *report, const cp_node *node, int64_t sum, FILE *out);

#endif
