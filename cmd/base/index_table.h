/* SPDX-License-Identifier: MIT
 *
 * index_table.h: an open hash table of indices into an array. Its user compares the elements.
 *
 *   uint64_t at = hash;
 *   while (cp_index_next(&table, hash, &at, &index)) {
 *       if element `index` is the wanted one: it is found
 *   }
 *
 * Owns: the slots of a table, until cp_index_release().
 */
#ifndef CP_INDEX_TABLE_H
#define CP_INDEX_TABLE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cp_index_table {
    uint32_t *slots; /* index + 1, or 0 */
    uint64_t *hashes;
    uint64_t mask;
    uint64_t used;
} cp_index_table;

/* `slots` is a power of 2. The table grows when it is half full. */
void cp_index_init(cp_index_table *table, uint64_t slots);
void cp_index_release(cp_index_table *table);

/* Adds an index that is not in the table. */
void cp_index_add(cp_index_table *table, uint64_t hash, uint32_t index);

/* Steps to the next index with that hash; false if there is no other. *at starts as the hash. */
bool cp_index_next(const cp_index_table *table, uint64_t hash, uint64_t *at, uint32_t *index);

#endif
