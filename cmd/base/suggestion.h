/* SPDX-License-Identifier: MIT
 *
 * suggestion.h: "did you mean": the known word that is nearest to what the user typed.
 *
 * Words are near if few letters have to be added, left out, replaced or swapped with their
 * neighbour: one for each three letters of the longer word. The beginning of a word, of two letters
 * or more, is near too.
 */
#ifndef CP_SUGGESTION_H
#define CP_SUGGESTION_H

#include <stddef.h>

/* Room for the text of cp_suggestion_text(). */
enum { CP_SUGGESTION_BYTES = 96 };

typedef struct cp_suggestion {
    const char *typed;
    size_t length;    /* of typed */
    const char *word; /* the nearest so far, or NULL */
    size_t distance;  /* of that word */
} cp_suggestion;

/* `typed` is not copied. */
void cp_suggestion_init(cp_suggestion *suggestion, const char *typed, size_t length);

/* Takes a known word into account; NULL counts for nothing. The word is not copied. */
void cp_suggestion_offer(cp_suggestion *suggestion, const char *word);

/* Writes "; did you mean BEFOREword?", or an empty text if no word is near. Returns the buffer. */
const char *cp_suggestion_text(const cp_suggestion *suggestion, const char *before,
                               char buffer[CP_SUGGESTION_BYTES]);

#endif
