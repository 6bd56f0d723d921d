/* SPDX-License-Identifier: MIT
 *
 * profile_sum.h: the sum of many files.
 *
 * Only a few of the profiles are in memory at a time, and threads read and decode them while the
 * caller's thread merges.
 */
#ifndef CP_PROFILE_SUM_H
#define CP_PROFILE_SUM_H

#include <stddef.h>

typedef struct cp_profile cp_profile;

/* Adds up files, in their order. `prepare`, unless it is NULL, is called for each profile before it
 * is merged. Returns the sum, to be freed with cp_profile_free(); or NULL if the files have to be
 * read all before they are merged: one is no regular file, cannot be read or decoded, or has other
 * units than the first one. Reading them again one by one shows which, and complains. */
cp_profile *cp_profile_sum_files(const char *const *paths, size_t count,
                                 void (*prepare)(cp_profile *profile));

#endif
