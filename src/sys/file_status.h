/* SPDX-License-Identifier: MIT
 *
 * file_status.h: which system call libc's fstat makes.
 *
 * A filter that is in force when a program begins need not permit the other call, and the library
 * makes this call before it has tested what the filter permits.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_SYS_FILE_STATUS_H
#define PP_SYS_FILE_STATUS_H

#include <stdbool.h>

/* Whether fstat calls newfstatat with an empty path. Defined in one of two files:
 * file_status_glibc.c, or file_status_musl.c. */
bool pp_libc_asks_by_path(void);

#endif
