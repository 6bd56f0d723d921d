/* SPDX-License-Identifier: MIT
 *
 * image.h: the bytes of one module's call-frame information, and a bounded cursor over them.
 *
 * Signal handlers read CFI from modules that another thread may be unloading. They read a module
 * that cannot be unloaded (the program, the libraries that it is linked to, the vDSO) in place, and
 * any other, a removable one, through pp_safe_copy(), which returns an error where a load would
 * fault.
 *
 *   module  [ ... | .eh_frame_hdr | .eh_frame | ... ]
 *           lo                                      hi     nothing outside [lo, hi) is ever read
 *
 * Zone: SIGNAL.
 */
#ifndef PP_UNWIND_IMAGE_H
#define PP_UNWIND_IMAGE_H

#include "base/compiler.h"
#include "base/key_sort.h"
#include "sys/safe_read.h"
#include "unwind/copies.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct pp_image {
    uintptr_t lo, hi;           /* readable bounds */
    uintptr_t header;           /* .eh_frame_hdr, within the bounds; 0 = the module has none */
    uintptr_t code_lo, code_hi; /* addresses that the module's code may have */
    uintptr_t all_lo, all_hi;   /* bounds with holes, to be read only by copies; 0 = none */
    /* FDEs by address, if there is no table (modules/modules.h); NULL: none */
    const pp_keyed *frames;
    size_t frame_count;
    const pp_memory *memory; /* where it is; NULL: in this process */
    bool permanent;          /* may be read in place */
    bool cheap;              /* or else copies cost little */
    bool keep;               /* walks of the same epoch may use copies that were kept */
    uint64_t epoch;          /* of the loader, when the walk began */
} pp_image;

/* A sequential reader. After a failed read `failed` is set, and every further read returns 0. */
typedef struct pp_cursor {
    const pp_image *image;
    pp_chunk *chunk; /* of a removable image; cursors that are used by turns may share it */
    uintptr_t at, end;
    const uint8_t *bytes; /* the bytes at `at`, in place or in the chunk */
    size_t ready;         /* how many bytes can be read there */
    bool failed;
} pp_cursor;

/* Empties a chunk, before its first use. */
static inline void pp_chunk_clear(pp_chunk *chunk)
{
    chunk->lo = chunk->hi = 0;
}

void pp_cursor_init(pp_cursor *cursor, const pp_image *image, pp_chunk *chunk, uintptr_t at,
                    uintptr_t end);

static inline void pp_cursor_fail(pp_cursor *cursor)
{
    cursor->failed = true;
    cursor->ready = 0;
}

/* Goes on at `at`. A cursor whose chunk another cursor has loaded anew must be moved, too. */
static inline void pp_cursor_move(pp_cursor *cursor, uintptr_t at)
{
    cursor->at = at;
    cursor->ready = 0;
}

static inline void pp_cursor_set_end(pp_cursor *cursor, uintptr_t end)
{
    cursor->end = end;
    cursor->ready = 0;
}

/* Makes at least one byte ready, if there is one. */
bool pp_cursor_refill(pp_cursor *cursor);

static inline uint8_t pp_cursor_u8(pp_cursor *cursor)
{
    if (pp_unlikely(cursor->ready == 0) && !pp_cursor_refill(cursor)) {
        return 0;
    }
    cursor->ready--;
    cursor->at++;
    return *cursor->bytes++;
}

uint64_t pp_cursor_fixed(pp_cursor *cursor, unsigned size); /* little-endian, size <= 8 */
uint64_t pp_cursor_uleb(pp_cursor *cursor);
int64_t pp_cursor_sleb(pp_cursor *cursor);
void pp_cursor_skip(pp_cursor *cursor, uint64_t size);

/* Copies bytes that are within the bounds of a removable image. */
bool pp_image_copy_by_chunks(const pp_image *image, pp_chunk *chunk, uintptr_t at, uint8_t *to,
                             size_t size);

/* Copies [at, at + size) of the image; false if that is out of bounds or unmapped. Inline: a search
 * reads ten entries of a known size, mostly of one chunk. */
static inline bool pp_image_copy(const pp_image *image, pp_chunk *chunk, uintptr_t at, void *to,
                                 size_t size)
{
    if (at < image->lo || at > image->hi || size > image->hi - at) {
        return false;
    }
    if (image->permanent) {
        memcpy(to, (const void *)at, size);
        return true;
    }
    if (at >= chunk->lo && at < chunk->hi && size <= chunk->hi - at) {
        memcpy(to, chunk->bytes + (at - chunk->lo), size);
        return true;
    }
    return pp_image_copy_by_chunks(image, chunk, at, to, size);
}

#endif
