/* SPDX-License-Identifier: MIT
 *
 * label_filter.h: the choice of samples by labels: --tagfocus and --tagignore.
 *
 * A filter is "[KEY=]WHAT". WHAT is a range of numbers with a unit, such as 32kb, :64kb, 4mb: or
 * 12kb:64mb, which numeric labels match; or regular expressions with commas between them, which
 * text labels match:
 *
 *   without KEY   every expression matches some label, written "key:value"
 *   with KEY      some expression matches some value of that key
 *
 * Owns: a filter, until cp_label_filter_free(); units, until cp_label_units_release().
 */
#ifndef CP_LABEL_FILTER_H
#define CP_LABEL_FILTER_H

#include "base/string_pool.h"

#include <stdbool.h>

typedef struct cp_error cp_error;
typedef struct cp_label_filter cp_label_filter;
typedef struct cp_profile cp_profile;

/* The units of the numeric labels of a profile: one for each key, which is the first that a sample
 * has. A key without a unit is its own unit, except alignment and request, which are in bytes. */
typedef struct cp_label_units {
    const cp_profile *profile;
    cp_string *of_key; /* per string */
} cp_label_units;

void cp_label_units_init(cp_label_units *units, cp_profile *profile);
void cp_label_units_release(cp_label_units *units);
const char *cp_label_unit(const cp_label_units *units, cp_string key);

/* Returns the compiled filter, or NULL with a sentence. */
cp_label_filter *cp_label_filter_compile(const char *text, cp_error *error);
/* Frees a filter; NULL is allowed. */
void cp_label_filter_free(cp_label_filter *filter);

typedef struct cp_label_matches {
    bool focus, ignore; /* any sample */
} cp_label_matches;

/* Keeps the samples that match `focus` and do not match `ignore`. Either may be NULL. */
cp_label_matches cp_profile_filter_labels(cp_profile *profile, const cp_label_units *units,
                                          const cp_label_filter *focus,
                                          const cp_label_filter *ignore);

#endif
