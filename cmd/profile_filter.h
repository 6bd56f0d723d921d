/* SPDX-License-Identifier: MIT
 *
 * profile_filter.h: choosing which frames and which samples of a profile are looked at.
 *
 * These change the profile in place, in the order in which a report applies them.
 */
#ifndef CP_PROFILE_FILTER_H
#define CP_PROFILE_FILTER_H

#include "demangle.h"

#include <stdbool.h>

typedef struct cp_profile cp_profile;
typedef struct cp_regex cp_regex;

/* Gives each function the short name that reports show (demangle.h), unless the profile's writer
 * set a name that differs from the symbol. */
void cp_profile_demangle(cp_profile *profile);

/* The same in another mode, in which the symbol goes before what the writer has set. */
void cp_profile_demangle_as(cp_profile *profile, cp_demangle_mode mode);

/* Forgets file names that are URLs: they say where a profile came from, not which program ran. */
void cp_profile_forget_urls(cp_profile *profile);

/*
 * Applies the profile's own drop_frames and keep_frames: seen from the root, a frame that matches
 * the first and not the second is removed with everything it called. Frames at the root are never
 * removed. Expressions that are invalid are ignored, as the profile's writer meant no harm.
 */
void cp_profile_prune(cp_profile *profile);

typedef struct cp_focus_result {
    bool focus_matched, ignore_matched; /* any location, whether sampled or not */
} cp_focus_result;

/*
 * Keeps the samples in which some frame matches `focus` and none matches `ignore`; NULL means all
 * and none. A frame matches with its function, its source file or its program. Samples without
 * any frame are dropped.
 */
cp_focus_result cp_profile_focus(cp_profile *profile, cp_regex *focus, cp_regex *ignore);

#endif
