/* SPDX-License-Identifier: MIT
 *
 * heap_text.h: writes the heap profile of the process as text (form: kinds/heap/legacy_heap.h).
 *
 * Zone: NORMAL.
 */
#ifndef PP_KINDS_HEAP_HEAP_TEXT_H
#define PP_KINDS_HEAP_HEAP_TEXT_H

#include "pprof.h"

#include <stdbool.h>

/* Writes the text; `bare`: without the lines of frames. 0, -ENOMEM, the writer's first error, or
 * the error of reading the maps. */
int pp_heap_text_write(bool bare, pprof_writer writer);

#endif
