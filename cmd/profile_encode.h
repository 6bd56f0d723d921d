/* SPDX-License-Identifier: MIT
 *
 * profile_encode.h: a profile as the bytes of profile.proto.
 */
#ifndef CPPROF_PROFILE_ENCODE_H
#define CPPROF_PROFILE_ENCODE_H

struct pp_bytes;
struct pp_profile;

/* Appends the encoding, plain. Ids are 1..n in the order of the arrays. */
void pp_profile_encode(const struct pp_profile *profile, struct pp_bytes *out);

#endif
