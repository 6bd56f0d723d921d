/* SPDX-License-Identifier: MIT
 *
 * prepare.h: steps that kinds take before they record anything.
 *
 * Zone: NORMAL.
 */
#ifndef PP_OUTPUT_PREPARE_H
#define PP_OUTPUT_PREPARE_H

#include "host/kind.h"

#include <stdbool.h>

/* Before a profile that will be written to a file: sets the default name, and keeps our tables out
 * of core dumps. */
void pp_prepare_files(void);

/* Before the first walk: in a sandbox, walks avoid the system calls that it forbids. */
void pp_prepare_walks(void);

/* Has the files written that were asked for. If there is one, does both, and what a profile needs
 * that is written when the process ends, also by a fatal signal. False if there is none. */
bool pp_prepare_asked(pp_end_file *files);

#endif
