/* SPDX-License-Identifier: MIT
 *
 * folded.h: a reader of folded stacks: one line for each stack, from the root to the leaf.
 *
 *   main;work;malloc 17            of flamegraph.pl's stackcollapse-*, inferno, async-profiler
 *   main (app.py:3);work (app.py:9) 17     of py-spy: with the file and the line
 *
 * The number is the last word of the line, and whole. Empty lines count for nothing.
 */
#ifndef CP_FOLDED_H
#define CP_FOLDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cp_error cp_error;
typedef struct cp_profile cp_profile;

/* Whether the first line that is not empty is such a stack. */
bool cp_folded_is(const uint8_t *data, size_t length);

/* Refuses a text that is in no format: names the first line that is not such a stack. Returns -1 with
 * a sentence. */
int cp_folded_refuse(const uint8_t *data, size_t length, cp_error *error);

/* Like cp_profile_decode(). The only sample type is samples/count. */
int cp_folded_decode(const uint8_t *data, size_t length, cp_profile **out, cp_error *error);

#endif
