/* SPDX-License-Identifier: MIT
 *
 * loader.h: detects that the dynamic loader has loaded or unloaded something, without calling it.
 *
 * Libraries come and go without a call that the library could hook: iconv and NSS use the loader
 * from inside libc. The unwinder must not use a rule of an unloaded module for the next module at
 * the same address. So the state of the loader is summed up in one number, the epoch, which changes
 * with every load and unload, and which takes a few plain loads to read.
 *
 * glibc keeps a counter of loads and the number of loaded objects in _rtld_global, whose layout is
 * private. This code finds the counters by value: dl_iterate_phdr() reports both, and every word of
 * _rtld_global with the reported value is a candidate. An accidental candidate can only make the
 * epoch change too often; the next refresh at which it differs drops it. Dropping a candidate
 * brings no earlier epoch back (loader.c).
 *
 * Zone: SIGNAL; NORMAL code (module_scan.c, output/line_plugin.c) calls pp_loader_calibrate,
 *       pp_loader_find_state, pp_loader_own_folder and pp_loader_load.
 * Owns: the list of candidates; the mark that the loader is suspect.
 */
#ifndef PP_MODULES_LOADER_H
#define PP_MODULES_LOADER_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns a number that differs from all its values before the last load or unload. */
uint64_t pp_loader_epoch(void);

/* Whether the epoch is meaningful: false until a calibration has found the counters. */
bool pp_loader_epoch_is_known(void);

/* Counts a change that the library has seen itself (dlclose hook); enough if the loader is
 * unknown. */
void pp_loader_note_change(void);

/*
 * Sets the candidates: [object, object + size) is the loader's private state, `loads` its count of
 * loads so far and `loaded` the number of loaded objects. A later call drops candidates that no
 * longer agree. Callers are serialised by the module table's lock.
 */
void pp_loader_calibrate(const void *object, size_t size, uint64_t loads, uint32_t loaded);

/* Marks the loader as suspect: called in the child of fork if the parent had several threads. One
 * of them may have held a lock of the loader, whose owner then does not exist. */
void pp_loader_suspect(void);
bool pp_loader_is_suspect(void);

/* Finds the loader's private state: false if there is none. Takes the loader's lock. Defined in one
 * of three files: loader_dynamic_glibc.c, loader_dynamic_musl.c, or loader_static.c in
 * libpprof_static.a. */
bool pp_loader_find_state(const void **object, size_t *size);

/* Finds the folder of this library, with a '/' at its end; false if it is unknown, or does not fit.
 * Takes the loader's lock. Defined in the same two files. */
bool pp_loader_own_folder(char *folder, size_t size);

/*
 * Loads a library for good, without showing its symbols to the program, and returns a symbol of it.
 * The loader searches its folders for a `path` without a '/'. On failure returns NULL and adds the
 * reason to *why. Takes the loader's lock; calls malloc, and constructors. Defined in the same two
 * files.
 */
const void *pp_loader_load(const char *path, const char *symbol, pp_text *why);

#endif
