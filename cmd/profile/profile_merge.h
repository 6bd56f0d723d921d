/* SPDX-License-Identifier: MIT
 *
 * profile_merge.h: the sum and the difference of profiles.
 *
 * Samples with equal stacks and equal labels become one sample with the sum of their values. Two
 * mappings are equal if their build ids (else their files), file offsets and sizes in pages are,
 * wherever they were loaded: addresses are moved to where the first profile had the mapping. A
 * sample of zeros is left out, and so is a part that no sample refers to.
 */
#ifndef CP_PROFILE_MERGE_H
#define CP_PROFILE_MERGE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cp_error cp_error;
typedef struct cp_profile cp_profile;

/*
 * Merges one source or more. Returns 0 and a new profile in *out, to be freed with
 * cp_profile_free(), or -1 with a sentence if the sample types differ. The caller has to make units
 * such as ms and ns equal first, with cp_profile_align_units(). The sources do not change and may
 * be freed.
 *
 * The result has the first source's sample types, period type and frame filters; the earliest time;
 * the sum of the durations; the largest period; and every comment once.
 */
int cp_profile_merge(cp_profile *const *sources, size_t count, cp_profile **out, cp_error *error);

/* A merge of one source after the other, none of which has to stay. */
typedef struct cp_merger cp_merger;

cp_merger *cp_merger_new(void);
/* Adds a source, which does not change and may be freed. Returns 0, or -1 with a sentence if its
 * sample types are not those of the first one; nothing was added then. */
int cp_merger_add(cp_merger *merger, const cp_profile *source, cp_error *error);
/* Frees the merger and returns the sum of one source or more, to be freed with cp_profile_free(). */
cp_profile *cp_merger_finish(cp_merger *merger);
/* Frees a merger that is not to be finished. */
void cp_merger_free(cp_merger *merger);

/* Makes the units of the sources equal, and merges them. */
int cp_profile_add(cp_profile *const *sources, size_t count, cp_profile **out, cp_error *error);

/* Merges `source` with the negated values of `base`, for a report on the difference. Frees both
 * profiles, also on an error. */
int cp_profile_subtract(cp_profile *source, cp_profile *base, cp_profile **out, cp_error *error);

/* Scales each sample type of `source` to the total that `base` has of it. Returns 0, or -1 with a
 * sentence if the sample types differ. */
int cp_profile_normalize(cp_profile *source, const cp_profile *base, cp_error *error);

/* Whether a report on sums could change if equal samples and mappings of the profile became one: a
 * value is negative, a sum is too large, or two mappings are equal. */
bool cp_profile_needs_merge(const cp_profile *profile);

#endif
