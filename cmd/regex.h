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

typedef struct cp_error cp_error;
typedef struct cp_regex cp_regex;

/* Returns the compiled expression, or NULL with a sentence that shows the expression and a caret
 * under the place that is wrong. */
cp_regex *cp_regex_compile(const char *pattern, cp_error *error);
/* NULL is allowed. */
void cp_regex_free(cp_regex *regex);

/* Does it match anywhere in the text? A match that takes more steps than PCRE2 allows counts as
 * none, and is said once on stderr. */
bool cp_regex_match(cp_regex *regex, const char *text, size_t length);

#endif
