/* SPDX-License-Identifier: MIT
 *
 * text.c: appending to a fixed buffer.
 *
 * Zone: SIGNAL.
 * Locks: none.
 * Owns: nothing.
 */
#include "base/text.h"

void pp_text_add(pp_text *text, const char *more)
{
    while (*more != '\0' && text->length + 1 < PP_TEXT_CAPACITY) {
        text->data[text->length++] = *more++;
    }
    text->data[text->length] = '\0';
}

void pp_text_add_number(pp_text *text, uint64_t number)
{
    char digits[21]; /* 2^64 has 20 */
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    pp_text_add(text, &digits[at]);
}
