/* SPDX-License-Identifier: MIT
 *
 * words.h: copies of what another thread may be writing.
 *
 * Of something with a sequence number: the reader looks at the number before and after, and throws
 * away what it has copied if it has changed. So the copy may be of two halves that do not belong
 * together, but each of its words has to be one that was stored. Which of them are seen is up to
 * fences:
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

/* `shared` is aligned to words, and `bytes` is a whole number of them. */
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
