/* SPDX-License-Identifier: MIT
 *
 * target.h: the process whose stacks are read.
 *
 * The unwinder and the readers of symbols take another process as a parameter (unwind/target.h,
 * pp_mapping.memory, pp_mapping.files), which is filled here:
 *
 *   memory.c     memory, by process_vm_readv(2) or /proc/PID/mem
 *   modules.c    objects, from /proc/PID/maps and their ELF headers, and where libpprof is
 *   target.c     files, as the target sees them (/proc/PID/root)
 *
 * Nothing is loaded into the target, nothing is written there, and it is not stopped. There is one
 * target at a time: memory.c has copies of its pages.
 *
 * Owns: the target's descriptors.
 */
#ifndef PP_REMOTE_TARGET_H
#define PP_REMOTE_TARGET_H

#include "remote/dump.h"

#include "base/arena.h"
#include "profile/model.h"
#include "sys/own_files.h"
#include "unwind/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_target {
    pp_walk_target walked; /* what the unwinder and the readers of symbols need; the first member */
    pp_files files;
    char program[sizeof "/proc//exe" + 12]; /* files.program */
    int pid;
    int thread; /* whose folder in /proc has its files (process.h) */
    int tasks;  /* /proc/PID/task */
    int memory; /* /proc/PID/mem, for reading; good after the thread's end, too */
    int root;   /* /proc/PID/root */
} pp_target;

/* Opens the process, and checks that its threads may be looked at. 0, or -1 and the reason. The
 * target stays where it is: what is read of it points to it. */
int pp_target_open(pp_target *target, int pid, pp_remote_error *error);
void pp_target_close(pp_target *target);

/* Reads the target's objects: for the unwinder, and as the mappings of `profile`. 0, or -1 and the
 * reason. */
int pp_target_read_objects(pp_target *target, pp_arena *arena, pp_profile *profile,
                           pp_remote_error *error);

/* For the first member of a target. */
extern const pp_memory pp_target_reader;

/* Empties the copies of such pages (memory.c). */
void pp_target_forget_pages(void);

/* Reads the beginning of /proc/PID/NAME; PID may be a thread's. The number of bytes, or -errno. */
long pp_remote_read_proc(int pid, const char *name, void *to, size_t size);

/* What follows "KEY:" in /proc/PID/status; PID may be a thread's. The number is 0 if there is none. */
bool pp_remote_status_text(int pid, const char *key, char *to, size_t size);
long pp_remote_status_number(int pid, const char *key);

/* Stores why the process may not be looked at, by the -errno of a file in /proc, and what to do; returns -1. */
int pp_remote_refuse(int pid, long status, pp_remote_error *error);

/* Stores "why ...", cut if it is too long; returns -1. */
int pp_remote_fail(pp_remote_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
