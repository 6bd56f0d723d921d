/* SPDX-License-Identifier: MIT
 *
 * follow_exec.h: the option `follow-exec`: a process that executes another program is profiled on.
 *
 * The library takes itself out of the environment when it is loaded, for the sake of children. A
 * program that the process itself executes gets an environment with the library in it again,
 * whatever environment the host gives it.
 *
 * Zone: NORMAL.
 * Owns: copies of LD_PRELOAD's word and of LIBPPROF, as they were at load.
 */
#ifndef PP_HOST_FOLLOW_EXEC_H
#define PP_HOST_FOLLOW_EXEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether that word of LD_PRELOAD is this library. */
bool pp_follow_exec_is_us(const char *word, size_t length);

/* Before the environment is changed: remembers what it says about us. */
void pp_follow_exec_remember(void);

/* `envp` with us in it; `left_ns` of the duration that was asked for are left (0: none was). NULL
 * where there is no memory or nothing to remember. Valid until the release. */
char *const *pp_follow_exec_environment(char *const envp[], uint64_t left_ns);
void pp_follow_exec_release(void);

#endif
