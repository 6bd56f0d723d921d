/* SPDX-License-Identifier: MIT
 *
 * profile_encode.h: a profile as the bytes of profile.proto.
 */
#ifndef CP_PROFILE_ENCODE_H
#define CP_PROFILE_ENCODE_H

typedef struct cp_bytes cp_bytes;
typedef struct cp_profile cp_profile;

/* Appends the encoding, plain. Ids are 1..n in the order of the arrays. */
void cp_profile_encode(const cp_profile *profile, cp_bytes *out);

#endif
