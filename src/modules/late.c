/* SPDX-License-Identifier: MIT
 *
 * late.c: looks for this library in the loader's list of objects.
 *
 * Zone: HOOK.
 * Owns: the answer.
 * Tested by: e2e.attached
 */
#include "modules/late.h"

#include "base/path.h"
#include "modules/loaders_list.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

static const char stem[] = "libpprof-attach";

/* The linker defines it for this object; a fully static program has none. */
extern ElfW(Dyn) own_dynamic[] __asm__("_DYNAMIC") __attribute__((weak, visibility("hidden")));

bool pp_late_known;

/* In a program that is linked to libpprof.a, the dynamic section is the program's, whose name is
 * "". */
bool pp_late_find(void)
{
    const struct link_map *map = own_dynamic != NULL ? pp_loaders_list() : NULL;
    while (map != NULL && map->l_ld != own_dynamic) {
        map = map->l_next;
    }
    pp_late_known = map != NULL && map->l_name != NULL &&
                    strncmp(pp_base_name(map->l_name), stem, sizeof stem - 1) == 0;
    return pp_late_known;
}
