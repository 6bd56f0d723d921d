/* SPDX-License-Identifier: MIT
 *
 * wire.h: the part of protocol buffers' wire format that profile.proto needs.
 *
 *   varint             7 bits a byte, low bits first, 0x80 = more follows
 *   field, a number    varint(field << 3 | 0) varint(value)
 *   field, bytes       varint(field << 3 | 2) varint(size) bytes; text, messages, packed numbers
 *
 * A nested message is written in place. pp_wire_open() reserves one byte for its size, which is
 * enough below 128 bytes; pp_wire_close() moves the message if it needs more. (Format:
 * protobuf.dev, "Encoding".)
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing; errors stick to the buffer.
 */
#ifndef PP_ENCODE_WIRE_H
#define PP_ENCODE_WIRE_H

#include "base/buffer.h"

#include <stddef.h>
#include <stdint.h>

enum { PP_VARINT_MAX = 10 /* bytes of a 64-bit number */ };

/* Writes `value` at `to`, which has room for PP_VARINT_MAX bytes; returns the address after it. */
static inline uint8_t *pp_varint_put(uint8_t *to, uint64_t value)
{
    while (value >= 0x80) {
        *to++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *to++ = (uint8_t)value;
    return to;
}

/* Appends a bare varint: one number of a packed field. */
void pp_wire_varint(pp_buffer *out, uint64_t value);

/* Appends a numeric field. The format stores a negative number as its two's complement: cast it. */
void pp_wire_number(pp_buffer *out, uint32_t field, uint64_t value);

/* Appends a numeric field unless it is 0: readers then see 0. */
void pp_wire_number_if(pp_buffer *out, uint32_t field, uint64_t value);

/* Appends a field of bytes or text. */
void pp_wire_bytes(pp_buffer *out, uint32_t field, const void *data, size_t size);

/* Begins a nested message or a packed field; pp_wire_close() takes the result. Messages
 * may nest. */
size_t pp_wire_open(pp_buffer *out, uint32_t field);
void pp_wire_close(pp_buffer *out, size_t opened);

#endif
