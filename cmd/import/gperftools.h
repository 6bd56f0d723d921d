/* SPDX-License-Identifier: MIT
 *
 * gperftools.h: a reader of the binary CPU format of gperftools (and of PPROF_FORMAT_LEGACY).
 *
 *   words, 4 or 8 bytes each, of either byte order:
 *     0  3  0  period in microseconds  0             header
 *     count  depth  pc[depth]                        one for each stack, the leaf first
 *     0  1  0                                        end
 *   text: /proc/self/maps
 */
#ifndef CP_GPERFTOOLS_H
#define CP_GPERFTOOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cp_error cp_error;
typedef struct cp_profile cp_profile;

bool cp_gperftools_is(const uint8_t *data, size_t length);

/* Like cp_profile_decode(). */
int cp_gperftools_decode(const uint8_t *data, size_t length, cp_profile **out, cp_error *error);

#endif
