/* SPDX-License-Identifier: MIT
 *
 * id_table.h: a table from the ids that a profile's writer chose to indices.
 *
 * Most writers count from 1: small ids are the places of an array. Some use addresses: large ids
 * are in an open hash table.
 *
 * Owns: the arrays of a table, until cp_ids_release().
 */
#ifndef CP_ID_TABLE_H
#define CP_ID_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cp_wire cp_wire;

typedef struct cp_ids {
    uint32_t *small;   /* by id: index + 1, or 0 */
    uint64_t limit;    /* of the small ids */
    uint64_t *ids;     /* per slot; 0 = empty. NULL before the first large id */
    uint32_t *indices; /* per slot */
    uint64_t mask;
    uint64_t factor;  /* by chance: nobody can choose ids that have one slot */
    const char *what; /* the things with these ids: "mapping" */
} cp_ids;

/* Makes room for `count` ids. */
void cp_ids_init(cp_ids *table, uint32_t count, const char *what);
void cp_ids_release(cp_ids *table);

/* On an error both functions fail the wire at `offset` and return false. cp_ids_add() refuses an id
 * that is 0 or was added before; cp_ids_find() an id that was not added. */
bool cp_ids_add(cp_ids *table, cp_wire *wire, size_t offset, uint64_t id, uint32_t index);
/* Finds any id, or complains. */
bool cp_ids_find_large(const cp_ids *table, cp_wire *wire, size_t offset, uint64_t id,
                       uint32_t *index);

static inline bool cp_ids_find(const cp_ids *table, cp_wire *wire, size_t offset, uint64_t id,
                               uint32_t *index)
{
    if (id < table->limit && table->small[id]) {
        *index = table->small[id] - 1;
        return true;
    }
    return cp_ids_find_large(table, wire, offset, id, index);
}

#endif
