/* SPDX-License-Identifier: MIT
 *
 * live.h: `cpprof top -p`: the table of a process that runs, made again and again; on a terminal as
 * a screen with keys, else as one table after the other.
 */
#ifndef CP_LIVE_H
#define CP_LIVE_H

#include "report/report.h"
#include "report/report_load.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct cp_live_options {
    const char *verb;
    const char *source;  /* "1234", "pid:1234/heap", or the address of a server */
    const char *profile; /* the first one to show, "wall"; NULL: the source may name it */
    double seconds;      /* between two tables */
    long tables;         /* end after so many; 0: when the process ends, or the user says so */
    bool is_batch, json; /* no screen */
    const cp_report_options *report;
    const cp_sources *sources;
} cp_live_options;

/* Returns an exit status. */
int cp_live_run(const cp_live_options *options);

#endif
