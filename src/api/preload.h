/* SPDX-License-Identifier: MIT
 *
 * preload.h: changes the options of the start-up while the program runs, for pprof_configure() and
 * pprof_parse_flags().
 *
 * Zone: NORMAL.
 * Locks: one, between pp_preload_begin() and pp_preload_apply(); callers wait for it.
 */
#ifndef PP_API_PRELOAD_H
#define PP_API_PRELOAD_H

#include "api/options.h"

/*
 * Fills in the present options, and lets the kinds forget which profiles were asked for. The caller
 * then changes the options and asks the kinds. Until pp_preload_apply(), the thread cannot be
 * cancelled, and other callers wait. 0, or -EBUSY in a signal handler that has interrupted a
 * caller.
 */
int pp_preload_begin(pp_options *wanted);

/* Starts the profiles that were asked for; those that run already go on. 0, wanted->error, or the
 * first error of a start. */
int pp_preload_apply(const pp_options *wanted);

/* Does nothing; the reference brings the start-up into a program (host/kind.h). */
void pp_preload_link(void);

#endif
