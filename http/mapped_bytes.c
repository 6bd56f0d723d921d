/* SPDX-License-Identifier: MIT
 *
 * mapped_bytes.c: see mapped_bytes.h.
 *
 * Tested by: unit.mapped_bytes, e2e.http_server
 */
#include "mapped_bytes.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { FIRST = 16384 };

/* Takes the memory from `b` before it is moved or unmapped: a fork after that copies `b`, and its child releases the
 * bytes that it has inherited. By then another thread may have memory at the same address. */
static char *take(bytes *b)
{
    char *data = b->data;
    __atomic_store_n(&b->data, NULL, __ATOMIC_RELAXED);
    return data;
}

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
    char *before = take(b);
    void *data = before == NULL ? mmap(NULL, capacity, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                : mremap(before, b->capacity, capacity, MREMAP_MAYMOVE);
    bool is_there = data != MAP_FAILED;
    b->data = is_there ? data : before;
    b->capacity = is_there ? capacity : b->capacity;
    return is_there;
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
    char *data = take(b);
    if (data != NULL) {
        munmap(data, b->capacity);
    }
    *b = (bytes){.data = NULL};
}
