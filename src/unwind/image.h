/* SPDX-License-Identifier: MIT
 *
 * image.h: the bytes of one module's call-frame information, and a bounded cursor over them.
 *
 * CFI is read in signal handlers, from modules that another thread may be unloading. A module that
 * cannot go away (the program, what it is linked to, the vDSO) is read in place; any other through
 * pp_safe_copy(), which returns an error where a load would fault.
 *
 *   module  [ ... | .eh_frame_hdr | .eh_frame | ... ]
 *           lo                                      hi     nothing outside [lo, hi) is ever read
 *
 * Zone: SIGNAL.
 * Locks: none.
 * Owns: nothing.
 */
#ifndef PP_UNWIND_IMAGE_H
#define PP_UNWIND_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PP_BLOCK_BYTES = 512 };

/* A copied part of a removable image. A copy costs a system call, whatever its size. */
typedef struct pp_block {
    uintptr_t lo, hi; /* what it holds */
    uint8_t bytes[PP_BLOCK_BYTES];
} pp_block;

typedef struct pp_image {
    uintptr_t lo, hi;           /* readable bounds */
    uintptr_t header;           /* .eh_frame_hdr, within the bounds; 0 = the module has none */
    uintptr_t code_lo, code_hi; /* addresses that the module's code may have */
    bool permanent;             /* may be read in place */
} pp_image;

/* A sequential reader. After a failed read `failed` is set, every further read gives 0. */
typedef struct pp_cursor {
    const pp_image *image;
    pp_block *block; /* of a removable image; may be shared by cursors that are used by turns */
    uintptr_t at, end;
    bool failed;
} pp_cursor;

/* Before the first use of a block. */
static inline void pp_block_clear(pp_block *block)
{
    block->lo = block->hi = 0;
}

void pp_cursor_init(pp_cursor *cursor, const pp_image *image, pp_block *block, uintptr_t at,
                    uintptr_t end);
uint8_t pp_cursor_u8(pp_cursor *cursor);
uint64_t pp_cursor_fixed(pp_cursor *cursor, unsigned size); /* little-endian, size <= 8 */
uint64_t pp_cursor_uleb(pp_cursor *cursor);
int64_t pp_cursor_sleb(pp_cursor *cursor);
void pp_cursor_skip(pp_cursor *cursor, uint64_t size);

/* Makes `block` hold what follows `at`, as much as fits; false if the image is gone. Nothing to do for
 * a permanent image. */
bool pp_image_load(const pp_image *image, pp_block *block, uintptr_t at);

/* Copies [at, at + size) of the image, which fits into a block; false if it is out of bounds or gone.
 */
bool pp_image_copy(const pp_image *image, pp_block *block, uintptr_t at, void *to, size_t size);

#endif
