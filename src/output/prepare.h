/* SPDX-License-Identifier: MIT
 *
 * prepare.h: what comes before anything is recorded.
 *
 * Zone: NORMAL.
 */
#ifndef PP_OUTPUT_PREPARE_H
#define PP_OUTPUT_PREPARE_H

/* A profile will be written to a file: it has a name, and our tables stay out of core dumps. */
void pp_prepare_files(void);

/* Before the first walk: in a sandbox, walks do without what it forbids. */
void pp_prepare_walks(void);

/* For a kind that hooks record and the end of the process writes, a fatal signal's included. */
void pp_prepare_recording(void);

#endif
