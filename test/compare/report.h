/* SPDX-License-Identifier: MIT
 *
 * report.h: agreement by module.
 *
 * Zone: tests.
 */
#ifndef PP_COMPARE_REPORT_H
#define PP_COMPARE_REPORT_H

#include <stdbool.h>
#include <stdio.h>

/* Prints the table; returns the percentage of all compared PCs that agree. */
double report_modules(FILE *out);

/* Appends "MODULE ADDRESS WRONG" for each PC that was compared, WRONG being 0 or 1: the tables of
 * several programs can be made one. False if the file cannot be written. */
bool report_append(const char *path);

#endif
