/* SPDX-License-Identifier: MIT
 *
 * profile_decode.h: a decoder of profile.proto, without gzip.
 */
#ifndef CP_PROFILE_DECODE_H
#define CP_PROFILE_DECODE_H

#include <stddef.h>
#include <stdint.h>

typedef struct cp_error cp_error;
typedef struct cp_profile cp_profile;

/* Returns 0 and a new profile in *out, to be freed with cp_profile_free(); or -1 with "byte OFFSET:
 * expected ..., found ..." in *error. The decoder has checked every reference and every string
 * index of a profile that it returns. */
int cp_profile_decode(const uint8_t *data, size_t length, cp_profile **out, cp_error *error);

/* cp_profile_decode_once() does so, and gives the pages of the data back to the system as soon as
 * they were read: afterwards the data may be zeros. The caller still frees it. */
int cp_profile_decode_once(uint8_t *data, size_t length, cp_profile **out, cp_error *error);

#endif
