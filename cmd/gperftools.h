/* SPDX-License-Identifier: MIT
 *
 * gperftools.h: the binary CPU format of gperftools (and of PPROF_FORMAT_LEGACY) into a profile.
 *
 *   words, 4 or 8 bytes each, of either byte order:
 *     0  3  0  period in microseconds  0             header
 *     count  depth  pc[depth]                        one for each stack, the leaf first
 *     0  1  0                                        end
 *   text: /proc/self/maps
 */
#ifndef CPPROF_GPERFTOOLS_H
#define CPPROF_GPERFTOOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pp_error;
struct pp_profile;

bool pp_gperftools_is(const uint8_t *data, size_t length);

/* As pp_profile_decode(). */
int pp_gperftools_decode(const uint8_t *data, size_t length, struct pp_profile **out,
                         struct pp_error *error);

#endif
