/* SPDX-License-Identifier: MIT
 *
 * name_filter.h: the choice of samples and frames by names: --focus, --ignore, --hide, --show and
 * --show-from.
 *
 * A frame matches an expression by its function, its source file or its program.
 */
#ifndef CP_NAME_FILTER_H
#define CP_NAME_FILTER_H

#include <stdbool.h>

typedef struct cp_profile cp_profile;
typedef struct cp_regex cp_regex;

typedef enum cp_name_filter {
    CP_FOCUS,     /* keeps the samples in which some frame matches */
    CP_IGNORE,    /* drops the samples in which some frame matches */
    CP_HIDE,      /* removes the frames that match */
    CP_SHOW,      /* removes the frames that do not match */
    CP_SHOW_FROM, /* removes the frames above the match that is nearest to the root */
    CP_NAME_FILTERS
} cp_name_filter;

/*
 * Applies the expressions that are not NULL, in the order above, to the profile in place. A sample
 * that loses all its frames is dropped; samples that never had frames are dropped as well unless
 * `keep_empty`. Stores in matched[] which expressions matched any location, in a sample or not.
 */
void cp_profile_filter_names(cp_profile *profile, cp_regex *const filters[CP_NAME_FILTERS],
                             bool keep_empty, bool matched[CP_NAME_FILTERS]);

#endif
