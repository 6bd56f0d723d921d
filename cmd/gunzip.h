/* SPDX-License-Identifier: MIT
 *
 * gunzip.h: gzip in memory, through zlib.
 */
#ifndef CPPROF_GUNZIP_H
#define CPPROF_GUNZIP_H

#include "protobuf.h"

struct pp_error;

bool pp_gzip_is(const uint8_t *data, size_t length);

/* Appends all members' contents to *out, at most `limit` bytes. Returns 0, or -1 with
 * "byte OFFSET: expected ..., found ..." where OFFSET counts compressed bytes. */
int pp_gzip_expand(const uint8_t *data, size_t length, size_t limit, struct pp_bytes *out,
                   struct pp_error *error);

/* Appends one member that holds the data. */
void pp_gzip_compress(const uint8_t *data, size_t length, struct pp_bytes *out);

#endif
