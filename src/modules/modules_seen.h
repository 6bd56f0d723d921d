/* SPDX-License-Identifier: MIT
 *
 * modules_seen.h: every object that was met, between its writer and its reader.
 *
 * module_scan.c adds entries at the head, module_mappings.c reads the list at any time, also in a
 * fatal signal's handler. Entries are complete before they are linked and never change or go.
 *
 * Zone: SIGNAL (data).
 * Locks: writers hold module_scan.c's lock, readers none.
 */
#ifndef PP_MODULES_MODULES_SEEN_H
#define PP_MODULES_MODULES_SEEN_H

#include "modules/mapping.h"

#include <stdbool.h>

typedef struct pp_seen {
    struct pp_seen *next; /* an older one */
    pp_mapping mapping;
    bool main_program;
} pp_seen;

extern pp_seen *pp_modules_seen; /* the newest; defined in module_mappings.c */

#endif
