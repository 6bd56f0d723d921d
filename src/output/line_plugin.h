/* SPDX-License-Identifier: MIT
 *
 * line_plugin.h: loads and calls libpprof-dwarf.so, which finds files, lines and inlined functions
 * (include/pprof_dwarf.h).
 *
 * The first profile that is written with symbolize=lines loads the plugin, which stays loaded. The
 * plugin calls libdw, which calls malloc and takes locks: so it is never called in a signal handler
 * or on a small stack. Without the plugin profiles have names only, and the log says why, once.
 *
 * Zone: NORMAL.
 * Locks: the loader's, while it is loaded.
 * Owns: the plugin.
 */
#ifndef PP_OUTPUT_LINE_PLUGIN_H
#define PP_OUTPUT_LINE_PLUGIN_H

/* Makes the plugin the source of lines (symbol/lines.h). */
void pp_line_plugin_begin(void);

/* Removes the source: a fatal signal's handler is about to write profiles. Logs why they have no
 * lines if the option `symbolize` asks for lines. */
void pp_line_plugin_end(void);

/* The program is about to confine itself: a plugin that is not loaded by now is never loaded. */
void pp_line_plugin_confine(void);

#endif
