/* SPDX-License-Identifier: MIT
 *
 * report_growth.h: which stacks hold more memory than before: the end of `diff` of two heap profiles.
 */
#ifndef CP_REPORT_GROWTH_H
#define CP_REPORT_GROWTH_H

#include <stdio.h>

typedef struct cp_report cp_report;

/* Prints the stacks whose memory in use has grown, the most first, unless the report is of something
 * else, or nothing has grown. The report is as for cp_differences_init() (report_diff.h). */
void cp_growth_print(const cp_report *report, FILE *out);

#endif
