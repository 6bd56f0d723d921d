/* SPDX-License-Identifier: MIT
 *
 * regex.h: the regular expressions of --focus, --ignore, drop_frames and keep_frames.
 *
 * Users know the syntax of Go's pprof (RE2); PCRE2 understands it, set so that the same things
 * match: $ is the end of the name only, \s and \w are ASCII, (?i) folds Unicode, names need not be
 * valid UTF-8. It also accepts look-around and back references, which RE2 rejects.
 *
 * Owns: the compiled expression, until cp_regex_free().
 */
#ifndef CP_REGEX_H
#define CP_REGEX_H

#include <stdbool.h>
#include <stddef.h>

struct cp_error;
struct cp_regex;

/* Returns the compiled expression, or NULL with a sentence that shows the expression and a caret
 * under the place that is wrong. */
struct cp_regex *cp_regex_compile(const char *pattern, struct cp_error *error);
/* NULL is allowed. */
void cp_regex_free(struct cp_regex *regex);

/* Does it match anywhere in the text? A match that takes more steps than PCRE2 allows counts as
 * none, and is said once on stderr. */
bool cp_regex_match(struct cp_regex *regex, const char *text, size_t length);

#endif
