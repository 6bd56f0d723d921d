/* SPDX-License-Identifier: MIT
 *
 * mapped_bytes.h: bytes that grow, in mappings of their own: the server never calls the program's malloc.
 *
 * Owns: its mapping, until bytes_release().
 */
#ifndef PP_HTTP_MAPPED_BYTES_H
#define PP_HTTP_MAPPED_BYTES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct bytes {
    char *data; /* NULL before the first byte */
    size_t length, capacity;
} bytes;

/* Makes room for `more` bytes after data[length]. False if the kernel refuses memory. */
bool bytes_reserve(bytes *b, size_t more);

bool bytes_append(bytes *b, const void *data, size_t length);
bool bytes_append_text(bytes *b, const char *text);

/* Unmaps the memory; `b` is empty after that. */
void bytes_release(bytes *b);

#endif
