/* SPDX-License-Identifier: MIT
 *
 * string_pool.h: a table with every string of a profile once, under a small number.
 *
 * Two strings of one table are equal if and only if their numbers are: names are cheap to compare
 * and to group. Number 0 is the empty string, as in profile.proto. A string may have any bytes,
 * also zero bytes; a NUL follows its last byte.
 *
 * Owns: the index. The bytes are copied into the pool of cp_strings_init().
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
    const char **raw; /* of those that were there: what they were; NULL: what they are */
    uint32_t raw_count;
} cp_strings;

void cp_strings_init(cp_strings *strings, cp_pool *pool);
void cp_strings_release(cp_strings *strings);

/* Makes room for about `count` strings at once. */
void cp_strings_expect(cp_strings *strings, uint32_t count);

cp_string cp_strings_add(cp_strings *strings, const char *data, size_t length);
/* cp_strings_put() does the same with a C string. */
cp_string cp_strings_put(cp_strings *strings, const char *text);
/* cp_strings_copy() does the same with a string of another table. */
cp_string cp_strings_copy(cp_strings *strings, const cp_strings *from, cp_string string);

/* Shows the control characters of all strings escaped (printable.h). Strings keep their numbers; two
 * may be equal afterwards. */
void cp_strings_make_printable(cp_strings *strings);

/* The string as it was before, such as the name of a file that is to be opened. */
static inline const char *cp_strings_raw(const cp_strings *strings, cp_string string)
{
    return string < strings->raw_count ? strings->raw[string] : strings->entries[string].data;
}

static inline const char *cp_strings_get(const cp_strings *strings, cp_string string)
{
    return strings->entries[string].data;
}

static inline size_t cp_strings_length(const cp_strings *strings, cp_string string)
{
    return strings->entries[string].length;
}

/* An odd number, by chance, once for the process. */
uint64_t cp_hash_secret(void);

/* The 64-bit hash of some bytes. For several pieces, the hash of one is the seed of the next. It is another one in each
 * process, so that nobody can choose bytes of one hash. */
uint64_t cp_hash_bytes(const void *data, size_t length, uint64_t seed);

/* The same in all processes, for files. */
uint64_t cp_hash_stable(const void *data, size_t length, uint64_t seed);

#endif
