/* SPDX-License-Identifier: MIT
 *
 * regex.h: the regular expressions of --focus, --ignore, drop_frames and keep_frames.
 *
 * Users know the syntax of Go's pprof (RE2). PCRE2 reads it with options under which the same names
 * match: $ is only the end of the name, \s and \w are ASCII, (?i) folds Unicode, names need not be
 * valid UTF-8. PCRE2 also accepts look-around and back references, which RE2 rejects.
 *
 * Owns: a compiled expression, until cp_regex_free().
 */
#ifndef CP_REGEX_H
#define CP_REGEX_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cp_error cp_error;
typedef struct cp_regex cp_regex;

/* Returns the compiled expression, or NULL with a sentence that shows the expression and a caret
 * under the error. */
cp_regex *cp_regex_compile(const char *pattern, cp_error *error);
/* Frees an expression; NULL is allowed. */
void cp_regex_free(cp_regex *regex);

/* Whether the expression matches anywhere in the text. A search that takes more steps than PCRE2
 * allows counts as no match; the first one is reported on stderr. */
bool cp_regex_match(cp_regex *regex, const char *text, size_t length);

/* cp_regex_find() also says which part of the text matches: *begin and *end are its offsets. \K in
 * the expression moves the beginning. */
bool cp_regex_find(cp_regex *regex, const char *text, size_t length, size_t *begin, size_t *end);

#endif
