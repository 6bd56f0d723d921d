/* SPDX-License-Identifier: MIT
 *
 * why.h: `cpprof why`: what a running process does and waits for, on one page of text.
 */
#ifndef CP_WHY_H
#define CP_WHY_H

/* Asks for `seconds` of the process or server (pid:PID, or a URL without a profile's name), and prints the
 * page on standard output. Returns an exit status. */
int cp_why_run(const char *source, long seconds);

#endif
