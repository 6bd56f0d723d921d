/* SPDX-License-Identifier: MIT
 *
 * modules.h: finds the loaded object of an address.
 *
 * The table has two kinds of readers. The unwinder, in signal handlers, needs the CFI of a PC: it
 * reads a sorted table that was built beforehand, without locks. For objects that may have been
 * unloaded since, it calls libc's _dl_find_object, which is async-signal-safe. The writer of a
 * profile, at the end, needs every executable mapping that was ever seen, also of objects that are
 * gone.
 *
 *   pp_modules_refresh (NORMAL) --> table --> pp_modules_find   (SIGNAL)
 *                               \-> seen  --> pp_modules_mappings (NORMAL, fatal-signal writer)
 *
 * "Permanent" objects cannot be unloaded: the program, what it needs directly or indirectly (its
 * DT_NEEDED closure), this library, and the vDSO.
 *
 * Zone: SIGNAL for find; refresh is NORMAL (module_scan.c), mappings is also for the fatal-signal
 *       writer (module_mappings.c).
 * Locks: refresh takes scans.lock (module_scan.c), then the loader's own (dl_iterate_phdr).
 * Owns: the table and the list of seen objects.
 */
#ifndef PP_MODULES_MODULES_H
#define PP_MODULES_MODULES_H

#include "base/arena.h"
#include "base/key_sort.h"
#include "elf/mapping.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The CFI of one object. */
typedef struct pp_module {
    uintptr_t code_lo, code_hi; /* one executable segment */
    uintptr_t cfi_lo, cfi_hi;   /* the segment of .eh_frame_hdr, or .eh_frame itself */
    uintptr_t all_lo, all_hi;   /* all segments and the holes between them; 0 = as cfi_lo, cfi_hi */
    uintptr_t eh_frame_hdr;     /* or .eh_frame, if there is no header; 0 = none */
    bool permanent;             /* cannot be unloaded */
    bool cheap;                 /* copies of its bytes cost little: .eh_frame may be searched */
    bool lacks_table;           /* there is no header, or one without a table */
    /* Then, where they were listed: the addresses of its FDEs (index) by those of their code (key). */
    const pp_keyed *frames;
    size_t frame_count;
} pp_module;

typedef struct pp_module_table {
    size_t count;
    size_t bytes; /* of the table's mapping */
    pp_module module[];
} pp_module_table;

/*
 * Zone: SIGNAL. Whether `pc` is at the root of a stack: in the program interpreter (ld.so) or in
 *       the first bytes of the program, _start. ld.so has no CFI for its entry code; _start has
 *       none in glibc before 2.18, musl and others.
 */
bool pp_modules_is_entry_code(uintptr_t pc);

/* Zone: SIGNAL. Whether `pc` is in the first bytes of the program. */
bool pp_modules_is_start(uintptr_t pc);

/* Zone: SIGNAL. Finds the loaded object whose code contains `pc`; false if there is none now. */
bool pp_modules_find(uintptr_t pc, pp_module *module);

/* Publishes a table (modules/module_scan.c only); unmaps the old one once it has no reader. */
void pp_modules_publish(pp_module_table *table);

/* Updates the table and the list of seen objects from the loader. Cheap if nothing was loaded or
 * unloaded since the last call. Takes the loader's lock: not for signal handlers. */
void pp_modules_refresh(void);

/* Finds the loader's counters. Start-up code calls it once, when the library is loaded. It reads
 * only one object, so its time does not depend on the number of objects. */
void pp_modules_init(void);

/* Called around fork: the child of a process with several threads never calls the loader; those of the
 * library that are out of it (modules/loader_use.h) do not count. */
void pp_modules_before_fork(void);
void pp_modules_after_fork_in_parent(void);
void pp_modules_after_fork_in_child(void);
void pp_modules_set_entries(uintptr_t base, uintptr_t start); /* part of pp_modules_init() */
void pp_modules_forget_readers(void);                         /* in the child of fork */

/*
 * Makes the executable mappings of a profile: all seen objects, and the code of /proc/self/maps
 * that belongs to no object (JIT, mapped by hand). They ascend, except that [0] is the main binary.
 * Texts live in `arena`. Returns 0, -ENOMEM, or the error of reading the maps (then only with the
 * objects). Takes no lock and does not call the loader.
 */
int pp_modules_mappings(pp_arena *arena, pp_mapping **mappings, size_t *count);

/* Makes those of the seen objects only, without a system call. 0 or -ENOMEM. */
int pp_modules_objects(pp_arena *arena, pp_mapping **mappings, size_t *count);

#endif
