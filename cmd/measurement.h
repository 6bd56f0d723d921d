/* SPDX-License-Identifier: MIT
 *
 * measurement.h: values with units, as people read them: 1536 bytes are 1.50kB.
 *
 * Three families of units are known (memory, time, and GCU, a unit of computing time); anything
 * else is printed as it is, and plain counts ("count", "sample", "unit") without a unit.
 */
#ifndef CP_MEASUREMENT_H
#define CP_MEASUREMENT_H

#include <stdbool.h>
#include <stdint.h>

/* "minimum" as a target unit: the largest unit of the family in which the value is at least 1. */
#define CP_UNIT_MINIMUM "minimum"

/* Converts `value`; *unit becomes the name to print behind it, often "" (static, or `to`). A
 * target of another family means the family's base unit. */
double cp_measure_scale(int64_t value, const char *from, const char *to, const char **unit);

/* "12.34ms", at most two decimals; the result is to be freed. */
char *cp_measure_label(int64_t value, const char *from, const char *to);

/* " 1.23%", six columns, of |value / total|; buffers of CP_PERCENT_BYTES. */
#define CP_PERCENT_BYTES 32
void cp_measure_percent(int64_t value, int64_t total, char *text);

/* Are values of the two units convertible into each other? */
bool cp_measure_compatible(const char *left, const char *right);

/* Absolute value and double -> int64 conversion without undefined cases: what does not fit becomes
 * INT64_MIN. */
int64_t cp_measure_abs(int64_t value);
int64_t cp_measure_truncate(double value);

#endif
