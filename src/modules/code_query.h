/* SPDX-License-Identifier: MIT
 *
 * code_query.h: asks the kernel for the executable mappings of the process only.
 *
 * The text of /proc/self/maps has two lines for the stack of each thread: a thousand threads make
 * it take the kernel longer than all the rest of a profile. Linux 6.11 and later answer questions
 * about single mappings (ioctl PROCMAP_QUERY), of which the executable ones are few.
 *
 * Few filters for system calls expect this one. So the questions are forbidden until code that has seen
 * that no filter kills for them (pp_sandbox_permits_questions()) permits them, and forbidden again before
 * the program installs one.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: whether questions are permitted, and whether the kernel shows its own page, [vsyscall].
 */
#ifndef PP_MODULES_CODE_QUERY_H
#define PP_MODULES_CODE_QUERY_H

#include "base/arena.h"
#include "modules/maps.h"

#include <stdbool.h>
#include <stddef.h>

void pp_code_query_permit(void);

/* For ever. */
void pp_code_query_forbid(void);

/* Whether other questions of this kind, by ioctl of a file in /proc, and children (sys/beside.h) are
 * permitted, too. */
bool pp_code_query_is_permitted(void);

/* The text of the maps, before it is parsed, shows a page that no question finds. */
void pp_code_query_learn(const char *maps_text);

/* Lists the executable mappings as pp_maps_next() would, ascending. NULL: read the text. */
pp_map_line *pp_code_query(pp_arena *arena, size_t *count);

#endif
