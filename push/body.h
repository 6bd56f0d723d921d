/* SPDX-License-Identifier: MIT
 *
 * body.h: bytes of a request, which grow as they are written.
 *
 * A body that could not grow stays as it is and has failed: whoever sends it checks that once.
 */
#ifndef PUSH_BODY_H
#define PUSH_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct push_body {
    uint8_t *data;
    size_t size, capacity;
    bool failed;
} push_body;

#define PUSH_BODY_INIT ((push_body){NULL, 0, 0, false})

void push_body_add(push_body *body, const void *data, size_t size);
void push_body_add_text(push_body *body, const char *text);

/* A decimal number. */
void push_body_add_number(push_body *body, int64_t number);

/* The text with its NUL; bytes that are not UTF-8 become U+FFFD. */
void push_body_add_word(push_body *body, const char *text);

/* The text as a string of JSON, with its quotes. Bytes that are not UTF-8 become U+FFFD. */
void push_body_add_json(push_body *body, const char *text);

/* The same bytes in base64, as JSON carries them; without quotes. */
void push_body_add_base64(push_body *body, const void *data, size_t size);

/* Makes room for `size` bytes and counts them; NULL: the body has failed. */
uint8_t *push_body_extend(push_body *body, size_t size);

void push_body_release(push_body *body);

#endif
