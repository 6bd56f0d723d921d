/* SPDX-License-Identifier: MIT
 *
 * modules_seen.h: the list of all objects that scans have seen, shared by its writer and its
 * reader.
 *
 * module_scan.c adds entries at the head; module_mappings.c reads the list at any time, also in a
 * fatal signal's handler. An entry is complete before it is linked, and never changes or goes.
 *
 * Zone: SIGNAL (data).
 * Locks: writers hold module_scan.c's lock, readers none.
 */
#ifndef PP_MODULES_MODULES_SEEN_H
#define PP_MODULES_MODULES_SEEN_H

#include "elf/mapping.h"

#include <stdbool.h>

typedef struct pp_seen {
    struct pp_seen *next; /* an older one */
    pp_mapping mapping;
    bool main_program;
} pp_seen;

extern pp_seen *pp_modules_seen; /* the newest; defined in module_mappings.c */

#endif
