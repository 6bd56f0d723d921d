/* SPDX-License-Identifier: MIT
 *
 * memory.h: `cpprof memory`: what holds the resident memory of a process, on one page of text.
 */
#ifndef CP_WHY_MEMORY_H
#define CP_WHY_MEMORY_H

/* Prints the page of a profile of the kind `memory` (a file, a server, pid:PID). Of a process that has
 * no libpprof, what /proc says. Returns an exit status. */
int cp_memory_run(const char *source);

#endif
