/* SPDX-License-Identifier: MIT
 *
 * id_table.h: a table from the ids that a profile's writer chose to indices.
 *
 * It is an open hash table in which consecutive ids are neighbours: most writers count from 1, some
 * use addresses.
 *
 * Owns: the slots of a table, until cp_ids_release().
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
    const char *what; /* the things with these ids: "mapping" */
} cp_ids;

/* Makes room for `count` ids. */
void cp_ids_init(cp_ids *table, uint32_t count, const char *what);
void cp_ids_release(cp_ids *table);

/* On an error both functions fail the wire at `offset` and return false. cp_ids_add() refuses an id
 * that is 0 or was added before; cp_ids_find() an id that was not added. */
bool cp_ids_add(cp_ids *table, cp_wire *wire, size_t offset, uint64_t id, uint32_t index);
bool cp_ids_find(const cp_ids *table, cp_wire *wire, size_t offset, uint64_t id, uint32_t *index);

#endif
