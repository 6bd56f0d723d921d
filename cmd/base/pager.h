/* SPDX-License-Identifier: MIT
 *
 * pager.h: a pager between standard output and the terminal, as git has it.
 *
 * The command is $CPPROF_PAGER, $PAGER or less; less gets LESS=FRX unless LESS is set, so that it
 * ends by itself if the text fits the screen. There is no pager if standard output is no terminal,
 * or if the command is empty or cat. A signal that ends cpprof waits for the pager, which otherwise
 * would fight the shell for the terminal.
 *
 * Owns: the pager's process, and standard output meanwhile.
 */
#ifndef CP_PAGER_H
#define CP_PAGER_H

/* Starts the pager, if there is to be one. Call it before anything is printed. From then on SIGPIPE
 * ends cpprof, as it ends git, also if the parent process ignores it: a report that nobody reads is
 * no error. */
void cp_pager_start(void);

/* Flushes standard output and waits until the user has left the pager. Does nothing without a
 * pager. */
void cp_pager_finish(void);

#endif
