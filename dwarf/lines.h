/* SPDX-License-Identifier: MIT
 *
 * lines.h: files, lines and inlined functions of the addresses of a module.
 *
 *   addresses --> units --> those of one unit together --> scopes, line table --> found()
 *
 * Used by the plugin (plugin.c) in programs that are profiled.
 *
 * Locks: none; several threads may call at a time.
 * Owns: nothing after the call.
 */
#ifndef PP_DWARF_LINES_H
#define PP_DWARF_LINES_H

#include "pprof_dwarf.h"

/* As pprof_dwarf_interface.find_lines. */
int pp_dwarf_find_lines(const pprof_dwarf_module *module, const uint64_t *addresses, size_t count,
                        const pprof_dwarf_host *host);

#endif
