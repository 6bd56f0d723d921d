/* SPDX-License-Identifier: MIT
 *
 * text.h: builds short messages and numbers in fixed buffers, for code that must not use stdio.
 *
 * A text that does not fit is cut; it is always NUL-terminated.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_BASE_TEXT_H
#define PP_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

enum {
    PP_TEXT_CAPACITY = 512,
    PP_DECIMAL_BYTES = 21, /* 2^64 has 20 digits */
    PP_HEX_BYTES = 17
};

typedef struct pp_text {
    size_t length;
    char data[PP_TEXT_CAPACITY];
} pp_text;

#define PP_TEXT_INIT                                                                               \
    {                                                                                              \
        0,                                                                                         \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

/* Writes the decimal digits of `number` into the last bytes of `buffer`, NUL-terminated; returns
 * the first digit's address. */
const char *pp_decimal(uint64_t number, char buffer[PP_DECIMAL_BYTES]);

/* pp_hex() does the same in lowercase hexadecimal, without 0x. */
const char *pp_hex(uint64_t number, char buffer[PP_HEX_BYTES]);

void pp_text_add(pp_text *text, const char *more);
void pp_text_add_number(pp_text *text, uint64_t number);

/* Adds the number and the words. Of each "[word|words]" in them, the first form is for the number 1
 * and the second one for all others. */
void pp_text_add_count(pp_text *text, uint64_t number, const char *words);

#endif
