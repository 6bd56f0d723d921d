/* SPDX-License-Identifier: MIT
 *
 * toggle.h: a signal by which the user starts and stops a profile.
 *
 *   signal -> handler, on any thread: rings -> libpprof's thread: toggle()
 *
 * Starting and stopping a profile takes locks and calls the loader, which a handler may not do. So
 * a thread of libpprof waits for the handler. No profile of threads shows it.
 *
 * Zone: NORMAL.
 * Owns: the thread; the action of that signal.
 */
#ifndef PP_HOST_TOGGLE_H
#define PP_HOST_TOGGLE_H

/* From now on each `signal` that comes calls toggle() once. 0; -EBUSY if this was called before, or
 * if the program has a handler of its own for the signal, which stays; -EINVAL; or -errno of
 * creating a thread. */
int pp_toggle_begin(int signal, void (*toggle)(void));

/* Ends the thread, and waits for it: nobody answers the signal any more. toggle() must not call
 * this. */
void pp_toggle_end(void);

/* Does that, and gives the signal the action back that it had before. */
void pp_toggle_undo(void);

#endif
