/* SPDX-License-Identifier: MIT
 *
 * toggle.h: a signal that the user sends to have something started or stopped.
 *
 *   signal -> handler, on whatever thread: rings -> our thread: toggle()
 *
 * Starting and stopping a profile takes locks and asks the loader, which a handler may not. So a
 * thread of ours waits, and the program has one more than without; it is in none of its profiles of
 * threads.
 *
 * Zone: NORMAL.
 * Owns: the thread; the action of that signal.
 */
#ifndef PP_HOST_TOGGLE_H
#define PP_HOST_TOGGLE_H

/* From now on toggle() is called once for each `signal` that comes. Once in a process. A program
 * that has a handler of its own for it keeps that. 0, -EBUSY, -EINVAL, or -errno of creating a
 * thread. */
int pp_toggle_begin(int signal, void (*toggle)(void));

#endif
