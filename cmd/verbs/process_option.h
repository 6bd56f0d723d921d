/* SPDX-License-Identifier: MIT
 *
 * process_option.h: the option -p PID.
 */
#ifndef CP_PROCESS_OPTION_H
#define CP_PROCESS_OPTION_H

typedef struct cp_error cp_error;

/* Reads the number of a process. Returns 0, or -1 with a sentence. */
int cp_process_parse(const char *text, int *pid, cp_error *error);

#endif
