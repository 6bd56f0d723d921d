/* SPDX-License-Identifier: MIT
 *
 * modules.h: which loaded object an address belongs to.
 *
 * Two readers, two needs. The unwinder asks in signal handlers for the CFI of a PC: it gets it from
 * a sorted table that was built beforehand, without locks; what may have been unloaded since is
 * asked of libc's _dl_find_object, which is async-signal-safe. The writer of a profile asks, when
 * all is over, for every executable mapping that was ever seen, also of objects that are gone by
 * then.
 *
 *   pp_modules_refresh (NORMAL) --> table --> pp_modules_find   (SIGNAL)
 *                               \-> seen  --> pp_modules_mappings (NORMAL, fatal-signal writer)
 *
 * "Permanent" objects cannot be unloaded: the program, what it needs directly or indirectly (its
 * DT_NEEDED closure), this library, and the vDSO.
 *
 * Zone: SIGNAL for find; refresh is NORMAL (module_scan.c), mappings serves the fatal-signal writer
 *       too (module_mappings.c).
 * Locks: refresh takes scan_lock (module_scan.c), then the loader's own (dl_iterate_phdr).
 * Owns: the table and the list of objects seen.
 */
#ifndef PP_MODULES_MODULES_H
#define PP_MODULES_MODULES_H

#include "base/arena.h"
#include "modules/mapping.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The CFI of one object, as far as the unwinder needs it. */
typedef struct pp_module {
    uintptr_t code_lo, code_hi; /* one executable segment */
    uintptr_t cfi_lo, cfi_hi;   /* the segment that holds .eh_frame_hdr, or .eh_frame itself */
    uintptr_t all_lo, all_hi;   /* all segments, with what holes there are; 0 = as cfi_lo, cfi_hi */
    uintptr_t eh_frame_hdr;     /* or .eh_frame, if it has no header; 0 = none */
    bool permanent;             /* cannot be unloaded */
} pp_module;

typedef struct pp_module_table {
    size_t count;
    size_t bytes; /* of the mapping that holds the table */
    pp_module module[];
} pp_module_table;

/*
 * Zone: SIGNAL. Whether `pc` is where a stack begins: in the program interpreter (ld.so) or the
 * first bytes of the program, _start. The former has no CFI for its entry code, nor has the latter
 * from glibc before 2.18, musl and others.
 */
bool pp_modules_is_entry_code(uintptr_t pc);

/* Zone: SIGNAL. Finds the object whose code contains `pc`; false if there is none now. */
bool pp_modules_find(uintptr_t pc, pp_module *module);

/* Publishes a table (modules/module_scan.c only); the old one is unmapped once nobody reads it. */
void pp_modules_publish(pp_module_table *table);

/*
 * Brings the table and the list of seen objects up to date with the loader. Cheap when nothing was
 * loaded or unloaded since the last time. Takes the loader's lock: not in signal handlers.
 */
void pp_modules_refresh(void);

/* Called once when the library is loaded: finds the loader's counters. Looks at one object only, so
 * that the time does not grow with their number. */
void pp_modules_init(void);

/* Around fork: the child of a process with several threads does not ask the loader any more. */
void pp_modules_before_fork(void);
void pp_modules_after_fork_in_child(void);
void pp_modules_set_entries(uintptr_t base, uintptr_t start); /* part of init, in modules.c */
void pp_modules_forget_readers(void);                         /* part of it, in modules.c */

/*
 * The executable mappings for a profile, ascending except that [0] is the main binary: all objects
 * seen, and the code of /proc/self/maps that belongs to none of them (JIT, mapped by hand). Texts
 * live in `arena`. Returns 0, -ENOMEM, or the error of reading the maps (then with the objects
 * alone). Takes no lock and asks the loader nothing.
 */
int pp_modules_mappings(pp_arena *arena, pp_mapping **mappings, size_t *count);

#endif
