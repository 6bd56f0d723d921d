/* SPDX-License-Identifier: MIT
 *
 * bytes_reader.h: a reader of numbers that stays within its bytes. After the end it reads zeros and
 * remembers that it has failed.
 *
 * Tested by: e2e.lines_split
 */
#ifndef PP_DWARF_BYTES_READER_H
#define PP_DWARF_BYTES_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct pp_bytes {
    const uint8_t *data;
    size_t size;
} pp_bytes;

typedef struct pp_bytes_reader {
    pp_bytes bytes;
    size_t at;
    bool failed;
} pp_bytes_reader;

/* The part of the bytes from `from` on, at most `size` of them. */
static inline pp_bytes pp_bytes_part(pp_bytes bytes, uint64_t from, uint64_t size)
{
    uint64_t left = from < bytes.size ? bytes.size - from : 0;
    if (left == 0) {
        return (pp_bytes){NULL, 0};
    }
    return (pp_bytes){bytes.data + from, (size_t)(size < left ? size : left)};
}

static inline void pp_bytes_skip(pp_bytes_reader *reader, uint64_t count)
{
    if (count > reader->bytes.size - reader->at) {
        reader->failed = true;
        reader->at = reader->bytes.size;
        return;
    }
    reader->at += (size_t)count;
}

/* A number of `size` bytes, in the order of this machine. */
static inline uint64_t pp_bytes_number(pp_bytes_reader *reader, size_t size)
{
    uint8_t number[8] = {0};
    size_t at = reader->at;
    uint64_t value = 0;
    pp_bytes_skip(reader, size);
    if (!reader->failed) {
        memcpy(number, reader->bytes.data + at, size);
    }
    memcpy(&value, number, sizeof value);
    return value;
}

/* A number in LEB128; bits above 64 are lost. */
static inline uint64_t pp_bytes_leb(pp_bytes_reader *reader)
{
    uint64_t value = 0;
    for (unsigned shift = 0; !reader->failed; shift += 7) {
        uint64_t byte = pp_bytes_number(reader, 1);
        value |= shift < 64 ? (byte & 0x7f) << shift : 0;
        if ((byte & 0x80) == 0) {
            break;
        }
    }
    return value;
}

#endif
