/* SPDX-License-Identifier: MIT
 *
 * pprof.h: reads profile.proto, as far as a server wants something else than its bytes.
 */
#ifndef PUSH_PPROF_H
#define PUSH_PPROF_H

#include "push/body.h"
#include "push/memory.h"

#include <profile.pb-c.h>
#include <stdint.h>

typedef Push__Pprof__Profile push_pprof;

/* Reads a profile, gzipped or not, into `memory`. All its references are good, and ids are 1..n in order,
 * as libpprof and cpprof write them. NULL: it is none, or there is no memory. */
push_pprof *push_pprof_read(const void *data, size_t size, push_memory *memory);

/* How many bytes the profile has without gzip, at least; from its trailer. */
uint64_t push_pprof_plain_size(const void *data, size_t size);

/* Appends the profile, gzipped. */
void push_pprof_write(const push_pprof *profile, push_body *body);

#endif
