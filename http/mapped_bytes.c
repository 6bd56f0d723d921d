/* SPDX-License-Identifier: MIT
 *
 * mapped_bytes.c: see mapped_bytes.h.
 *
 * Tested by: e2e.http_server
 */
#include "mapped_bytes.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { FIRST = 16384 };

bool bytes_reserve(bytes *b, size_t more)
{
    size_t capacity = b->capacity == 0 ? FIRST : b->capacity;
    size_t wanted = b->length + more;
    if (wanted < more || wanted > SIZE_MAX / 4) {
        return false;
    }
    while (capacity < wanted) {
        capacity *= 2;
    }
    if (capacity == b->capacity) {
        return true;
    }
    void *data = b->data == NULL ? mmap(NULL, capacity, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                 : mremap(b->data, b->capacity, capacity, MREMAP_MAYMOVE);
    if (data == MAP_FAILED) {
        return false;
    }
    b->data = data;
    b->capacity = capacity;
    return true;
}

bool bytes_append(bytes *b, const void *data, size_t length)
{
    if (!bytes_reserve(b, length)) {
        return false;
    }
    if (length > 0) {
        memcpy(b->data + b->length, data, length);
    }
    b->length += length;
    return true;
}

bool bytes_append_text(bytes *b, const char *text)
{
    return bytes_append(b, text, strlen(text));
}

void bytes_release(bytes *b)
{
    if (b->data != NULL) {
        munmap(b->data, b->capacity);
    }
    *b = (bytes){.data = NULL};
}
