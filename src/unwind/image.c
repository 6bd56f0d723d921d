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

bool pp_image_copy(const pp_image *image, uintptr_t at, void *to, size_t size)
{
    if (at < image->lo || at > image->hi || size > image->hi - at) {
        return false;
    }
    if (image->permanent) {
        memcpy(to, (const void *)at, size);
        return true;
    }
    return pp_safe_copy(to, at, size);
}

void pp_cursor_init(pp_cursor *cursor, const pp_image *image, uintptr_t at, uintptr_t end)
{
    cursor->image = image;
    cursor->at = at;
    cursor->end = end < image->hi ? end : image->hi;
    cursor->window_lo = cursor->window_hi = 0;
    cursor->failed = at < image->lo || at > cursor->end;
}

/* Refills the window of a removable image so that it begins at the cursor. */
PP_COLD_PATH static bool refill(pp_cursor *cursor)
{
    size_t size = cursor->end - cursor->at;
    if (size > sizeof cursor->window) {
        size = sizeof cursor->window;
    }
    if (!pp_safe_copy(cursor->window, cursor->at, size)) {
        return false;
    }
    cursor->window_lo = cursor->at;
    cursor->window_hi = cursor->at + size;
    return true;
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
    if (cursor->at < cursor->window_lo || cursor->at >= cursor->window_hi) {
        if (!refill(cursor)) {
            cursor->failed = true;
            return 0;
        }
    }
    return cursor->window[cursor->at++ - cursor->window_lo];
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
