/* SPDX-License-Identifier: MIT
 *
 * profile_encode.h: an encoder of profile.proto, without gzip.
 */
#ifndef CP_PROFILE_ENCODE_H
#define CP_PROFILE_ENCODE_H

#include "src/base/buffer.h"

typedef struct cp_profile cp_profile;

/* Appends the encoded profile to *out. Ids are 1..n in the order of the arrays. */
void cp_profile_encode(const cp_profile *profile, pp_buffer *out);

#endif
