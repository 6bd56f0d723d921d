/* SPDX-License-Identifier: MIT
 *
 * memory_map.h: a reader of the list of mapped files at the end of the older formats.
 *
 *   00400000-00452000 r-xp 00000000 08:02 173521   /usr/bin/app        as in /proc/PID/maps
 *   0x400000-0x452000 /usr/bin/app (@1000) BUILDID                     shorter
 */
#ifndef CP_MEMORY_MAP_H
#define CP_MEMORY_MAP_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cp_profile cp_profile;

/* Makes the mappings of a profile that has none, and finds the mapping of each location by its
 * address. Lines that are no mapping are ignored. The program becomes the first mapping; ranges
 * that are not executable are left out; adjacent ranges of one file are one mapping. Addresses
 * outside all mappings share one without a name. */
void cp_memory_map_read(cp_profile *profile, const char *text, size_t length);

/* Whether the file may be the program: it is no library, and has a name that is not the kernel's. */
bool cp_may_be_program(const char *file);

#endif
