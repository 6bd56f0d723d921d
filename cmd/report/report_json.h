/* SPDX-License-Identifier: MIT
 *
 * report_json.h: the reports as JSON, for scripts.
 *
 * Each is one object with "profile" (what stands above a report) and the report's own members.
 * Values are in the unit of the sample type, "profile.unit". What has to be called before is as in
 * report_text.h.
 */
#ifndef CP_REPORT_JSON_H
#define CP_REPORT_JSON_H

#include "base/json.h"

#include <stdio.h>

typedef struct cp_error cp_error;
typedef struct cp_regex cp_regex;
typedef struct cp_report cp_report;

/* Opens the object of a report, with "profile" in it; and closes it. */
cp_json cp_report_json_begin(const cp_report *report, FILE *out);
void cp_report_json_end(cp_json *json);

/* "rows": name, flat, cum, inline. */
void cp_report_json_rows(const cp_report *report, FILE *out);

/* "nodes": name, flat, cum, callers, callees. Returns 0, or -1 with a sentence if none matches. */
int cp_report_json_tree(const cp_report *report, cp_regex *only, FILE *out, cp_error *error);

/* "samples": value, labels, stack. */
void cp_report_json_traces(const cp_report *report, FILE *out);

/* "tags": key, total, values. */
void cp_report_json_tags(const cp_report *report, FILE *out);

/* "functions": name, file, flat, cum, lines. Returns 0, or -1 with a sentence if none matches. */
int cp_report_json_list(const cp_report *report, cp_regex *wanted, FILE *out, cp_error *error);

/* "routines": name, flat, cum, instructions. Returns as cp_report_print_asm() does. */
int cp_report_json_asm(const cp_report *report, cp_regex *wanted, FILE *out, cp_error *error);

/* "sample_types", "samples", "locations", "mappings". */
void cp_report_json_raw(const cp_report *report, FILE *out);

#endif
