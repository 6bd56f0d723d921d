/* SPDX-License-Identifier: MIT
 *
 * gunzip.h: gzip in memory, by zlib.
 */
#ifndef CP_GUNZIP_H
#define CP_GUNZIP_H

#include "profile/protobuf.h"

typedef struct cp_error cp_error;

bool cp_gzip_is(const uint8_t *data, size_t length);

/* Data that becomes more than so many bytes must not be more than so many times as large. */
#define CP_GZIP_BOMB_BYTES  ((size_t)128 << 20)
#define CP_GZIP_BOMB_FACTOR 100

/* Appends the contents of all members to *out, at most `limit` bytes. Returns 0, or -1 with "byte
 * OFFSET: expected ..., found ...", where OFFSET counts compressed bytes. */
int cp_gzip_expand(const uint8_t *data, size_t length, size_t limit, cp_bytes *out,
                   cp_error *error);

/* Appends one member with the data. */
void cp_gzip_compress(const uint8_t *data, size_t length, cp_bytes *out);

#endif
