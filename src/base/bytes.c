/* SPDX-License-Identifier: MIT
 *
 * bytes.c: plain loops. What is copied and compared often is short: stacks and names. The file is compiled so that the
 * compiler does not make calls of the functions out of their own loops.
 *
 * Zone: SIGNAL.
 * Locks: none.
 * Owns: nothing.
 */
#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

/* Anywhere, of anything: 16 bytes, which are one register. */
typedef struct block {
    uint64_t word[2];
} __attribute__((packed, may_alias)) block;

typedef uint64_t word __attribute__((may_alias, aligned(1)));
typedef unsigned char byte;

/* Each piece is read before it is written, so that `to` may lie in front of what it overlaps with. */
static void copy_forward(byte *to, const byte *from, size_t size)
{
    for (; size >= sizeof(block); size -= sizeof(block)) {
        *(block *)to = *(const block *)from;
        to += sizeof(block);
        from += sizeof(block);
    }
    if (size >= sizeof(word)) {
        *(word *)to = *(const word *)from;
        to += sizeof(word);
        from += sizeof(word);
        size -= sizeof(word);
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
    for (; size >= sizeof(block); size -= sizeof(block)) {
        *(block *)at = (block){{all, all}};
        at += sizeof(block);
    }
    while (size-- > 0) {
        *at++ = (byte)value;
    }
    return to;
}

static inline bool are_equal(const block *a, const block *b)
{
    return ((a->word[0] ^ b->word[0]) | (a->word[1] ^ b->word[1])) == 0;
}

int memcmp(const void *a, const void *b, size_t size)
{
    const byte *x = a;
    const byte *y = b;
    while (size >= sizeof(block) && are_equal((const block *)x, (const block *)y)) {
        x += sizeof(block);
        y += sizeof(block);
        size -= sizeof(block);
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
