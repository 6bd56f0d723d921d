/* SPDX-License-Identifier: MIT
 *
 * string_pool.c: see string_pool.h. The index is an open hash table, at most half full.
 *
 * Owns: entries and slots.
 * Tested by: unit.cmd_decode, unit.cmd_merge.
 */
#include "base/string_pool.h"

#include "base/pool.h"
#include "base/printable.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define FIRST_CAPACITY 64u
#define MOST_EXPECTED  (1u << 16) /* a broken file may say anything */

static inline uint64_t fold(uint64_t hash, uint64_t word)
{
    unsigned __int128 product = (unsigned __int128)(hash ^ word) * 0xd6e8feb86659fd93u;

    return (uint64_t)product ^ (uint64_t)(product >> 64) ^ 0x2545f4914f6cdd1du;
}

/* Folds in one 8-byte word after the other, each by a multiplication of its own, so that the order
 * of the words matters. */
uint64_t cp_hash_stable(const void *data, size_t length, uint64_t seed)
{
    const unsigned char *bytes = data;
    uint64_t hash = seed ^ (0x9e3779b97f4a7c15u + length);
    uint64_t word;

    for (; length >= sizeof word; length -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = fold(hash, word);
        bytes += sizeof word;
    }
    if (length) {
        word = 0;
        memcpy(&word, bytes, length);
        hash = fold(hash, word);
    }
    return hash ^ (hash >> 29);
}

uint64_t cp_hash_secret(void)
{
    static uint64_t shared;
    uint64_t found = __atomic_load_n(&shared, __ATOMIC_RELAXED), fresh = 0;

    if (found) {
        return found;
    }
    if (getrandom(&fresh, sizeof fresh, GRND_NONBLOCK) != (ssize_t)sizeof fresh) {
        fresh = 0x9e3779b97f4a7c15u;
    }
    fresh |= 1;
    /* Another thread may have been first. */
    return __atomic_compare_exchange_n(&shared, &found, fresh, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED)
               ? fresh
               : found;
}

uint64_t cp_hash_bytes(const void *data, size_t length, uint64_t seed)
{
    return cp_hash_stable(data, length, seed ^ cp_hash_secret());
}

void cp_strings_init(cp_strings *strings, cp_pool *pool)
{
    memset(strings, 0, sizeof *strings);
    strings->pool = pool;
    strings->capacity = FIRST_CAPACITY;
    strings->entries = cp_heap_alloc(strings->capacity, sizeof *strings->entries);
    strings->slot_count = 2 * FIRST_CAPACITY;
    strings->slots = cp_heap_alloc(strings->slot_count, sizeof *strings->slots);
    cp_strings_add(strings, "", 0);
}

void cp_strings_release(cp_strings *strings)
{
    free(strings->entries);
    free(strings->slots);
    memset(strings, 0, sizeof *strings);
}

/* The slot of the string, or the empty slot where the string belongs. */
static uint32_t *find_slot(const cp_strings *strings, const char *data, size_t length,
                           uint64_t hash)
{
    uint32_t mask = strings->slot_count - 1;
    uint32_t at = (uint32_t)hash & mask;

    while (strings->slots[at]) {
        const cp_string_entry *entry = &strings->entries[strings->slots[at] - 1];
        if (entry->hash == hash && entry->length == length &&
            memcmp(entry->data, data, length) == 0) {
            break;
        }
        at = (at + 1) & mask;
    }
    return &strings->slots[at];
}

/* `capacity` is a power of 2. */
static void resize(cp_strings *strings, uint32_t capacity)
{
    strings->capacity = capacity;
    strings->entries = cp_heap_resize(strings->entries, capacity, sizeof *strings->entries);
    free(strings->slots);
    strings->slot_count = 2 * capacity;
    strings->slots = cp_heap_alloc(strings->slot_count, sizeof *strings->slots);
    for (uint32_t i = 0; i < strings->count; i++) {
        const cp_string_entry *entry = &strings->entries[i];
        *find_slot(strings, entry->data, entry->length, entry->hash) = i + 1;
    }
}

void cp_strings_expect(cp_strings *strings, uint32_t count)
{
    uint32_t capacity = strings->capacity;

    while (capacity < count && capacity < MOST_EXPECTED) {
        capacity *= 2;
    }
    if (capacity > strings->capacity) {
        resize(strings, capacity);
    }
}

static cp_string add_hashed(cp_strings *strings, const char *data, size_t length, uint64_t hash)
{
    uint32_t *slot = find_slot(strings, data, length, hash);

    if (*slot) {
        return *slot - 1;
    }
    if (strings->count == strings->capacity) {
        resize(strings, 2 * strings->capacity);
        slot = find_slot(strings, data, length, hash);
    }
    cp_string_entry *entry = &strings->entries[strings->count++];
    entry->data = cp_pool_copy(strings->pool, data, length);
    entry->length = length;
    entry->hash = hash;
    *slot = strings->count;
    return strings->count - 1;
}

cp_string cp_strings_add(cp_strings *strings, const char *data, size_t length)
{
    return add_hashed(strings, data, length, cp_hash_bytes(data, length, 0));
}

cp_string cp_strings_copy(cp_strings *strings, const cp_strings *from, cp_string string)
{
    const cp_string_entry *entry = &from->entries[string];

    return add_hashed(strings, entry->data, entry->length, entry->hash);
}

cp_string cp_strings_put(cp_strings *strings, const char *text)
{
    return cp_strings_add(strings, text, strlen(text));
}

static void keep_raw(cp_strings *strings)
{
    if (strings->raw) {
        return;
    }
    strings->raw = CP_POOL_ARRAY(strings->pool, const char *, strings->count);
    strings->raw_count = strings->count;
    for (uint32_t i = 0; i < strings->count; i++) {
        strings->raw[i] = strings->entries[i].data;
    }
}

static void make_printable(cp_strings *strings, cp_string_entry *entry)
{
    char *shown = cp_printable(entry->data, entry->length);

    entry->length = strlen(shown);
    entry->data = cp_pool_copy(strings->pool, shown, entry->length);
    entry->hash = cp_hash_bytes(shown, entry->length, 0);
    free(shown);
}

void cp_strings_make_printable(cp_strings *strings)
{
    bool any = false;

    for (uint32_t i = 0; i < strings->count; i++) {
        cp_string_entry *entry = &strings->entries[i];

        if (cp_has_controls(entry->data, entry->length)) {
            keep_raw(strings);
            make_printable(strings, entry);
            any = true;
        }
    }
    if (any) {
        resize(strings, strings->capacity); /* which makes the index anew */
    }
}
