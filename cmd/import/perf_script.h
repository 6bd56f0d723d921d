/* SPDX-License-Identifier: MIT
 *
 * perf_script.h: a reader of what `perf script` prints.
 *
 *   COMM PID/TID [CPU] TIME: PERIOD EVENT:
 *           ADDRESS SYMBOL+OFFSET (FILE)          the leaf first
 *           ADDRESS SYMBOL (inlined)              before the function that it is inlined into
 *     SOURCE:LINE                                 with -F +srcline, after its frame
 *
 * CPU, TIME and PERIOD may be missing, and so may PID or TID. A sample without callers has its
 * frame on the first line. Lines that begin with # are comments.
 *
 * Each event becomes a sample type, after samples/count; a sample without a PERIOD counts as 1.
 * COMM, PID and TID become the labels comm, pid and tid. A caller's address becomes one that is
 * inside the call, one byte less.
 */
#ifndef CP_PERF_SCRIPT_H
#define CP_PERF_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cp_error cp_error;
typedef struct cp_profile cp_profile;

/* Whether the text begins with samples, and one of the first has a frame. */
bool cp_perf_script_is(const uint8_t *data, size_t length);

/* Like cp_profile_decode(). */
int cp_perf_script_decode(const uint8_t *data, size_t length, cp_profile **out, cp_error *error);

#endif
