/* SPDX-License-Identifier: MIT
 *
 * contention_text.h: writes the block and mutex profiles as text (debug=1).
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
