/* SPDX-License-Identifier: MIT
 *
 * stops.c: reading and describing counts of why walks ended.
 *
 * Zone: SIGNAL.
 */
#include "unwind/stops.h"

void pp_stops_read(const pp_stops *stops, pp_stops *read)
{
    for (unsigned i = 0; i < PP_STOP_COUNT; i++) {
        read->count[i] = __atomic_load_n(&stops->count[i], __ATOMIC_RELAXED);
    }
    read->guessed_whole = __atomic_load_n(&stops->guessed_whole, __ATOMIC_RELAXED);
}

static void add_part(pp_text *text, uint64_t count, const char *what)
{
    if (count > 0) {
        pp_text_add(text, ", ");
        pp_text_add_count(text, count, what);
    }
}

void pp_stops_describe(const pp_stops *stops, const char *what, pp_text *text)
{
    uint64_t total = 0;
    for (unsigned i = 0; i < PP_STOP_COUNT; i++) {
        total += stops->count[i];
    }
    pp_text_add(text, "of ");
    pp_text_add_count(text, total, what);
    pp_text_add(text, " ");
    pp_text_add_count(text, stops->count[PP_STOP_END] - stops->guessed_whole,
                      " [has a whole stack|have whole stacks]");
    add_part(text, stops->guessed_whole,
             " reached the end by a guess at a frame without unwind information");
    add_part(text, stops->count[PP_STOP_TRUNCATED], " [is|are] deeper than the buffer");
    add_part(text, stops->count[PP_STOP_NO_RULE], " [ends|end] in code without unwind information");
    add_part(text, stops->count[PP_STOP_BAD_READ], " [ends|end] at an unreadable frame");
}
