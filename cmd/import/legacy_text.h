/* SPDX-License-Identifier: MIT
 *
 * legacy_text.h: a reader of profiles as text, of libpprof, Go, gperftools, tcmalloc and jemalloc.
 *
 *   heap profile: 4: 4096 [9: 9216] @ heap/1048576     heap, growth and fragmentation
 *   heap_v2/524288                                     heap, of jemalloc
 *   --- contention:  --- mutex:  --- contentionz       waits for locks
 *   NAME profile: total 7                              counts, such as goroutine and threadcreate
 *
 * Rows have addresses only; what stands after # is for people. The list of mapped files at the end
 * shows which program each address is in.
 */
#ifndef CP_LEGACY_TEXT_H
#define CP_LEGACY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cp_error cp_error;
typedef struct cp_profile cp_profile;

bool cp_legacy_text_is(const uint8_t *data, size_t length);

/* Like cp_profile_decode(). */
int cp_legacy_text_decode(const uint8_t *data, size_t length, cp_profile **out, cp_error *error);

#endif
