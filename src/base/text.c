/* SPDX-License-Identifier: MIT
 *
 * text.c: appends to a fixed buffer, and writes numbers as text.
 *
 * Zone: SIGNAL.
 */
#include "base/text.h"

#include <stdbool.h>

const char *pp_decimal(uint64_t number, char buffer[PP_DECIMAL_BYTES])
{
    char *at = &buffer[PP_DECIMAL_BYTES - 1];
    *at = '\0';
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    return at;
}

const char *pp_hex(uint64_t number, char buffer[PP_HEX_BYTES])
{
    char *at = &buffer[PP_HEX_BYTES - 1];
    *at = '\0';
    do {
        *--at = "0123456789abcdef"[number & 15];
        number >>= 4;
    } while (number != 0);
    return at;
}

void pp_text_add(pp_text *text, const char *more)
{
    while (*more != '\0' && text->length + 1 < PP_TEXT_CAPACITY) {
        text->data[text->length++] = *more++;
    }
    text->data[text->length] = '\0';
}

void pp_text_add_number(pp_text *text, uint64_t number)
{
    char digits[PP_DECIMAL_BYTES];
    pp_text_add(text, pp_decimal(number, digits));
}

void pp_text_add_count(pp_text *text, uint64_t number, const char *words)
{
    bool left_out = false;
    pp_text_add_number(text, number);
    for (; *words != '\0'; words++) {
        char letter[2] = {*words, '\0'};
        if (*words == '[') {
            left_out = number != 1;
        } else if (*words == '|') {
            left_out = number == 1;
        } else if (*words == ']') {
            left_out = false;
        } else if (!left_out) {
            pp_text_add(text, letter);
        }
    }
}
