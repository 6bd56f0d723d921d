/* SPDX-License-Identifier: MIT
 *
 * word_values.h: the values of words and flags (host/kind.h) that several kinds read in the same
 * way.
 *
 * Zone: NORMAL.
 * Locks: none; callers hold the lock of all_kinds.h.
 */
#ifndef PP_OUTPUT_WORD_VALUES_H
#define PP_OUTPUT_WORD_VALUES_H

#include <stdbool.h>
#include <stdint.h>

/* Reads a number of decimal digits, without a sign. False if `value` is NULL, something else, or
 * too large. */
bool pp_word_number(const char *value, int64_t *number);

/* Takes a word that has no value: sets *asked. 0, or -EINVAL if there is a value. */
int pp_word_alone(const char *value, bool *asked);

/* Writes "WHAT SUBJECT: the error" to the log, and stores the error if *error is 0. */
void pp_flag_fail(int *error, int new_error, const char *what, const char *subject);

/* Sends the profile of `kind` (a constant) to the file that a flag names. False if `path` is NULL
 * or empty, or if no profile can be written there: that error is treated as by pp_flag_fail(). */
bool pp_flag_file(const char *kind, const char *path, int *error);

#endif
