/* SPDX-License-Identifier: MIT
 *
 * protobuf.h: the protobuf encoding, one field at a time, in both directions.
 *
 * A reader walks the fields of one message inside a buffer; nested messages get a reader of their
 * own over the same buffer, so that every complaint carries the offset from the buffer's start. The
 * first failure sticks: from then on pp_wire_next() returns false, and the caller checks `failed`
 * once at the end. A writer is a growing array of bytes.
 *
 *   field = varint(number << 3 | type) + payload
 *   type 0: varint   1: 8 bytes   2: varint length + bytes   5: 4 bytes
 */
#ifndef CPPROF_PROTOBUF_H
#define CPPROF_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pp_error;

enum { PP_WIRE_VARINT = 0, PP_WIRE_FIXED64 = 1, PP_WIRE_BYTES = 2, PP_WIRE_FIXED32 = 5 };

struct pp_wire {
    const uint8_t *start;    /* of the whole buffer: offsets count from here */
    const uint8_t *at, *end; /* what is left of this message */
    struct pp_error *error;
    bool failed;
};

struct pp_field {
    uint64_t number;
    unsigned type;
    uint64_t value;      /* types 0, 1 and 5 */
    const uint8_t *data; /* type 2 */
    size_t length;
    size_t offset; /* of the field's first byte */
};

void pp_wire_init(struct pp_wire *wire, const uint8_t *data, size_t length, struct pp_error *error);
/* A reader of the message that `field` of `outer` holds. */
struct pp_wire pp_wire_enter(struct pp_wire *outer, const struct pp_field *field);

/* Reads the next field; false at the end of the message or after a failure. */
bool pp_wire_next(struct pp_wire *wire, struct pp_field *field);

/* Reads a bare varint, as packed arrays hold them; false at the end or after a failure. */
bool pp_wire_varint(struct pp_wire *wire, uint64_t *value);

/* Fails unless the field has that type. */
bool pp_wire_expect(struct pp_wire *wire, const struct pp_field *field, unsigned type,
                    const char *what);

/* Records "byte OFFSET: expected ..., found ..." unless something failed before; returns false. */
bool pp_wire_fail(struct pp_wire *wire, size_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* How many varints end in these bytes: an upper bound of a packed array's length. */
size_t pp_wire_count_varints(const uint8_t *data, size_t length);

struct pp_bytes {
    uint8_t *data;
    size_t length, capacity;
};

void pp_bytes_release(struct pp_bytes *bytes);
void pp_bytes_append(struct pp_bytes *bytes, const void *data, size_t length);
void pp_bytes_varint(struct pp_bytes *bytes, uint64_t value);
/* A varint field; zero is left out, as proto3 does. */
void pp_bytes_number(struct pp_bytes *bytes, unsigned field, uint64_t value);
/* A length-delimited field; an empty one is written too. */
void pp_bytes_field(struct pp_bytes *bytes, unsigned field, const void *data, size_t length);

#endif
