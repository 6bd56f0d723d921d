/* SPDX-License-Identifier: MIT
 *
 * utf8.c: see utf8.h.
 *
 * Tested by: unit.cmd_json.
 */
#include "base/utf8.h"

size_t cp_utf8_bytes(const char *text, size_t length)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t bytes = *at < 0x80 ? 1 : *at < 0xc2 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;

    if (bytes == 0 || *at > 0xf4 || bytes > length) {
        return 0;
    }
    for (size_t i = 1; i < bytes; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    if ((*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f) ||
        (*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] > 0x8f)) {
        return 0; /* longer than it has to be, a surrogate, or above U+10FFFF */
    }
    return bytes;
}

uint32_t cp_utf8_code(const char *text, size_t bytes)
{
    static const uint8_t masks[] = {0xff, 0xff, 0x1f, 0x0f, 0x07};
    uint32_t code = (uint8_t)*text & masks[bytes];

    for (size_t i = 1; i < bytes; i++) {
        code = code << 6 | ((uint8_t)text[i] & 0x3f);
    }
    return code;
}
