/* SPDX-License-Identifier: MIT
 *
 * lines.h: files, lines and inlined functions of the addresses of a module.
 *
 *   addresses --> sorted by compilation unit --> scopes and line table of the unit --> found()
 *
 * The plugin (plugin.c) calls it inside a host program.
 *
 * Locks: none; several threads may call it at a time.
 * Owns: nothing after the call.
 */
#ifndef PP_DWARF_LINES_H
#define PP_DWARF_LINES_H

#include "pprof_dwarf.h"

/* This is pprof_dwarf_interface.find_lines. */
int pp_dwarf_find_lines(const pprof_dwarf_module *module, const uint64_t *addresses, size_t count,
                        const pprof_dwarf_host *host);

#endif
