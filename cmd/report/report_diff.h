/* SPDX-License-Identifier: MIT
 *
 * report_diff.h: `diff`, what changed between two profiles.
 *
 * The report is on the difference of both, made with labelled bases (report_load.h): the samples of
 * the base have the label CP_BASE_LABEL and negative values.
 */
#ifndef CP_REPORT_DIFF_H
#define CP_REPORT_DIFF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct cp_profile cp_profile;
typedef struct cp_report cp_report;
typedef struct cp_sample cp_sample;

typedef struct cp_difference {
    uint32_t frame;
    int64_t base, now; /* flat, or cum if that is what the report sorts by */
} cp_difference;

/* The rows with the largest changes first. */
typedef struct cp_differences {
    const cp_report *report;
    cp_difference *rows;
    uint32_t count;
    int64_t base_total, now_total;
} cp_differences;

/* Whether a sample of the report's profile is of the base. */
bool cp_sample_is_of_base(const cp_profile *profile, const cp_sample *sample);

void cp_differences_init(cp_differences *differences, const cp_report *report);
void cp_differences_release(cp_differences *differences);

/* The growth of the total, or, `with_rows`, the largest one of the total and of a row, as a part of
 * the base's total in percent. A base without samples makes any growth infinite. */
double cp_differences_growth(const cp_differences *differences, bool with_rows);

/* Complains of what grew by more than the report's limits, in percent of the base's total, and
 * names it. A base without samples makes any growth infinite. Returns whether anything did. */
bool cp_differences_complain(const cp_differences *differences);

/* Prints a table: both sides, the change, and the change as a share of the base's total. Rows that
 * did not change are left out, and those after the report's limit on rows. */
void cp_differences_print(const cp_differences *differences, FILE *out);
void cp_differences_json(const cp_differences *differences, FILE *out);

#endif
