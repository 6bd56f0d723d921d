/* SPDX-License-Identifier: MIT
 *
 * own_exports.h: the functions that this library defines in the place of libc's and others', read
 * from its own symbol table, and what a program calls without them.
 *
 * Zone: HOOK.
 * Locks: none; callers are serialised (attach/got.c).
 * Owns: the list.
 */
#ifndef PP_MODULES_OWN_EXPORTS_H
#define PP_MODULES_OWN_EXPORTS_H

#include "modules/loaded_objects.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_own_export {
    const char *name;
    const char *version; /* NULL: the default one */
    uint32_t hash;
    uint16_t next; /* the next one in the chain of a hash; 0: none */
    uintptr_t entry;
    uintptr_t real;    /* the definition that comes first without us; 0: none */
    size_t object;     /* the index of the object that has it */
    unsigned definers; /* the number of objects that define the name */
} pp_own_export;

/* Finds what the loaded objects define. */
void pp_own_exports_refresh(const pp_loaded_objects *objects);

/* The first function of that name that is not looked at yet: *from begins as NULL. NULL: there is no
 * further one. */
const pp_own_export *pp_own_exports_find(const char *name, const pp_own_export *from);

/* The definition that a reference with this version (NULL: none) gets, in the order in which the
 * objects were loaded; 0: none. Leaves this library out. */
uintptr_t pp_definition_find(const pp_loaded_objects *objects, const char *name,
                             const char *version, size_t *object);

#endif
