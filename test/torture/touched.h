/* SPDX-License-Identifier: MIT
 *
 * touched.h: prints what a successful system call of the library touches, one line each.
 *
 *   reads PATH   writes PATH   lists PATH   looks PATH   creates PATH   removes PATH   renames PATH
 *   socket FAMILY   binds ADDRESS   connects ADDRESS   executes PATH   signals SIGNAL
 *
 * Numbers of processes are written as PID.
 *
 * Zone: tests.
 */
#ifndef PP_TORTURE_TOUCHED_H
#define PP_TORTURE_TOUCHED_H

#include <sys/ptrace.h>
#include <sys/types.h>

/* `folder` is shown as %D. */
void touched_print(pid_t tid, const struct __ptrace_syscall_info *entry, const char *folder);

#endif
