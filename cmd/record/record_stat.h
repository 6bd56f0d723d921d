/* SPDX-License-Identifier: MIT
 *
 * record_stat.h: what the kernel says of a process while it is there.
 */
#ifndef CP_RECORD_STAT_H
#define CP_RECORD_STAT_H

#include <sys/types.h>

enum { CP_STAT_BYTES = 1024 };

/* Returns the text of /proc/PID/stat from the third field on: " S ...". Before it is the name, in
 * parentheses, which may have any bytes. NULL if the file cannot be read. */
char *cp_stat_read(pid_t pid, char line[CP_STAT_BYTES]);

#endif
