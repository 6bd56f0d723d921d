/* SPDX-License-Identifier: MIT
 *
 * process.h: the parts of /proc that a process has only while it lives, and its files.
 *
 * /proc/PID is the folder of the first thread. If that thread has ended while others go on, most of
 * its files are empty: maps, mem, exe, root, environ, cmdline. The folder of any other thread has
 * the same, /proc/TID as well as /proc/PID/task/TID.
 */
#ifndef PP_REMOTE_PROCESS_H
#define PP_REMOTE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A thread whose folder in /proc has the files of the process: the first one, or, where that has
 * ended, another one; `pid` if there is none. It may end at any moment, so ask again each time. */
int pp_process_thread(int pid);

/* Copies bytes of the memory of a thread's process: process_vm_readv(2), or /proc/TID/mem where that
 * is forbidden. */
bool pp_process_read(int pid, uintptr_t from, void *to, size_t size);

/* Opens the root folder of the process, as a place to search from. A descriptor, or -errno. */
int pp_process_root(int pid);

#endif
