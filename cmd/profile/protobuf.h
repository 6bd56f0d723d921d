/* SPDX-License-Identifier: MIT
 *
 * protobuf.h: a reader of protobuf fields, and growing arrays of bytes.
 *
 * A reader walks the fields of one message inside a buffer. A nested message gets a reader of its
 * own over the same buffer, so that every complaint has the offset from the buffer's start. The
 * first failure sticks: after it, cp_wire_next() returns false, and the caller checks `failed` once
 * at the end.
 *
 *   field = varint(number << 3 | type) + payload
 *   type 0: varint   1: 8 bytes   2: varint length + bytes   5: 4 bytes
 */
#ifndef CP_PROTOBUF_H
#define CP_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cp_error cp_error;

enum { CP_WIRE_VARINT = 0, CP_WIRE_FIXED64 = 1, CP_WIRE_BYTES = 2, CP_WIRE_FIXED32 = 5 };

typedef struct cp_wire {
    const uint8_t *start;    /* of the whole buffer; offsets count from here */
    const uint8_t *at, *end; /* the rest of this message */
    cp_error *error;
    bool failed;
} cp_wire;

typedef struct cp_field {
    uint64_t number;
    unsigned type;
    uint64_t value;      /* types 0, 1 and 5 */
    const uint8_t *data; /* type 2 */
    size_t length;
    size_t offset; /* of the field's first byte */
} cp_field;

void cp_wire_init(cp_wire *wire, const uint8_t *data, size_t length, cp_error *error);
/* Returns a reader of the message in `field` of `outer`. */
static inline cp_wire cp_wire_enter(const cp_wire *outer, const cp_field *field)
{
    cp_wire inner = *outer;

    inner.at = field->data;
    inner.end = field->data + field->length;
    return inner;
}

/* Reads a number of any length, or complains. */
bool cp_wire_long_varint(cp_wire *wire, uint64_t *value);

/* Reads an element of a packed array of varints; false at the end or after a failure. Nearly every
 * number is short. */
static inline bool cp_wire_varint(cp_wire *wire, uint64_t *value)
{
    const uint8_t *at = wire->at;
    uint32_t result = 0;

    for (unsigned shift = 0; shift < 28 && at < wire->end && !wire->failed; shift += 7) {
        uint32_t byte = *at++;

        result |= (byte & 0x7f) << shift;
        if (byte < 0x80) {
            wire->at = at;
            *value = result;
            return true;
        }
    }
    return cp_wire_long_varint(wire, value);
}

/* Reads any field, or complains. */
bool cp_wire_next_any(cp_wire *wire, cp_field *field);

/* Reads the next field; false at the end of the message or after a failure. Nearly every field is a
 * number or short, and has a number below 16. */
static inline bool cp_wire_next(cp_wire *wire, cp_field *field)
{
    const uint8_t *at = wire->at;

    if (wire->failed || wire->end - at < 2 || at[0] < 0x08 || at[0] >= 0x80) {
        return cp_wire_next_any(wire, field);
    }
    field->offset = (size_t)(at - wire->start);
    field->number = at[0] >> 3;
    field->type = at[0] & 7;
    if (field->type == CP_WIRE_VARINT) {
        wire->at = at + 1;
        return cp_wire_varint(wire, &field->value);
    }
    if (field->type == CP_WIRE_BYTES && at[1] < 0x80 && at[1] <= wire->end - at - 2) {
        field->data = at + 2;
        field->length = at[1];
        wire->at = field->data + field->length;
        return true;
    }
    return cp_wire_next_any(wire, field);
}

/* Fails because the field does not have that type. */
bool cp_wire_refuse_type(cp_wire *wire, const cp_field *field, unsigned type, const char *what);

/* Fails unless the field has that type. */
static inline bool cp_wire_expect(cp_wire *wire, const cp_field *field, unsigned type,
                                  const char *what)
{
    return field->type == type || cp_wire_refuse_type(wire, field, type, what);
}

/*
 * Records "byte OFFSET: expected ..., found ..." if it is the first failure. Always returns false.
 */
bool cp_wire_fail(cp_wire *wire, size_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The number of varints that end in these bytes: an upper bound of a packed array's length. */
size_t cp_wire_count_varints(const uint8_t *data, size_t length);

typedef struct cp_bytes {
    uint8_t *data;
    size_t length, capacity;
} cp_bytes;

void cp_bytes_release(cp_bytes *bytes);
void cp_bytes_append(cp_bytes *bytes, const void *data, size_t length);

#endif
