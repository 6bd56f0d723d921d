/* SPDX-License-Identifier: MIT
 *
 * live_keys.h: which keys the bytes are that a terminal sends.
 *
 * A key such as an arrow sends several bytes, which may come in pieces. Bytes that are no key are
 * dropped: nothing that is typed, pasted or sent by a mouse makes the reader lose its place.
 */
#ifndef CP_LIVE_KEYS_H
#define CP_LIVE_KEYS_H

#include <stdbool.h>
#include <stddef.h>

/* A key is a byte of text, or one of these. */
enum {
    CP_KEY_NONE = 0,
    CP_KEY_ENTER = '\r',
    CP_KEY_ESCAPE = 27,
    CP_KEY_ERASE = 127,
    CP_KEY_UP = 256,
    CP_KEY_DOWN,
    CP_KEY_LEFT,
    CP_KEY_RIGHT,
    CP_KEY_PAGE_UP,
    CP_KEY_PAGE_DOWN,
    CP_KEY_HOME,
    CP_KEY_END
};

/* Begins as zeros. */
typedef struct cp_key_reader {
    char pending[16]; /* a sequence that has begun */
    size_t length;
} cp_key_reader;

/* Takes a byte. Returns the key that it completes, or CP_KEY_NONE. */
int cp_key_next(cp_key_reader *reader, char byte);

/* Whether a sequence has begun. If nothing more comes for a moment, it was the key Escape. */
bool cp_key_is_pending(const cp_key_reader *reader);

/* Ends a sequence that has begun: returns CP_KEY_ESCAPE if that is all that came. */
int cp_key_give_up(cp_key_reader *reader);

#endif
