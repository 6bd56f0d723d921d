/* SPDX-License-Identifier: MIT
 *
 * debug_file.h: the search for the debug information of a module. These files are tried in turn:
 *
 *   the module's own file
 *   /usr/lib/debug/.build-id/xx/yyyy.debug
 *   the file of .gnu_debuglink   beside the module's file, in .debug/ there, or below
 *                                /usr/lib/debug
 *
 * A file is used if it has lines, or for a host that wants only names a whole table of symbols, and the module's build id. For a module without a build id, the
 * file that .gnu_debuglink names is used if its checksum is right. Several files of a package may
 * share a file (dwz): .gnu_debugaltlink has its name and build id.
 *
 * Last, a host that has a function for it gets the file from elsewhere: cpprof asks debuginfod. A
 * program that writes its profile should not wait for a network, and has none.
 *
 * Owns: the opened files, until release.
 */
#ifndef PP_DWARF_DEBUG_FILE_H
#define PP_DWARF_DEBUG_FILE_H

#include "dwarf/debug_copy.h"
#include "dwarf/symbols.h"

#include "pprof_dwarf.h"

#include <elfutils/libdw.h>
#include <stdbool.h>

/* The folder in which distributions put separate debug files. */
#define PP_DEBUG_ROOT "/usr/lib/debug"

typedef struct pp_debug_file {
    Dwarf *dwarf;  /* its addresses are those in the module's file; NULL: only names are wanted */
    Dwarf *shared; /* the shared file; NULL: none */
    pp_debug_copy copy, shared_copy;
    pp_symbols symbols;          /* of a host that wants names */
    Dwarf_Addr bias;             /* run-time address minus the address in the file */
    Dwarf_Addr code_lo, code_hi; /* the range of the module's code; all addresses if unknown */
} pp_debug_file;

/* Finds and opens the debug information. Returns 0; -ENOENT if there is none of that build; -ENOLINK
 * if in addition the one that .gnu_debuglink names is of another build; or another error of
 * pprof_dwarf_interface.find_lines. Symbols may be there also after an error; the caller always
 * releases the file. libdw calls `no_memory` if an allocation fails; that function must not return. */
int pp_debug_file_open(const pprof_dwarf_module *module, const pprof_dwarf_host *host,
                       void (*no_memory)(void), pp_debug_file *file);

void pp_debug_file_release(pp_debug_file *file);

#endif
