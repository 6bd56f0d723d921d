/* SPDX-License-Identifier: MIT
 *
 * bytes.c: plain loops, because the library mostly copies and compares short data: stacks and
 * names.
 *
 * The build compiles this file so that the compiler does not replace a loop by a call of the very
 * function.
 *
 * Zone: SIGNAL.
 */
#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

/* These types may have any alignment and alias any type. A vector is one register; a loop handles
 * four of them at a time. */
typedef uint64_t vector __attribute__((vector_size(16), may_alias, aligned(1)));
typedef uint64_t word __attribute__((may_alias, aligned(1)));
typedef unsigned char byte;

enum { VECTORS = 4, BLOCK = VECTORS * sizeof(vector) };

/* Reads each block before it writes one, so that `to` may precede an overlapping `from`. */
static void copy_forward(byte *to, const byte *from, size_t size)
{
    for (; size >= BLOCK; size -= BLOCK) {
        const vector *source = (const vector *)from;
        vector first = source[0];
        vector second = source[1];
        vector third = source[2];
        vector fourth = source[3];
        vector *target = (vector *)to;
        target[0] = first;
        target[1] = second;
        target[2] = third;
        target[3] = fourth;
        to += BLOCK;
        from += BLOCK;
    }
    for (; size >= sizeof(word); size -= sizeof(word)) {
        *(word *)to = *(const word *)from;
        to += sizeof(word);
        from += sizeof(word);
    }
    while (size-- > 0) {
        *to++ = *from++;
    }
}

static void copy_backward(byte *to, const byte *from, size_t size)
{
    for (; size >= sizeof(word); size -= sizeof(word)) {
        *(word *)(to + size - sizeof(word)) = *(const word *)(from + size - sizeof(word));
    }
    while (size-- > 0) {
        to[size] = from[size];
    }
}

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    copy_forward(to, from, size);
    return to;
}

void *memmove(void *to, const void *from, size_t size)
{
    if ((uintptr_t)to - (uintptr_t)from >= size) {
        copy_forward(to, from, size);
    } else {
        copy_backward(to, from, size);
    }
    return to;
}

void *memset(void *to, int value, size_t size)
{
    byte *at = to;
    uint64_t all = (byte)value * 0x0101010101010101u;
    const vector both = {all, all};
    for (; size >= BLOCK; size -= BLOCK) {
        vector *target = (vector *)at;
        target[0] = target[1] = target[2] = target[3] = both;
        at += BLOCK;
    }
    for (; size >= sizeof(word); size -= sizeof(word)) {
        *(word *)at = all;
        at += sizeof(word);
    }
    while (size-- > 0) {
        *at++ = (byte)value;
    }
    return to;
}

static inline bool are_equal(const vector *a, const vector *b)
{
    vector difference = (a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]);
    return (difference[0] | difference[1]) == 0;
}

int memcmp(const void *a, const void *b, size_t size)
{
    const byte *x = a;
    const byte *y = b;
    for (; size >= BLOCK && are_equal((const vector *)x, (const vector *)y); size -= BLOCK) {
        if (size < (size_t)2 * BLOCK &&
            are_equal((const vector *)(x + size - BLOCK), (const vector *)(y + size - BLOCK))) {
            return 0; /* the last block overlaps with the one before */
        }
        x += BLOCK;
        y += BLOCK;
    }
    while (size >= sizeof(word) && *(const word *)x == *(const word *)y) {
        x += sizeof(word);
        y += sizeof(word);
        size -= sizeof(word);
    }
    for (; size > 0; size--, x++, y++) {
        if (*x != *y) {
            return *x - *y;
        }
    }
    return 0;
}

void *memchr(const void *bytes, int wanted, size_t size)
{
    for (const byte *at = bytes; size > 0; size--, at++) {
        if (*at == (byte)wanted) {
            return (void *)(uintptr_t)at;
        }
    }
    return NULL;
}

size_t strlen(const char *text)
{
    size_t length = 0;
    while (text[length] != '\0') {
        length++;
    }
    return length;
}

size_t strnlen(const char *text, size_t most)
{
    size_t length = 0;
    while (length < most && text[length] != '\0') {
        length++;
    }
    return length;
}

int strncmp(const char *a, const char *b, size_t most)
{
    for (; most > 0; most--, a++, b++) {
        if (*a != *b || *a == '\0') {
            return (byte)*a - (byte)*b;
        }
    }
    return 0;
}

int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, SIZE_MAX);
}

char *strchr(const char *text, int wanted)
{
    while (*text != (char)wanted && *text != '\0') {
        text++;
    }
    return *text == (char)wanted ? (char *)(uintptr_t)text : NULL;
}

char *strrchr(const char *text, int wanted)
{
    const char *last = NULL;
    for (;; text++) {
        if (*text == (char)wanted) {
            last = text;
        }
        if (*text == '\0') {
            return (char *)(uintptr_t)last;
        }
    }
}

char *strstr(const char *text, const char *wanted)
{
    size_t length = strlen(wanted);
    while (strncmp(text, wanted, length) != 0) {
        if (*text++ == '\0') {
            return NULL;
        }
    }
    return (char *)(uintptr_t)text;
}

size_t strspn(const char *text, const char *accepted)
{
    size_t length = 0;
    while (text[length] != '\0' && strchr(accepted, text[length]) != NULL) {
        length++;
    }
    return length;
}

size_t strcspn(const char *text, const char *rejected)
{
    size_t length = 0;
    while (text[length] != '\0' && strchr(rejected, text[length]) == NULL) {
        length++;
    }
    return length;
}
