/* SPDX-License-Identifier: MIT
 *
 * line_reader.h: lines and inlined functions of addresses, by libpprof-dwarf.so.
 *
 * The library that finds lines for a running program does it for cpprof, too. cpprof loads it when
 * it is needed first, so that the command works without it and without libdw.
 *
 * If the user has set DEBUGINFOD_URLS, libdebuginfod gets debug information that is not here.
 */
#ifndef CP_LINE_READER_H
#define CP_LINE_READER_H

#include "pprof_dwarf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The result of cp_line_reader_find() if the library cannot be loaded. */
#define CP_LINE_READER_ABSENT (-1000000)

typedef void cp_place_found(void *context, const pprof_dwarf_place *place);

/* Calls found() for each of the ascending run-time addresses that has a line, or a name; with
 * `names_only`, a name in the symbol tables of files that are here, which is much quicker. Returns
 * 0, a negative errno as in pprof_dwarf.h, or CP_LINE_READER_ABSENT. */
int cp_line_reader_find(const pprof_dwarf_module *module, const uint64_t *addresses, size_t count,
                        bool names_only, cp_place_found *found, void *context);

/* The library; NULL: it cannot be loaded. */
const pprof_dwarf_interface *cp_line_reader_plugin(void);

/* Why the library could not be loaded. */
const char *cp_line_reader_absence(void);

/* Says so, and what to do. */
void cp_line_reader_complain(void);

#endif
