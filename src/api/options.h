/* SPDX-License-Identifier: MIT
 *
 * options.h: reads the words of LIBPPROF and of pprof_configure().
 *
 * Zone: NORMAL.
 * Locks: none; callers hold the lock of all_kinds.h.
 */
#ifndef PP_API_OPTIONS_H
#define PP_API_OPTIONS_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

/* The options that belong to no kind and to no room below. Each kind has its own (host/kind.h). */
typedef struct pp_options {
    bool subprocesses;    /* children are profiled as well */
    bool follow_exec;     /* so is the program that the process itself executes */
    uint64_t duration_ns; /* files are written after this time; 0: at the end */
    uint64_t until_ns;    /* and when CLOCK_MONOTONIC shows this; 0: no such time is given */
    uint64_t interval_ns; /* and each time that this has passed; 0: not */
    int dump_signal;      /* and at this signal; 0: at none */
    int error;            /* the first one */
    pp_text *complaint;   /* what the log says of that is copied here; or NULL */
} pp_options;

/* Sets the defaults, here and in the kinds: those of a process without LIBPPROF. */
void pp_options_init(pp_options *options);

/* Lets the kinds forget which profiles were asked for. */
void pp_options_forget_kinds(void);

/*
 * Applies a comma-separated list. A word that is unknown, has a bad value, or belongs to a part
 * that this version lacks is skipped, and named on the log; options->error keeps the first error.
 * `file`, `log`, `recorder` and `symbolize` take effect at once.
 */
void pp_options_parse(pp_options *options, const char *text);

/* Applies the variables that users of gperftools know: CPUPROFILE, CPUPROFILE_FREQUENCY,
 * CPUPROFILESIGNAL, HEAPPROFILE. */
void pp_options_from_gperftools(pp_options *options);

#endif
