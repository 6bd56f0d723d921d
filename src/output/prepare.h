/* SPDX-License-Identifier: MIT
 *
 * prepare.h: steps that kinds take before they record anything.
 *
 * Zone: NORMAL.
 */
#ifndef PP_OUTPUT_PREPARE_H
#define PP_OUTPUT_PREPARE_H

/* Before a profile that will be written to a file: sets the default name, and keeps our tables out
 * of core dumps. */
void pp_prepare_files(void);

/* Before the first walk: in a sandbox, walks avoid the system calls that it forbids. */
void pp_prepare_walks(void);

/* Both, and more: for a kind that hooks record and that is written when the process ends, also by a
 * fatal signal. */
void pp_prepare_recording(void);

#endif
