/* SPDX-License-Identifier: MIT
 *
 * crash_dump.h: what a crash writes to the log, as Go does [runtime.sighandler, fatalsignal].
 *
 *   SIGSEGV: segmentation violation
 *   PC=0x55d0c1a4f1ca thread=4711 sigcode=1 (SEGV_MAPERR) addr=0x0
 *
 *   thread 4711 "worker" [running]:        the thread that crashed, then all others (thread_text.h)
 *   ...
 *
 *   rax    0x0                             its registers
 *   ...
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing.
 */
#ifndef PP_KINDS_THREADS_CRASH_DUMP_H
#define PP_KINDS_THREADS_CRASH_DUMP_H

#include <signal.h>
#include <stdbool.h>

/* Called before the handler is installed, in ordinary code. False if a filter forbids what a dump
 * needs: it might kill in a crash, which would end the program by another signal. */
bool pp_crash_dump_prepare(void);

/* `info`, `context`: what the signal's handler was given. */
void pp_crash_dump_write(const siginfo_t *info, const void *context);

#endif
