/* SPDX-License-Identifier: MIT
 *
 * protobuf.c: see protobuf.h.
 *
 * Owns: the array of each cp_bytes.
 * Tested by: unit.cmd_decode.
 */
#include "profile/protobuf.h"

#include "base/message.h"
#include "base/pool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_VARINT_BYTES 10 /* ceil(64 / 7) */

void cp_wire_init(cp_wire *wire, const uint8_t *data, size_t length, cp_error *error)
{
    wire->start = wire->at = data;
    wire->end = data + length;
    wire->error = error;
    wire->failed = false;
}

bool cp_wire_fail(cp_wire *wire, size_t offset, const char *format, ...)
{
    if (wire->failed) {
        return false;
    }
    wire->failed = true;
    va_list arguments;
    va_start(arguments, format);
    char what[512];
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    cp_fail(wire->error, "byte %zu: %s", offset, what);
    return false;
}

static size_t offset_of(const cp_wire *wire, const uint8_t *at)
{
    return (size_t)(at - wire->start);
}

bool cp_wire_long_varint(cp_wire *wire, uint64_t *value)
{
    const uint8_t *first = wire->at;
    uint64_t result = 0;
    unsigned shift = 0;

    if (wire->failed || first == wire->end) {
        return false;
    }
    for (const uint8_t *at = first; at < wire->end && at < first + MAX_VARINT_BYTES; at++) {
        result |= (uint64_t)(*at & 0x7f) << shift;
        shift += 7;
        if (!(*at & 0x80)) {
            wire->at = at + 1;
            *value = result;
            return true;
        }
    }
    if (wire->end - first < MAX_VARINT_BYTES) {
        return cp_wire_fail(wire, offset_of(wire, first),
                            "expected a whole number, found the end of the message within it");
    }
    return cp_wire_fail(wire, offset_of(wire, first),
                        "expected a number of at most 10 bytes, found a longer one");
}

/* Reads a number that must be there: the end of the message is a failure. */
static bool need_varint(cp_wire *wire, uint64_t *value, const char *what)
{
    if (!wire->failed && wire->at == wire->end) {
        return cp_wire_fail(wire, offset_of(wire, wire->at),
                            "expected %s, found the end of the message", what);
    }
    return cp_wire_varint(wire, value);
}

static bool read_fixed(cp_wire *wire, cp_field *field, size_t size)
{
    size_t left = (size_t)(wire->end - wire->at);

    if (left < size) {
        return cp_wire_fail(wire, offset_of(wire, wire->at),
                            "expected a number of %zu bytes, found only %zu before the end", size,
                            left);
    }
    field->value = 0;
    for (size_t i = 0; i < size; i++) {
        field->value |= (uint64_t)wire->at[i] << (8 * i);
    }
    wire->at += size;
    return true;
}

static bool read_bytes(cp_wire *wire, cp_field *field)
{
    const uint8_t *first = wire->at;
    uint64_t length = 0;

    if (!need_varint(wire, &length, "a length")) {
        return false;
    }
    size_t left = (size_t)(wire->end - wire->at);
    if (length > left) {
        return cp_wire_fail(
            wire, offset_of(wire, first),
            "expected a length of at most %zu (the rest of the message), found %llu", left,
            (unsigned long long)length);
    }
    field->data = wire->at;
    field->length = (size_t)length;
    wire->at += length;
    return true;
}

bool cp_wire_next_any(cp_wire *wire, cp_field *field)
{
    uint64_t key = 0;

    if (wire->failed || wire->at == wire->end) {
        return false;
    }
    field->offset = offset_of(wire, wire->at);
    if (!cp_wire_varint(wire, &key)) {
        return false;
    }
    field->number = key >> 3;
    field->type = (unsigned)(key & 7);
    if (field->number == 0) {
        return cp_wire_fail(wire, field->offset, "expected a protobuf field, found field number 0");
    }
    switch (field->type) {
    case CP_WIRE_VARINT:
        return need_varint(wire, &field->value, "a number");
    case CP_WIRE_FIXED64:
        return read_fixed(wire, field, 8);
    case CP_WIRE_BYTES:
        return read_bytes(wire, field);
    case CP_WIRE_FIXED32:
        return read_fixed(wire, field, 4);
    default:
        return cp_wire_fail(wire, field->offset,
                            "expected a protobuf field of type 0, 1, 2 or 5, found type %u",
                            field->type);
    }
}

bool cp_wire_refuse_type(cp_wire *wire, const cp_field *field, unsigned type, const char *what)
{
    return cp_wire_fail(wire, field->offset, "expected %s as a field of type %u, found type %u",
                        what, type, field->type);
}

size_t cp_wire_count_varints(const uint8_t *data, size_t length)
{
    size_t count = 0;

    for (size_t i = 0; i < length; i++) {
        count += !(data[i] & 0x80);
    }
    return count;
}

void cp_bytes_release(cp_bytes *bytes)
{
    free(bytes->data);
    memset(bytes, 0, sizeof *bytes);
}

void cp_bytes_append(cp_bytes *bytes, const void *data, size_t length)
{
    if (length > bytes->capacity - bytes->length) {
        size_t capacity = bytes->capacity ? bytes->capacity : 256;

        while (capacity - bytes->length < length) {
            capacity *= 2;
        }
        bytes->data = cp_heap_resize(bytes->data, capacity, 1);
        bytes->capacity = capacity;
    }
    if (length) {
        memcpy(bytes->data + bytes->length, data, length);
    }
    bytes->length += length;
}
