/* SPDX-License-Identifier: MIT
 *
 * profile_merge.h: several profiles into one, and the same arithmetic for differences.
 *
 * Equal stacks with equal labels become one sample whose values are added. Mappings are equal if
 * build id (else file), file offset and size in pages are, wherever they were loaded: addresses are
 * moved to where the first profile had the mapping. What no sample refers to is left out, as are
 * samples that are all zero.
 */
#ifndef CPPROF_PROFILE_MERGE_H
#define CPPROF_PROFILE_MERGE_H

#include <stddef.h>

struct pp_error;
struct pp_profile;

/*
 * Returns 0 and a new profile in *out, to be freed with pp_profile_free(), or -1 with a sentence
 * when the sample types do not fit together. Units that do (ms and ns) must have been made equal
 * with pp_profile_align_units() (profile_units.h). At least one source; sources are not changed and
 * may be freed. Header: the first one's sample types, period type and frame filters; the earliest
 * time; the sum of the durations; the largest period; every comment once.
 */
int pp_profile_merge(struct pp_profile *const *sources, size_t count, struct pp_profile **out,
                     struct pp_error *error);

/*
 * source - base, for reports on a difference: base's values are negated and merged with source's.
 * Both are consumed, whatever the result.
 */
int pp_profile_subtract(struct pp_profile *source, struct pp_profile *base, struct pp_profile **out,
                        struct pp_error *error);

#endif
