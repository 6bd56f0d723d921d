/* SPDX-License-Identifier: MIT
 *
 * id_table.h: from the ids that a profile's writer chose to indices.
 *
 * Most writers count from 1, some use addresses: an open hash table in which consecutive ids are
 * neighbours.
 *
 * Owns: its slots, until cp_ids_release().
 */
#ifndef CP_ID_TABLE_H
#define CP_ID_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cp_wire cp_wire;

typedef struct cp_ids {
    uint64_t *ids;     /* per slot; 0 = empty (an id is never 0) */
    uint32_t *indices; /* per slot */
    uint64_t mask;
    const char *what; /* has these ids: "mapping" */
} cp_ids;

/* Room for `count` ids. */
void cp_ids_init(cp_ids *table, uint32_t count, const char *what);
void cp_ids_release(cp_ids *table);

/* Both fail the wire at that offset and return false: an id that is 0 or was added before; an id
 * that nothing has. */
bool cp_ids_add(cp_ids *table, cp_wire *wire, size_t offset, uint64_t id, uint32_t index);
bool cp_ids_find(const cp_ids *table, cp_wire *wire, size_t offset, uint64_t id, uint32_t *index);

#endif
