/* SPDX-License-Identifier: MIT
 *
 * dump.h: writes the stacks of all threads of another process, without touching it.
 *
 * A thread that waits is walked from outside: /proc/PID/task/TID/syscall has its PC and SP, its
 * memory is read with process_vm_readv(2), and its stack counts if the thread has not run
 * meanwhile. A thread that runs is sampled by a perf event (software clock), whose record has its
 * registers and a copy of its stack. No thread is stopped, no call of the target is interrupted.
 *
 * For a thread that waits for a pthread mutex or rwlock the text names the holder; where threads
 * wait for each other in a circle, it says so at its end.
 */
#ifndef PP_REMOTE_DUMP_H
#define PP_REMOTE_DUMP_H

#include "pprof.h"
#include "pprof_dwarf.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct pp_remote_error {
    char text[512];
} pp_remote_error;

typedef struct pp_remote_wish {
    int pid;
    bool as_profile;                    /* profile.proto of kind `thread`, instead of the text */
    const pprof_dwarf_interface *lines; /* of libpprof-dwarf; NULL: functions have no lines */
    bool explain; /* say why stacks end that are not whole: after them, or in comments */
} pp_remote_wish;

typedef struct pp_remote_result {
    size_t threads;
    size_t not_whole; /* threads whose stack is missing, or lacks its outer frames */
    size_t not_seen;  /* of these, threads that ran, for which the kernel grants no perf event */
    size_t deadlocks; /* circles */
    int lines_error;  /* -EFBIG or -ENOMEM: a file's debug information was too large; 0: none */
} pp_remote_result;

/*
 * Writes the stacks. Returns 0, or -1 with the reason and what to do about it: there is no such
 * process, it may not be looked at (another user's, Yama's ptrace_scope, a sandbox), it is no
 * 64-bit program, it has ended meanwhile, or the writer failed. The writer gets whole texts only.
 * Not thread-safe: there is one target at a time.
 */
int pp_remote_dump(const pp_remote_wish *wish, pprof_writer writer, pp_remote_result *result,
                   pp_remote_error *error);

#endif
