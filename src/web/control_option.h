/* SPDX-License-Identifier: MIT
 *
 * control_option.h: the option `control`: a socket on which the process is asked for its profiles,
 * and told which ones to take (docs/CONTROL.md). libpprof-http serves it.
 *
 * Zone: NORMAL.
 * Locks: callers hold the lock of all_kinds.h; the loader's, while libpprof-http is loaded.
 * Owns: the path that was asked for.
 */
#ifndef PP_WEB_CONTROL_OPTION_H
#define PP_WEB_CONTROL_OPTION_H

#include <stdbool.h>

/* Takes the value of the option: the path of the socket, which may have %p and %e; NULL: one in the
 * user's own folder. 0, or -EINVAL, -ENAMETOOLONG. */
int pp_control_option_take(const char *value);

/* Starts the socket if it was asked for, and is not there. 0, or -errno, which is also on the log. */
int pp_control_option_start(void);

/* Starts the socket although the option did not ask for it; or ends such a one. 0, or -errno, which
 * is also on the log. */
int pp_control_option_begin(void);
void pp_control_option_end(void);

/* Forgets that the option has asked for a socket. */
void pp_control_option_forget(void);

/* Starts it in the child of fork, or forgets that it was asked for. */
void pp_control_option_after_fork_in_child(bool goes_on);

#endif
