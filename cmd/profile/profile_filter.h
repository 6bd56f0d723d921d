/* SPDX-License-Identifier: MIT
 *
 * profile_filter.h: what is done to every profile before a report: readable names, and the frames
 * that its writer wants to be left out.
 *
 * The functions change the profile in place. A report calls them in the order in which they are
 * listed here. What the user wants to see is chosen later (name_filter.h, label_filter.h).
 */
#ifndef CP_PROFILE_FILTER_H
#define CP_PROFILE_FILTER_H

#include "names/demangle.h"

#include <stdbool.h>

typedef struct cp_profile cp_profile;

/* Gives each function the short name that reports show (demangle.h), unless the profile's writer
 * gave it a name other than the symbol. */
void cp_profile_demangle(cp_profile *profile);

/* cp_profile_demangle_as() does so in any mode. In modes of longer names, and of none, the
 * symbol has precedence over the writer's name. */
void cp_profile_demangle_as(cp_profile *profile, cp_demangle_mode mode);

/* Removes file names that are URLs: such a name is where the profile came from, not the program. */
void cp_profile_forget_urls(cp_profile *profile);

/* Applies the profile's own drop_frames and keep_frames. From the root on, the first frame that
 * matches drop_frames and not keep_frames is removed with all frames that it called. A frame at the
 * root is never removed. An invalid expression is ignored: the user cannot mend it. */
void cp_profile_prune(cp_profile *profile);

#endif
