/* SPDX-License-Identifier: MIT
 *
 * find_object.h: finds the loaded object of an address without a lock.
 *
 * find_object_glibc.c asks _dl_find_object, which exists since glibc 2.35. Older glibcs, and musl, have
 * only the loader's list (find_object_list.c).
 *
 * Zone: SIGNAL.
 */
#ifndef PP_MODULES_FIND_OBJECT_H
#define PP_MODULES_FIND_OBJECT_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct pp_found_object {
    uintptr_t start, end; /* all segments and the holes between them */
    uintptr_t eh_frame;   /* .eh_frame_hdr; 0 = none */
    const struct link_map *map;
} pp_found_object;

/* Whether pp_object_find() can answer: not in every fully static program. */
bool pp_object_can_find(void);

/* False if no object that the loader has relocated has the address, or if it cannot answer. */
bool pp_object_find(uintptr_t address, pp_found_object *found);

/* The same by the loader's list, which has objects that are not relocated yet, too. Takes a system call
 * for each object. Fails where another thread unloads at this moment. */
bool pp_object_find_listed(uintptr_t address, pp_found_object *found);

#endif
