/* SPDX-License-Identifier: MIT
 *
 * process_files.h: what /proc says of a process.
 *
 * If the first thread has ended while others go on, most files are empty (remote/process.h): those
 * of another thread are read then, but not for cp_process_stat_read().
 */
#ifndef CP_PROCESS_FILES_H
#define CP_PROCESS_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct cp_error cp_error;

/* Reads the number of a process, as the option -p has it. Returns 0, or -1 with a sentence. */
int cp_process_parse(const char *text, int *pid, cp_error *error);

/* Opens a file of the folder /proc/PID; NULL: there is no such process, or /proc hides it. */
FILE *cp_process_open(int pid, const char *name);

/* The command with its arguments, at most 4095 bytes; to be freed. NULL: a thread of the kernel, no
 * process, or /proc hides it. */
char *cp_process_command(int pid);

/* A line of /proc/PID/stat. */
typedef struct cp_process_stat {
    char name[64]; /* may have any bytes; that of a program has 15 */
    char state;    /* 'R', 'S', 'T', 'Z' ... */
    int parent;
    uint64_t
        ticks[4]; /* CPU time: user's, system's, and both of the children that were waited for */
    uint64_t
        start; /* ticks after the start of the machine: no two processes of a number have the same */
} cp_process_stat;

/* Reads the file `name`, "stat" or "task/TID/stat". False: it is not there. */
bool cp_process_stat_read(int pid, const char *name, cp_process_stat *stat);

/* Whether there is such a process, and it has not ended. */
bool cp_process_lives(int pid);

#endif
