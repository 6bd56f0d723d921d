/* SPDX-License-Identifier: MIT
 *
 * live_source.h: asks a process for its profiles, again and again, while the caller does something
 * else.
 *
 *   caller   ask(heap)                          take()
 *   asker    ---------| waits for the process |---------
 *   holder   profile?seconds=86400 .......................     keeps the CPU sampler running
 *
 * The asker reads what the sampler has counted so far (profile?now=1), so that no sample falls
 * between two answers. A server that does not know `now` answers with a second of samples instead.
 *
 * Owns: two threads, which end with the process.
 */
#ifndef CP_LIVE_SOURCE_H
#define CP_LIVE_SOURCE_H

#include "base/message.h"
#include "live/live_process.h"
#include "profile/protobuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cp_live_source cp_live_source;

typedef struct cp_live_answer {
    size_t view;    /* that was asked for */
    int status;     /* 0, or -1 with a sentence */
    cp_bytes bytes; /* the profile; the caller's */
    int64_t at_ns;  /* monotonic */
    char *on;       /* what the process records, "cpu heap:524288"; NULL: it does not say; the
                       caller's. Only of views with a remedy */
    cp_error error;
} cp_live_answer;

/* Makes sure that the process can be asked. `root` is what cp_source_root() returns; `with_labels`:
 * the samples have their labels. Returns NULL with a sentence that says what to do. */
cp_live_source *cp_live_source_open(const char *root, bool with_labels, cp_error *error);

/* Readable when the answer has come. */
int cp_live_source_ready(const cp_live_source *source);

/* Asks for the profile of a view. One question at a time. */
void cp_live_source_ask(cp_live_source *source, size_t view);

/* Takes the answer; false if it has not come. */
bool cp_live_source_take(cp_live_source *source, cp_live_answer *answer);

#endif
