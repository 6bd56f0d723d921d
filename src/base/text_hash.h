/* SPDX-License-Identifier: MIT
 *
 * text_hash.h: hashes a text, eight bytes at once, as if they were a PC.
 *
 * One byte after the other would take longer than all other work on a set of labels or on the texts of
 * a profile. Nobody makes texts of the own process collide on purpose.
 *
 * Zone: SIGNAL (pure arithmetic).
 */
#ifndef PP_BASE_TEXT_HASH_H
#define PP_BASE_TEXT_HASH_H

#include "base/stack_hash.h"

#include <stddef.h>
#include <string.h>

static inline uint64_t pp_text_hash(const char *text, size_t size)
{
    uint64_t hash = size;
    uint64_t word = 0;
    size_t rest = size % sizeof word;
    for (const char *end = text + size - rest; text < end; text += sizeof word) {
        memcpy(&word, text, sizeof word);
        hash = pp_stack_hash_extend(hash, word);
    }
    word = 0;
    for (size_t i = 0; i < rest; i++) {
        word = word << 8 | (uint8_t)text[i];
    }
    return pp_stack_hash_extend(hash, word);
}

#endif
