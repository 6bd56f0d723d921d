/* SPDX-License-Identifier: MIT
 *
 * utf8.c: decodes UTF-8 (contract in the header).
 *
 * Zone: SIGNAL.
 * Tested by: unit.quoted, unit.cmd_json
 */
#include "base/utf8.h"

size_t pp_utf8_length(const void *bytes, size_t length)
{
    const uint8_t *text = bytes;
    uint8_t lead = text[0];
    if (lead < 0x80) {
        return 1;
    }
    size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || size > length) {
        return 0;
    }
    /* The second byte's range excludes overlong forms, surrogates and code points above
     * U+10FFFF. */
    uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (text[1] < low || text[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < size; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return size;
}

uint32_t pp_utf8_character(const void *bytes, size_t size)
{
    const uint8_t *text = bytes;
    uint32_t character = size == 1 ? text[0] : text[0] & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        character = character << 6 | (text[i] & 0x3f);
    }
    return character;
}
