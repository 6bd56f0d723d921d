/* SPDX-License-Identifier: MIT
 *
 * words.h: copies data that another thread may be writing, word by word.
 *
 * The data has a sequence number. The reader reads the number before and after, and discards its
 * copy if the number has changed. So the copy may mix two versions, but each of its words must be
 * one that a thread stored. Fences order the words and the number:
 *
 *   writer   sequence = odd;  release fence;  words;  sequence = even, release
 *   reader   sequence, acquire;  words;  acquire fence;  sequence
 *
 * Zone: SIGNAL.
 */
#ifndef PP_BASE_WORDS_H
#define PP_BASE_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t __attribute__((may_alias)) pp_word;

/* Copies from `shared`, which is aligned to words; `bytes` is a multiple of the word size. */
static inline void pp_words_load(void *to, const void *shared, size_t bytes)
{
    const pp_word *from = shared;
    for (size_t i = 0; i < bytes / sizeof *from; i++) {
        uint64_t word = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
        memcpy((char *)to + i * sizeof word, &word, sizeof word);
    }
}

static inline void pp_words_store(void *shared, const void *from, size_t bytes)
{
    pp_word *to = shared;
    for (size_t i = 0; i < bytes / sizeof *to; i++) {
        uint64_t word = 0;
        memcpy(&word, (const char *)from + i * sizeof word, sizeof word);
        __atomic_store_n(&to[i], word, __ATOMIC_RELAXED);
    }
}

#endif
