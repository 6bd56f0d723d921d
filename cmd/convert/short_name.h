/* SPDX-License-Identifier: MIT
 *
 * short_name.h: names of functions as the boxes of a call graph have them: without the path of a Go
 * package, without the package and the parameters of Java, with only the class of C++.
 *
 * Owns: the compiled expressions, until cp_short_names_release().
 */
#ifndef CP_SHORT_NAME_H
#define CP_SHORT_NAME_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cp_regex cp_regex;

enum { CP_SHORT_EXPRESSIONS = 3 };

typedef struct cp_short_names {
    cp_regex *version, *expressions[CP_SHORT_EXPRESSIONS];
} cp_short_names;

/* Go's tools since 1.26 shorten "a/b/c" only if a dot comes after the last slash. */
void cp_short_names_init(cp_short_names *names, bool needs_dot);
void cp_short_names_release(cp_short_names *names);

/* To be freed. */
char *cp_short_name(const cp_short_names *names, const char *name);

#endif
