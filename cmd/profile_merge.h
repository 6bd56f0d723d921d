/* SPDX-License-Identifier: MIT
 *
 * profile_merge.h: several profiles into one, and the same arithmetic for differences.
 *
 * Equal stacks with equal labels become one sample whose values are added. Mappings are equal if
 * build id (else file), file offset and size in pages are, wherever they were loaded: addresses are
 * moved to where the first profile had the mapping. What no sample refers to is left out, as are
 * samples that are all zero.
 */
#ifndef CP_PROFILE_MERGE_H
#define CP_PROFILE_MERGE_H

#include <stddef.h>

typedef struct cp_error cp_error;
typedef struct cp_profile cp_profile;

/*
 * Returns 0 and a new profile in *out, to be freed with cp_profile_free(), or -1 with a sentence
 * when the sample types do not fit together. Units that do (ms and ns) must have been made equal
 * with cp_profile_align_units() (profile_units.h). At least one source; sources are not changed and
 * may be freed. Header: the first one's sample types, period type and frame filters; the earliest
 * time; the sum of the durations; the largest period; every comment once.
 */
int cp_profile_merge(cp_profile *const *sources, size_t count, cp_profile **out, cp_error *error);

/*
 * source - base, for reports on a difference: base's values are negated and merged with source's.
 * Both are consumed, whatever the result.
 */
int cp_profile_subtract(cp_profile *source, cp_profile *base, cp_profile **out, cp_error *error);

#endif
