/* SPDX-License-Identifier: MIT
 *
 * live_keys.c: see live_keys.h.
 *
 *   ESC [ 5 ~      a final letter, after numbers and other parameters [ECMA-48 5.4]
 *   ESC O A        the arrows of a terminal in application mode
 */
#include "live/live_keys.h"

#include <string.h>

static const struct {
    const char *sequence; /* after Escape */
    int key;
} sequences[] = {
    {"[A", CP_KEY_UP},       {"[B", CP_KEY_DOWN},       {"[C", CP_KEY_RIGHT}, {"[D", CP_KEY_LEFT},
    {"OA", CP_KEY_UP},       {"OB", CP_KEY_DOWN},       {"OC", CP_KEY_RIGHT}, {"OD", CP_KEY_LEFT},
    {"[5~", CP_KEY_PAGE_UP}, {"[6~", CP_KEY_PAGE_DOWN}, {"[H", CP_KEY_HOME},  {"[F", CP_KEY_END},
    {"[1~", CP_KEY_HOME},    {"[4~", CP_KEY_END},       {"OH", CP_KEY_HOME},  {"OF", CP_KEY_END},
};

static int key_of(const char *sequence, size_t length)
{
    for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++) {
        if (strlen(sequences[i].sequence) == length &&
            memcmp(sequences[i].sequence, sequence, length) == 0) {
            return sequences[i].key;
        }
    }
    return CP_KEY_NONE;
}

/* Whether the bytes after Escape are a whole sequence. */
static bool is_whole(const char *sequence, size_t length)
{
    char last = sequence[length - 1];

    if (length == 1) {
        return last != '[' && last != 'O';
    }
    return last >= '@' && last <= '~';
}

/* A sequence that is too long to be known is dropped as its bytes come. */
static void keep(cp_key_reader *reader, char byte)
{
    if (reader->length == sizeof reader->pending) {
        reader->length--;
    }
    reader->pending[reader->length++] = byte;
}

static int begin(cp_key_reader *reader, char byte)
{
    if (byte == CP_KEY_ESCAPE) {
        keep(reader, byte);
        return CP_KEY_NONE;
    }
    if (byte == '\b') {
        return CP_KEY_ERASE;
    }
    return byte == '\n' ? CP_KEY_ENTER : (unsigned char)byte;
}

int cp_key_next(cp_key_reader *reader, char byte)
{
    if (reader->length == 0 || byte == CP_KEY_ESCAPE) {
        reader->length = 0;
        return begin(reader, byte);
    }
    keep(reader, byte);
    if (!is_whole(reader->pending + 1, reader->length - 1)) {
        return CP_KEY_NONE;
    }
    int key = key_of(reader->pending + 1, reader->length - 1);
    reader->length = 0;
    return key;
}

bool cp_key_is_pending(const cp_key_reader *reader)
{
    return reader->length > 0;
}

int cp_key_give_up(cp_key_reader *reader)
{
    int key = reader->length == 1 ? CP_KEY_ESCAPE : CP_KEY_NONE;

    reader->length = 0;
    return key;
}
