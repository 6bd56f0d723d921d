/* SPDX-License-Identifier: MIT
 *
 * debug_file.h: where the debug information of a module is, and opens it.
 *
 *   the file itself              if it has any
 *   /usr/lib/debug/.build-id/xx/yyyy.debug
 *   what .gnu_debuglink names    beside the file, in .debug/ there, or below /usr/lib/debug
 *
 * A file is used if it has the module's build id. A module without one takes what .gnu_debuglink
 * names if its checksum is right. What several files of a package share (dwz) is found by
 * .gnu_debugaltlink, and its build id.
 *
 * No network is asked for anything (debuginfod): a program that writes its profile should not wait
 * for one.
 *
 * Owns: what it has opened, until release.
 */
#ifndef PP_DWARF_DEBUG_FILE_H
#define PP_DWARF_DEBUG_FILE_H

#include "dwarf/debug_copy.h"

#include "pprof_dwarf.h"

#include <elfutils/libdw.h>
#include <stdbool.h>

/* Where distributions put separate debug files. */
#define PP_DEBUG_ROOT "/usr/lib/debug"

typedef struct pp_debug_file {
    Dwarf *dwarf;  /* addresses are those of the module's file */
    Dwarf *shared; /* what it shares with others; NULL = nothing */
    pp_debug_copy copy, shared_copy;
    Dwarf_Addr code_lo, code_hi; /* where its code lies; all if that is not known */
} pp_debug_file;

/*
 * Opens it. 0; -ENOENT if there is no debug information of that build; else as
 * pprof_dwarf_interface.find_lines. `no_memory` is called when libdw gets none; it must not return.
 */
int pp_debug_file_open(const pprof_dwarf_module *module, const pprof_dwarf_host *host,
                       void (*no_memory)(void), pp_debug_file *file);

void pp_debug_file_release(pp_debug_file *file);

#endif
