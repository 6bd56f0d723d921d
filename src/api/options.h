/* SPDX-License-Identifier: MIT
 *
 * options.h: the words of LIBPPROF and pprof_configure().
 *
 * Zone: NORMAL.
 * Locks: none; callers hold the one of preload.c.
 */
#ifndef PP_API_OPTIONS_H
#define PP_API_OPTIONS_H

#include "profile/model.h"

#include <stdbool.h>
#include <stdint.h>

/* What belongs to no kind. The rest is with the kinds (kind.h). */
typedef struct pp_options {
    bool subprocesses;      /* children are profiled as well */
    bool follow_exec;       /* so is what the process itself executes */
    pp_symbolize symbolize; /* of every profile */
    uint64_t duration_ns;   /* files are written after this time; 0: at the end */
    int error;              /* the first one that was met */
} pp_options;

/* What holds when nothing is said, here and in the kinds. */
void pp_options_init(pp_options *options);

/* Nothing is asked of any kind. */
void pp_options_forget_kinds(void);

/*
 * Applies a comma-separated list. Words that are unknown, have a bad value, or belong to a part
 * that this version lacks are named on the log and skipped; options->error keeps the first error.
 * `file` and `log` take effect at once.
 */
void pp_options_parse(pp_options *options, const char *text);

/* The variables that users of gperftools know: CPUPROFILE, CPUPROFILE_FREQUENCY,
 * CPUPROFILESIGNAL, HEAPPROFILE. */
void pp_options_from_gperftools(pp_options *options);

#endif
