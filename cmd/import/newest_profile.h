/* SPDX-License-Identifier: MIT
 *
 * newest_profile.h: the profile that a verb takes if the user names none.
 */
#ifndef CP_NEWEST_PROFILE_H
#define CP_NEWEST_PROFILE_H

/* Finds the regular file in the current folder that was changed last, of those whose names end in
 * .pb.gz and do not begin with a point. Returns its name, to be freed, or NULL if there is none. */
char *cp_newest_profile(void);

#endif
