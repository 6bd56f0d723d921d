/* SPDX-License-Identifier: MIT
 *
 * errors.h: the errors that a system call of the library may have, the most likely first.
 *
 * Calls that cannot fail as the library makes them have none: getpid, rt_sigprocmask, exit.
 *
 * Zone: tests.
 */
#ifndef PP_TORTURE_ERRORS_H
#define PP_TORTURE_ERRORS_H

#include <stdbool.h>

/* Ends with 0. */
const int *errors_of(long number);

/* Of a call that is not known, its number. */
const char *errors_call_name(long number);

/* Whether the call has done its work although it fails: close(2) has closed. */
bool errors_after(long number);

#endif
