/* SPDX-License-Identifier: MIT
 *
 * heap_text.h: the text form of the heap profile, on request.
 *
 * Zone: NORMAL.
 */
#ifndef PP_KINDS_HEAP_HEAP_TEXT_H
#define PP_KINDS_HEAP_HEAP_TEXT_H

#include "pprof.h"

#include <stdbool.h>

/* `bare`: without the lines of frames. 0, -ENOMEM, or the writer's first error. */
int pp_heap_text_write(bool bare, pprof_writer writer);

#endif
