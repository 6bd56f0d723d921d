/* SPDX-License-Identifier: MIT
 *
 * tally.h: what of a profile that accumulates was handed on already.
 *
 *   profile, since the program's start   10  20   0   5
 *   handed on before                      4  20   .   6    (a sum that was rounded otherwise)
 *   what is new                           6   .   .   .
 *   handed on                            10  20   0   6
 *
 * All that was handed on adds up to the largest value that was seen of each stack: the last profile,
 * as long as the program does not begin anew. Values that do not accumulate, such as the bytes in
 * use, are left as they are.
 *
 * Owns: its memory, until cp_tally_release().
 */
#ifndef CP_AGENT_TALLY_H
#define CP_AGENT_TALLY_H

#include "base/index_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct cp_error cp_error;
typedef struct cp_profile cp_profile;

enum { CP_TALLY_TYPES = 4, CP_TALLY_STACKS = 1 << 18 /* of one profile */ };

/* Begins as zeros. */
typedef struct cp_tally {
    int64_t run;      /* the beginning of what is counted, as the profile says it; 0: it does not */
    int64_t until_ns; /* since 1970: what was handed on ends here; 0: nothing was */
    unsigned types;   /* sample types */
    cp_index_table of; /* from the hash of a stack, with its text labels, to its number */
    uint64_t *stacks;  /* the hashes, by number */
    int64_t *sums;     /* by number, `types` each */
    size_t count, stack_room, sum_room;
} cp_tally;

void cp_tally_release(cp_tally *tally);

/* Whether values of this type add up from the program's start on, and are no level, as the bytes in use are. */
bool cp_tally_accumulates(const char *type);

/*
 * Takes from the profile what was handed on before, and remembers the rest as handed on. Samples that differ in numeric
 * labels only become one; waits that go on are left out. `run`: as in cp_tally; if it is another one than before, nothing was handed on. Returns 0, or
 * -1 with a sentence; then both are as they were.
 */
int cp_tally_take(cp_tally *tally, cp_profile *profile, int64_t run, cp_error *error);

/* Writes the tally; the caller looks at the stream's errors. */
void cp_tally_write(const cp_tally *tally, FILE *out);

/* Reads one that was written. False: the bytes are none; the tally is empty then. */
bool cp_tally_read(cp_tally *tally, FILE *in);

#endif
