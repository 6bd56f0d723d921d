/* SPDX-License-Identifier: MIT
 *
 * measurement.h: values with units in the form that people read: 1536 bytes are 1.50kB.
 *
 * There are three families of units: memory, time, and GCU, a unit of computing time. A value in
 * any other unit is printed unchanged, and a plain count ("count", "sample", "unit") without a
 * unit.
 */
#ifndef CP_MEASUREMENT_H
#define CP_MEASUREMENT_H

#include <stdbool.h>
#include <stdint.h>

/* As a target unit, "minimum" means the largest unit of the family in which the value is at least
 * 1. */
#define CP_UNIT_MINIMUM "minimum"

/* Converts `value`. *unit becomes the name to print after it, often ""; it is static, or `to`. If
 * the target is of another family, the value is converted to the base unit of its own. */
double cp_measure_scale(int64_t value, const char *from, const char *to, const char **unit);

/* The value as a text such as "12.34ms", with at most two decimals; to be freed. */
char *cp_measure_label(int64_t value, const char *from, const char *to);

/* The bytes of the buffer for |value / total| as " 1.23%", which is six columns wide. */
#define CP_PERCENT_BYTES 32
void cp_measure_percent(int64_t value, int64_t total, char *text);

/* Whether a value of one unit can be converted to the other. */
bool cp_measure_compatible(const char *left, const char *right);

/* The absolute value, and the conversion double -> int64, without undefined cases. What does not fit becomes what the
 * processor makes of it, as in Go: INT64_MIN on x86-64; elsewhere 0 if it is no number, or the nearest one. */
int64_t cp_measure_abs(int64_t value);
int64_t cp_measure_truncate(double value);

#endif
