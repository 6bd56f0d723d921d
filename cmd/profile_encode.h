/* SPDX-License-Identifier: MIT
 *
 * profile_encode.h: a profile as the bytes of profile.proto.
 */
#ifndef CP_PROFILE_ENCODE_H
#define CP_PROFILE_ENCODE_H

struct cp_bytes;
struct cp_profile;

/* Appends the encoding, plain. Ids are 1..n in the order of the arrays. */
void cp_profile_encode(const struct cp_profile *profile, struct cp_bytes *out);

#endif
