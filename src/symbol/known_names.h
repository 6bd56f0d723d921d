/* SPDX-License-Identifier: MIT
 *
 * known_names.h: a memory of names, for processes whose profiles are read again and again.
 *
 *   addresses of one mapping --> known? --> names
 *                                |            ^
 *                                `-- files ---+--> remembered, for a minute
 *
 * A collector asks for several profiles, every few seconds, and nearly all of their addresses are
 * those of the last time; a symbol table may have hundreds of thousands of entries.
 *
 * Nothing is remembered before pp_known_names_permit(), nor of objects without a build id: another
 * object of the same path may be at their addresses later. What has the same build id has the same
 * names. What was found while a file could not be read is not remembered, and all is forgotten
 * after a minute, by whoever asks next, since some names become better: the loader chooses an ifunc
 * when it is first called, and debug files can be installed. The memory has 4 MiB at most; what does
 * not fit is read from the files.
 *
 * Zone: NORMAL, and the fatal-signal writer (which goes without, if it has interrupted the owner of
 *       the lock).
 * Locks: its own, for which only pp_known_names_forget() waits.
 * Owns: the names and their table.
 */
#ifndef PP_SYMBOL_KNOWN_NAMES_H
#define PP_SYMBOL_KNOWN_NAMES_H

#include "base/arena.h"
#include "elf/mapping.h"
#include "symbol/names.h"

#include <stddef.h>
#include <stdint.h>

/* From now on, names are remembered. Any thread, any time. */
void pp_known_names_permit(void);

/* Gives the memory back; nothing is remembered until the next permission. */
void pp_known_names_forget(void);

/* As pp_places_resolve(), but for the names that are known. */
void pp_known_names_resolve(const pp_mapping *mappings, size_t mapping_count, size_t index,
                            const uintptr_t *addresses, size_t count, pp_symbol *symbols,
                            pp_arena *arena);

/* In the child of fork, which has only the calling thread. If a thread had the memory at that
 * moment, the child goes without: the thread may be this one, whose handler has forked. */
void pp_known_names_after_fork_in_child(void);

#endif
