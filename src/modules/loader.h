/* SPDX-License-Identifier: MIT
 *
 * loader.h: what the dynamic loader tells about loads and unloads without being asked.
 *
 * Libraries come and go without a call that could be hooked: iconv and NSS use the loader from
 * inside libc. A rule that was computed for an unloaded module must not be used for the next one at
 * the same address, so the state of the loader is summed up in one number, the epoch, that changes
 * with every load and unload and is read with a few plain loads.
 *
 * glibc keeps a counter of loads and the number of loaded objects in _rtld_global, whose layout is
 * private. The counters are found by value: dl_iterate_phdr() reports both, and every word of
 * _rtld_global that has the reported value is a candidate. A word that is a candidate by accident
 * can only make the epoch change too often; it is dropped at the next refresh at which it differs.
 * No epoch that was there before comes back for that (loader.c).
 *
 * Zone: SIGNAL; pp_loader_calibrate, pp_loader_find_state, pp_loader_own_folder and pp_loader_load are called by
 *       NORMAL code (modules/module_scan.c, line_plugin.c).
 * Owns: the list of candidates; whether the loader may be asked.
 */
#ifndef PP_MODULES_LOADER_H
#define PP_MODULES_LOADER_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number that differs from its earlier values once anything was loaded or unloaded since. */
uint64_t pp_loader_epoch(void);

/* Whether the epoch means anything yet: false until the first calibration that found
 * the counters. */
bool pp_loader_epoch_is_known(void);

/* Counts a change that the library saw itself (dlclose hook); enough where the loader is
 * unknown. */
void pp_loader_note_change(void);

/*
 * Sets where to look: [object, object + size) is the loader's private state, `loads` its count of
 * loads so far and `loaded` the number of objects that are loaded. Called again it drops candidates
 * that no longer agree. Callers are serialised by the module table's lock.
 */
void pp_loader_calibrate(const void *object, size_t size, uint64_t loads, uint32_t loaded);

/*
 * Told in the child of fork where the parent had several threads: one of them may have held a lock
 * of the loader, which has an owner then that does not exist.
 */
void pp_loader_suspect(void);
bool pp_loader_is_suspect(void);

/*
 * The loader's private state: false if there is none. Takes the loader's lock. One of two files:
 * loader_dynamic.c, and loader_static.c in libpprof_static.a.
 */
bool pp_loader_find_state(const void **object, size_t *size);

/* Likewise. The folder that this library was loaded from, with a '/' at its end; false if it is not
 * known, or does not fit. Takes the loader's lock. */
bool pp_loader_own_folder(char *folder, size_t size);

/*
 * Likewise. Loads a library for good, without showing its symbols to the program, and finds a
 * symbol of it. `path` without a '/' is looked for where the loader looks. NULL if that fails, and
 * the reason is added to *why. Takes the loader's lock; calls malloc, and constructors.
 */
const void *pp_loader_load(const char *path, const char *symbol, pp_text *why);

#endif
