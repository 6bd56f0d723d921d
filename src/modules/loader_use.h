/* SPDX-License-Identifier: MIT
 *
 * loader_use.h: which threads of the library may be in the loader, and hold its locks, when the process forks.
 *
 *   thread of the library   go_out ..... go_in, dl_iterate_phdr, go_out ..... go_in, end
 *   fork                          begin ..... end     (go_in waits)
 *
 * Zone: HOOK.
 * Owns: the threads that are out of the loader.
 */
#ifndef PP_MODULES_LOADER_USE_H
#define PP_MODULES_LOADER_USE_H

#include <stdbool.h>

/*
 * A thread of the library that is out of the loader does not make it suspect: it goes in only by
 * pp_loader_go_in(), which waits while the process forks, and says so if that takes too long. It returns
 * whether the thread was out. Each thread is in until it goes out, and goes in before it ends. NORMAL.
 */
void pp_loader_go_out(void);
bool pp_loader_go_in(void);

/* The same, before and after a wait: for threads whose code is in other libraries. NORMAL. */
void pp_loader_wait(bool begins);

/* Around fork. The first one returns whether no other thread may be in the loader: all but the caller are
 * out, and stay there until the second. The third one is for the child, and suspects the loader of a thread
 * that did not. */
bool pp_loader_begin_fork(void);
void pp_loader_end_fork(void);
void pp_loader_after_fork_in_child(void);

#endif
