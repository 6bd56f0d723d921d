/* SPDX-License-Identifier: MIT
 *
 * beside.h: calls a function that reads memory which another thread may unmap at any moment.
 *
 * A load of memory that has gone raises a signal, and the actions of signals belong to the program. So
 * the function runs in a child process that shares all memory with this one, and has actions of its
 * own: a fault ends the child, and nothing else. The caller waits. No copy is made, and no lock of the
 * kernel is taken for memory that is there, as process_vm_readv(2) does for each page.
 *
 *   caller:  block signals --> clone, vfork .............. the kernel lets it go on --> wait4 --> go on
 *   child:                `-> function --> exit
 *                                     `-- fault: exit
 *
 * The child has the stack and the thread-local storage of the caller. It sends no signal at its end,
 * and ends with the calling thread.
 *
 * Zone: SIGNAL (it waits for its own child only).
 */
#ifndef PP_SYS_BESIDE_H
#define PP_SYS_BESIDE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Calls function(argument) as above, and returns whether it has returned. False if a fault has ended it,
 * or the kernel gives no child: what the function has written until then is there. What it opens is
 * closed. It has copies of the caller's descriptors, which keep files of the program open: callers are
 * functions that pp_apart() calls (sys/apart.h). Where pp_sandbox_permits_questions() (sys/sandbox.h): a filter may kill for the calls.
 */
bool pp_beside(void (*function)(void *argument), void *argument);

/* The CPU time of these children, in microseconds: the kernel counts it among that of the program's. */
uint64_t pp_beside_cpu_us(void);

/* In the child of fork, which has had none. */
void pp_beside_after_fork_in_child(void);

#endif
