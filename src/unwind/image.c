/* SPDX-License-Identifier: MIT
 *
 * image.c: bounded reading of call-frame information.
 *
 * Zone: SIGNAL.
 * Tested by: unit.cfi, unit.copies
 */
#include "unwind/image.h"

#include "base/compiler.h"

#include <string.h>

/* A cursor reads on from `at`: most entries are shorter than this. */
enum { ENTRY_BYTES = 96 };

/* Makes `chunk` hold the byte at `at`, which is within a removable image. Of a chunk that was kept, the
 * bytes from `from` on, which is not above `at`, are enough, `most` of them. Inline: it is called where the
 * walk is deepest, on the stack that a sample interrupts. */
static inline __attribute__((always_inline)) bool load(const pp_image *image, pp_chunk *chunk,
                                                       uintptr_t at, uintptr_t from, size_t most)
{
    uintptr_t begin = pp_chunk_begin(at);
    if (image->keep && pp_copies_find(from, most, image->epoch, chunk)) {
        return at >= chunk->lo && at < chunk->hi;
    }
    uintptr_t end = begin + PP_CHUNK_BYTES;
    uintptr_t lo = begin > image->lo ? begin : image->lo;
    uintptr_t hi = end < image->hi ? end : image->hi;
    pp_chunk_clear(chunk);
    if (!pp_memory_copy(image->memory, chunk->bytes, lo, hi - lo)) {
        return false;
    }
    chunk->lo = lo;
    chunk->hi = hi;
    if (image->keep) {
        pp_copies_keep(begin, image->epoch, chunk);
    }
    return true;
}

static bool holds(const pp_chunk *chunk, uintptr_t at)
{
    return at >= chunk->lo && at < chunk->hi;
}

PP_COLD_PATH bool pp_image_copy_by_chunks(const pp_image *image, pp_chunk *chunk, uintptr_t at,
                                          uint8_t *to, size_t size)
{
    while (size > 0) {
        if (!holds(chunk, at) && !load(image, chunk, at, pp_chunk_begin(at), PP_CHUNK_BYTES)) {
            return false;
        }
        size_t part = chunk->hi - at < size ? chunk->hi - at : size;
        memcpy(to, chunk->bytes + (at - chunk->lo), part);
        at += part;
        to += part;
        size -= part;
    }
    return true;
}

void pp_cursor_init(pp_cursor *cursor, const pp_image *image, pp_chunk *chunk, uintptr_t at,
                    uintptr_t end)
{
    cursor->image = image;
    cursor->chunk = chunk;
    cursor->at = at;
    cursor->end = end < image->hi ? end : image->hi;
    cursor->ready = 0;
    cursor->failed = at < image->lo || at > cursor->end;
}

bool pp_cursor_refill(pp_cursor *cursor)
{
    const pp_image *image = cursor->image;
    pp_chunk *chunk = cursor->chunk;
    uintptr_t at = cursor->at;
    if (cursor->failed || at >= cursor->end ||
        (!image->permanent && !holds(chunk, at) && !load(image, chunk, at, at, ENTRY_BYTES))) {
        pp_cursor_fail(cursor);
        return false;
    }
    uintptr_t hi = image->permanent || chunk->hi > cursor->end ? cursor->end : chunk->hi;
    cursor->bytes = image->permanent ? (const uint8_t *)at : chunk->bytes + (at - chunk->lo);
    cursor->ready = hi - at;
    return true;
}

uint64_t pp_cursor_fixed(pp_cursor *cursor, unsigned size)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 8 * size; shift += 8) {
        value |= (uint64_t)pp_cursor_u8(cursor) << shift;
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
    pp_cursor_fail(cursor); /* longer than any 64-bit number */
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
        pp_cursor_fail(cursor);
        return;
    }
    pp_cursor_move(cursor, cursor->at + (uintptr_t)size);
}
