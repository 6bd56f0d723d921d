/* SPDX-License-Identifier: MIT
 *
 * preload.h: what the start-up has started, changed while the program runs: pprof_configure() and
 * pprof_parse_flags() come here.
 *
 * Zone: NORMAL.
 * Locks: one, between pp_preload_begin() and pp_preload_apply(); waited for.
 */
#ifndef PP_API_PRELOAD_H
#define PP_API_PRELOAD_H

#include "api/options.h"

/*
 * For those who ask for profiles while the program runs: fill in the options that hold now, and ask
 * the kinds; of neither anything is asked at first. The thread cannot be cancelled, and other
 * threads wait, until pp_preload_apply(). 0, or -EBUSY: called from a signal handler that
 * interrupted just this.
 */
int pp_preload_begin(pp_options *wanted);

/* Starts what is asked for, beside what runs already. 0, wanted->error, or the first error that a
 * start returned. */
int pp_preload_apply(const pp_options *wanted);

#endif
