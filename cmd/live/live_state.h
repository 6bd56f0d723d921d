/* SPDX-License-Identifier: MIT
 *
 * live_state.h: what the user of `cpprof top -p` has chosen by keys, and what a key changes.
 */
#ifndef CP_LIVE_STATE_H
#define CP_LIVE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CP_LIVE_TEXT_BYTES = 256 };

typedef struct cp_live_state {
    size_t view; /* in cp_live_views */
    bool by_cum;
    bool since_start; /* of cpprof, instead of the last interval */
    bool is_paused;
    bool shows_help;
    bool is_typing; /* the user types an expression */
    bool quits;
    int64_t interval_ns;
    char focus[CP_LIVE_TEXT_BYTES]; /* "": none */
    char typed[CP_LIVE_TEXT_BYTES];
    size_t first_row;       /* that is shown */
    size_t row_count, room; /* of the table on the screen: they limit first_row */
} cp_live_state;

/* What has to be done after a key. */
enum {
    CP_LIVE_DRAW = 1,  /* draw the screen */
    CP_LIVE_TABLE = 2, /* make the table again, of the same profiles */
    CP_LIVE_ASK = 4,   /* ask the process now */
    CP_LIVE_CLEAR = 8  /* somebody may have written over the screen */
};

/* Changes the state by a key of live_keys.h. Returns the sum of what has to be done. */
unsigned cp_live_press(cp_live_state *state, int key);

/* Keeps first_row where rows are. */
void cp_live_limit_rows(cp_live_state *state);

/* The keys, a line for each. */
extern const char cp_live_help[];

#endif
