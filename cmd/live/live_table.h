/* SPDX-License-Identifier: MIT
 *
 * live_table.h: one table of `cpprof top -p`: what is above it, and its rows, as text.
 */
#ifndef CP_LIVE_TABLE_H
#define CP_LIVE_TABLE_H

#include "live/live_process.h"
#include "live/live_state.h"
#include "report/report.h"
#include "report/report_load.h"

#include <stdint.h>

typedef struct cp_live_history cp_live_history;

/* What a table is made of. */
typedef struct cp_live_matter {
    const cp_live_state *state;
    const cp_live_history *history;  /* of the view */
    const cp_report_options *report; /* the user's, whose sorting and focus the state replaces */
    const cp_sources *sources;       /* how names are written */
    cp_regex *focus;                 /* the state's, compiled; NULL: none */
    int64_t pace_ns;                 /* between two tables */
    const char *name;                /* the process's: "redis-server (pid 1234)", or an address */
    const cp_process_load *load;     /* NULL: unknown */
    const char *hint;                /* what to say if there is nothing to show */
} cp_live_matter;

/* The texts are to be freed. */
typedef struct cp_live_table {
    char *head, *body; /* lines; the first line of the body is the first row */
    char *json;        /* or the report as JSON, instead */
} cp_live_table;

/* Makes the text; with `json`, JSON instead. Returns 0; 1 if there is nothing to show yet, with a
 * head that says so; or -1 with a sentence. */
int cp_live_table_make(const cp_live_matter *matter, bool json, cp_live_table *table,
                       cp_error *error);
void cp_live_table_release(cp_live_table *table);

#endif
