/* SPDX-License-Identifier: MIT
 *
 * string_pool.h: every string of a profile once, named by a small number.
 *
 * Two strings of one table are equal if and only if their numbers are, which makes names cheap to
 * compare and to group by. Number 0 is always the empty string, as in profile.proto. Strings may
 * hold any bytes, zero bytes included; a NUL follows the last one.
 *
 * Owns: the index; the bytes are copied into the pool that the table was initialised with.
 */
#ifndef CP_STRING_POOL_H
#define CP_STRING_POOL_H

#include <stddef.h>
#include <stdint.h>

typedef struct cp_pool cp_pool;

typedef uint32_t cp_string;

typedef struct cp_string_entry {
    const char *data;
    size_t length;
    uint64_t hash;
} cp_string_entry;

typedef struct cp_strings {
    cp_pool *pool;
    cp_string_entry *entries;
    uint32_t count, capacity;
    uint32_t *slots; /* open addressing: entry number + 1, or 0 */
    uint32_t slot_count;
} cp_strings;

void cp_strings_init(cp_strings *strings, cp_pool *pool);
void cp_strings_release(cp_strings *strings);

cp_string cp_strings_add(cp_strings *strings, const char *data, size_t length);
/* The same for a C string. */
cp_string cp_strings_put(cp_strings *strings, const char *text);

static inline const char *cp_strings_get(const cp_strings *strings, cp_string string)
{
    return strings->entries[string].data;
}

static inline size_t cp_strings_length(const cp_strings *strings, cp_string string)
{
    return strings->entries[string].length;
}

/* 64-bit hash of bytes; `seed` chains several pieces. */
uint64_t cp_hash_bytes(const void *data, size_t length, uint64_t seed);

#endif
