/* SPDX-License-Identifier: MIT
 *
 * data_limits.h: finds where the variables of loaded files end.
 *
 *   [file, rw-p][.bss][large block, heap, mapping ...]
 *               '------------ one area ------------'
 *
 * The kernel joins the memory of variables that have no value in the file with what is mapped just after
 * it, and has no name for either. The file's program headers, which are in memory, say how long it is.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#ifndef PP_KINDS_HEAP_DATA_LIMITS_H
#define PP_KINDS_HEAP_DATA_LIMITS_H

#include "modules/smaps.h"
#include "sys/safe_read.h"

/* Sets `data_limit` of the areas of a process that have more than a little, whose memory is `memory` (NULL: this one). */
void pp_data_limits_find(pp_smaps *areas, const pp_memory *memory);

#endif
