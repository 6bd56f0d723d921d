/* SPDX-License-Identifier: MIT
 *
 * base64.c: see base64.h.
 *
 * Tested by: page.logic
 */
#include "page/base64.h"

void base64_group(const uint8_t *data, size_t left, char digits[BASE64_DIGITS])
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t group = (uint32_t)data[0] << 16;

    group |= left > 1 ? (uint32_t)data[1] << 8 : 0;
    group |= left > 2 ? data[2] : 0;
    for (unsigned i = 0; i < BASE64_DIGITS; i++) {
        digits[i] = '=';
        if (i <= left) {
            digits[i] = alphabet[group >> (18 - 6 * i) & 63];
        }
    }
}
