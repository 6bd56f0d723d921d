/* SPDX-License-Identifier: MIT
 *
 * options.h: the words of LIBPPROF and pprof_configure().
 *
 * Zone: NORMAL.
 * Locks: none; callers are the library's start and pprof_configure().
 * Owns: nothing.
 */
#ifndef PP_OPTIONS_H
#define PP_OPTIONS_H

#include "contention_control.h"
#include "cpu_control.h"
#include "heap_control.h"
#include "profile/model.h"

#include <stdbool.h>

typedef struct pp_options {
    bool cpu;          /* a CPU profile is wanted */
    bool subprocesses; /* children are profiled as well */
    bool follow_exec;  /* so is what the process itself executes */
    bool heap;         /* a heap profile is wanted */
    bool fd;           /* a profile of open descriptors is wanted */
    bool alloctrace;   /* every allocation is to be logged */
    bool thread;       /* a profile of threads is wanted */
    pp_cpu_request cpu_request;
    pp_heap_request heap_request;
    pp_contention_request contention_request; /* of what is wanted */
    pp_symbolize symbolize;                   /* of every profile */
    int toggle_signal;                        /* starts and stops the CPU profile; 0 = none */
    int error;                                /* the first one that was met */
} pp_options;

/* What holds when nothing is said. */
void pp_options_init(pp_options *options);

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
