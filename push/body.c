/* SPDX-License-Identifier: MIT
 *
 * body.c: see body.h.
 *
 * Tested by: unit.cmd_push_formats
 */
#include "push/body.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint8_t *push_body_extend(push_body *body, size_t size)
{
    size_t wanted = 0;
    if (body->failed || __builtin_add_overflow(body->size, size, &wanted)) {
        body->failed = true;
        return NULL;
    }
    if (wanted > body->capacity) {
        size_t capacity = wanted + wanted / 2 + 256;
        uint8_t *data = realloc(body->data, capacity);
        if (data == NULL) {
            body->failed = true;
            return NULL;
        }
        body->data = data;
        body->capacity = capacity;
    }
    uint8_t *place = body->data + body->size;
    body->size = wanted;
    return place;
}

void push_body_add(push_body *body, const void *data, size_t size)
{
    uint8_t *place = push_body_extend(body, size);
    if (place != NULL && size > 0) {
        memcpy(place, data, size);
    }
}

void push_body_add_text(push_body *body, const char *text)
{
    push_body_add(body, text, strlen(text));
}

void push_body_add_number(push_body *body, int64_t number)
{
    char text[24];
    int length = snprintf(text, sizeof text, "%lld", (long long)number);
    push_body_add(body, text, (size_t)length);
}

/* ---- UTF-8, JSON ---- */

/* The number of bytes of the character of UTF-8 that the text begins with; 0: it is none. */
static size_t utf8_length(const unsigned char *text)
{
    size_t length = *text < 0x80    ? 1
                    : *text < 0xc2  ? 0
                    : *text < 0xe0  ? 2
                    : *text < 0xf0  ? 3
                    : *text <= 0xf4 ? 4
                                    : 0;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool is_bad = (*text == 0xe0 && text[1] < 0xa0) || (*text == 0xed && text[1] > 0x9f) ||
                  (*text == 0xf0 && text[1] < 0x90) || (*text == 0xf4 && text[1] > 0x8f);
    return is_bad ? 0 : length;
}

static void add_utf8(push_body *body, const unsigned char *text, size_t length)
{
    if (length == 0) {
        push_body_add_text(body, "\xef\xbf\xbd");
    } else {
        push_body_add(body, text, length);
    }
}

void push_body_add_word(push_body *body, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    while (*at != '\0') {
        size_t length = utf8_length(at);
        add_utf8(body, at, length);
        at += length > 0 ? length : 1;
    }
    push_body_add(body, "", 1);
}

static void add_character(push_body *body, const unsigned char *text, size_t length)
{
    char escaped[8];
    if (*text == '"' || *text == '\\') {
        push_body_add_text(body, "\\");
        push_body_add(body, text, 1);
    } else if (*text < ' ') {
        snprintf(escaped, sizeof escaped, "\\u%04x", *text);
        push_body_add_text(body, escaped);
    } else {
        add_utf8(body, text, length);
    }
}

void push_body_add_json(push_body *body, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    push_body_add_text(body, "\"");
    while (*at != '\0') {
        size_t length = utf8_length(at);
        add_character(body, at, length);
        at += length > 0 ? length : 1;
    }
    push_body_add_text(body, "\"");
}

void push_body_add_base64(push_body *body, const void *data, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *in = data;
    uint8_t *out = push_body_extend(body, (size + 2) / 3 * 4);
    for (size_t i = 0; out != NULL && i < size; i += 3) {
        size_t left = size - i;
        uint32_t word = (uint32_t)in[i] << 16;
        word |= left > 1 ? (uint32_t)in[i + 1] << 8 : 0;
        word |= left > 2 ? in[i + 2] : 0;
        *out++ = (uint8_t)digits[word >> 18];
        *out++ = (uint8_t)digits[word >> 12 & 63];
        *out++ = (uint8_t)(left > 1 ? digits[word >> 6 & 63] : '=');
        *out++ = (uint8_t)(left > 2 ? digits[word & 63] : '=');
    }
}

void push_body_release(push_body *body)
{
    free(body->data);
    *body = PUSH_BODY_INIT;
}
