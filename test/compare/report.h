/* SPDX-License-Identifier: MIT
 *
 * report.h: agreement by module.
 *
 * Zone: tests.
 * Locks: none.
 * Owns: nothing.
 */
#ifndef PP_COMPARE_REPORT_H
#define PP_COMPARE_REPORT_H

#include <stdio.h>

/* Prints the table; returns the percentage of all compared PCs that agree. */
double report_modules(FILE *out);

#endif
