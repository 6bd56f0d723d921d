/* SPDX-License-Identifier: MIT
 *
 * signals.h: the signals by which the C library cancels threads, and runs a setuid() in all of them.
 *
 *           32              33      34
 *   glibc   cancel, timers  setuid  the program's
 *   musl    timers          cancel  setuid
 *
 * The library keeps these for itself. "Timers" are those of SIGEV_THREAD: their threads block the signal. musl's first
 * timer_create() also sets the signal's action back to the default, which ends the process; its first sigaction() with a
 * handler lets through the signals for timers and cancellation (PP_SIGACTION_UNBLOCKS).
 *
 * Zone: SIGNAL.
 */
#ifndef PP_LIBC_SIGNALS_H
#define PP_LIBC_SIGNALS_H

#include <stdbool.h>

#ifdef PP_MUSL
#define PP_CANCEL_SIGNAL      33
#define PP_CANCEL_SIGNAL_TEXT "33"
#define PP_SETUID_SIGNAL      34
#define PP_SIGACTION_UNBLOCKS true
#else
#define PP_CANCEL_SIGNAL      32
#define PP_CANCEL_SIGNAL_TEXT "32"
#define PP_SETUID_SIGNAL      33
#define PP_SIGACTION_UNBLOCKS false
#endif

#endif
