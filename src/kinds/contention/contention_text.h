/* SPDX-License-Identifier: MIT
 *
 * contention_text.h: the text form of the block and mutex profiles, on request.
 *
 * Zone: NORMAL.
 */
#ifndef PP_KINDS_CONTENTION_CONTENTION_TEXT_H
#define PP_KINDS_CONTENTION_CONTENTION_TEXT_H

#include "kinds/contention/contention_profile.h"
#include "pprof.h"

#include <stdbool.h>

/* `bare`: without the lines of frames. 0, -ENOMEM, or the writer's first error. */
int pp_contention_text_write(pp_contention_view view, bool bare, pprof_writer writer);

#endif
