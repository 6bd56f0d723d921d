/* SPDX-License-Identifier: MIT
 *
 * wire.c: appends protobuf fields to a buffer (format in wire.h).
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#include "encode/wire.h"

#include <string.h>

enum { TYPE_VARINT = 0, TYPE_BYTES = 2 };

static const size_t field_head_max = (size_t)2 * PP_VARINT_MAX; /* a tag and a number or size */

static uint64_t tag(uint32_t field, unsigned type)
{
    return (uint64_t)field << 3 | type;
}

void pp_wire_varint(pp_buffer *out, uint64_t value)
{
    uint8_t *at = pp_buffer_reserve(out, PP_VARINT_MAX);
    if (at != NULL) {
        out->size = (size_t)(pp_varint_put(at, value) - out->data);
    }
}

void pp_wire_number(pp_buffer *out, uint32_t field, uint64_t value)
{
    uint8_t *at = pp_buffer_reserve(out, field_head_max);
    if (at == NULL) {
        return;
    }
    at = pp_varint_put(at, tag(field, TYPE_VARINT));
    out->size = (size_t)(pp_varint_put(at, value) - out->data);
}

void pp_wire_number_if(pp_buffer *out, uint32_t field, uint64_t value)
{
    if (value != 0) {
        pp_wire_number(out, field, value);
    }
}

void pp_wire_bytes(pp_buffer *out, uint32_t field, const void *data, size_t size)
{
    uint8_t *at = pp_buffer_reserve(out, field_head_max);
    if (at == NULL) {
        return;
    }
    at = pp_varint_put(at, tag(field, TYPE_BYTES));
    out->size = (size_t)(pp_varint_put(at, size) - out->data);
    pp_buffer_append(out, data, size);
}

size_t pp_wire_open(pp_buffer *out, uint32_t field)
{
    uint8_t *at = pp_buffer_reserve(out, PP_VARINT_MAX + 1);
    if (at == NULL) {
        return out->size;
    }
    at = pp_varint_put(at, tag(field, TYPE_BYTES));
    *at++ = 0;
    out->size = (size_t)(at - out->data);
    return out->size;
}

void pp_wire_close(pp_buffer *out, size_t opened)
{
    if (pp_buffer_reserve(out, PP_VARINT_MAX) == NULL) {
        return;
    }
    size_t size = out->size - opened;
    uint8_t prefix[PP_VARINT_MAX];
    size_t prefix_size = (size_t)(pp_varint_put(prefix, size) - prefix);
    uint8_t *body = out->data + opened;
    if (prefix_size > 1) {
        memmove(body + prefix_size - 1, body, size);
        out->size += prefix_size - 1;
    }
    memcpy(body - 1, prefix, prefix_size);
}
