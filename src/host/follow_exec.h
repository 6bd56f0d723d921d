/* SPDX-License-Identifier: MIT
 *
 * follow_exec.h: the option `follow-exec`: the profiles go on when the process executes another
 * program.
 *
 * When the library is loaded, it removes itself from the environment, so that child processes run
 * without it. A program that the process itself executes gets an environment that names the library
 * again, whatever environment the program that calls exec gives to it.
 *
 * Zone: NORMAL.
 * Owns: copies of LD_PRELOAD's word and of LIBPPROF, as they were at load.
 */
#ifndef PP_HOST_FOLLOW_EXEC_H
#define PP_HOST_FOLLOW_EXEC_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Remembers what the environment says about the library. Called before it is changed. */
void pp_follow_exec_remember(void);

/* Copies `envp`, and adds the library and its options. `left_ns`: the rest of the duration; 0:
 * there is no duration. NULL if there is no memory, or if the environment did not name the library.
 * The copy is in `arena`, but for the entries that stay. */
char *const *pp_follow_exec_environment(char *const envp[], uint64_t left_ns, pp_arena *arena);

#endif
