/* SPDX-License-Identifier: MIT
 *
 * image.c: bounded reading of call-frame information.
 *
 * Zone: SIGNAL.
 * Locks: none.
 * Owns: nothing.
 */
#include "unwind/image.h"

#include "base/compiler.h"
#include "sys/safe_read.h"

#include <string.h>

bool pp_image_load(const pp_image *image, pp_block *block, uintptr_t at)
{
    if (image->permanent) {
        return true;
    }
    size_t size = image->hi - at < PP_BLOCK_BYTES ? image->hi - at : PP_BLOCK_BYTES;
    pp_block_clear(block);
    if (!pp_safe_copy(block->bytes, at, size)) {
        return false;
    }
    block->lo = at;
    block->hi = at + size;
    return true;
}

static bool holds(const pp_block *block, uintptr_t at, size_t size)
{
    return at >= block->lo && at < block->hi && block->hi - at >= size;
}

bool pp_image_copy(const pp_image *image, pp_block *block, uintptr_t at, void *to, size_t size)
{
    if (at < image->lo || at > image->hi || size > image->hi - at) {
        return false;
    }
    if (image->permanent) {
        memcpy(to, (const void *)at, size);
        return true;
    }
    if (!holds(block, at, size) && !pp_image_load(image, block, at)) {
        return false;
    }
    memcpy(to, block->bytes + (at - block->lo), size);
    return true;
}

void pp_cursor_init(pp_cursor *cursor, const pp_image *image, pp_block *block, uintptr_t at,
                    uintptr_t end)
{
    cursor->image = image;
    cursor->block = block;
    cursor->at = at;
    cursor->end = end < image->hi ? end : image->hi;
    cursor->failed = at < image->lo || at > cursor->end;
}

uint8_t pp_cursor_u8(pp_cursor *cursor)
{
    if (pp_unlikely(cursor->failed || cursor->at >= cursor->end)) {
        cursor->failed = true;
        return 0;
    }
    if (pp_likely(cursor->image->permanent)) {
        return *(const uint8_t *)cursor->at++;
    }
    if (!holds(cursor->block, cursor->at, 1) &&
        !pp_image_load(cursor->image, cursor->block, cursor->at)) {
        cursor->failed = true;
        return 0;
    }
    return cursor->block->bytes[cursor->at++ - cursor->block->lo];
}

uint64_t pp_cursor_fixed(pp_cursor *cursor, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++) {
        value |= (uint64_t)pp_cursor_u8(cursor) << (8 * i);
    }
    return value;
}

uint64_t pp_cursor_uleb(pp_cursor *cursor)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = pp_cursor_u8(cursor);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            return value;
        }
    }
    cursor->failed = true; /* longer than any 64-bit number */
    return 0;
}

int64_t pp_cursor_sleb(pp_cursor *cursor)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64;) {
        uint8_t byte = pp_cursor_u8(cursor);
        value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
        if (!(byte & 0x80)) {
            if ((byte & 0x40) && shift < 64) {
                value |= ~UINT64_C(0) << shift;
            }
            return (int64_t)value;
        }
    }
    cursor->failed = true;
    return 0;
}

void pp_cursor_skip(pp_cursor *cursor, uint64_t size)
{
    if (cursor->failed || size > cursor->end - cursor->at) {
        cursor->failed = true;
        return;
    }
    cursor->at += (uintptr_t)size;
}
