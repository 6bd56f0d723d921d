/* SPDX-License-Identifier: MIT
 *
 * profile_decode.h: the bytes of a profile.proto, plain, into a profile.
 */
#ifndef CPPROF_PROFILE_DECODE_H
#define CPPROF_PROFILE_DECODE_H

#include <stddef.h>
#include <stdint.h>

struct pp_error;
struct pp_profile;

/*
 * Returns 0 and a new profile in *out, to be freed with pp_profile_free(); or -1 with
 * "byte OFFSET: expected ..., found ..." in *error. Every reference and every string index of a
 * profile that is returned has been checked.
 */
int pp_profile_decode(const uint8_t *data, size_t length, struct pp_profile **out,
                      struct pp_error *error);

#endif
