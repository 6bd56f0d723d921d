/* SPDX-License-Identifier: MIT
 *
 * line_plugin.h: libpprof-dwarf.so, which finds files, lines and inlined functions
 * (include/pprof_dwarf.h): when it is loaded, and when it may be asked.
 *
 * It is loaded for the first profile that is written with symbolize=lines, and stays. It calls
 * libdw, which calls malloc and takes locks: so it is not asked in a signal handler, nor on a small
 * stack. Where it cannot be had profiles have names alone, and the log says why, once.
 *
 * Zone: NORMAL.
 * Locks: the loader's, while it is loaded.
 * Owns: the plugin.
 */
#ifndef PP_OUTPUT_LINE_PLUGIN_H
#define PP_OUTPUT_LINE_PLUGIN_H

/* It becomes the source of lines (symbol/lines.h). */
void pp_line_plugin_begin(void);

/* It is no source any more: what comes now runs in a fatal signal's handler. */
void pp_line_plugin_end(void);

/* The program is about to confine itself: what is not loaded by now is not loaded any more. */
void pp_line_plugin_confine(void);

#endif
