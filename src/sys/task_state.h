/* SPDX-License-Identifier: MIT
 *
 * task_state.h: the state of a thread of this process, from /proc.
 *
 *   /proc/self/task/T/syscall   "running", or the call in which it waits, its arguments, SP and PC
 *   /proc/self/task/T/stat      a letter, used if `syscall` may not be read (after a setuid(), or
 *                               where the process is not dumpable)
 *   /proc/self/task/T/status    the signals that it blocks, and its pending signals
 *   /proc/self/task/T/schedstat how long it ran, and how long it waited for a processor
 *   /proc/self/task/T/comm      its name
 *
 * A thread that looks again and again keeps the first and the last but one open, of some threads: to read one again costs
 * a third of opening it, too. It needs a table of descriptors of its own (sys/apart.h). No folder stays open: it would
 * lead out of the root that the program changes to (chroot).
 *
 * Zone: SIGNAL (system calls only).
 */
#ifndef PP_SYS_TASK_STATE_H
#define PP_SYS_TASK_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PP_TASK_NAME_BYTES = 16,     /* TASK_COMM_LEN */
    PP_TASK_STATUS_BYTES = 2048, /* of `status`: the needed lines are in the first 1 200 */
    PP_TASK_ANY_FOLDER = -100,   /* AT_FDCWD: each file is opened by its whole path */
    PP_TASK_KEPT = 8             /* threads whose files stay open */
};

typedef enum pp_task_activity {
    PP_TASK_GONE,
    PP_TASK_RUNS,   /* or is runnable */
    PP_TASK_WAITS,  /* in the kernel, at a known place */
    PP_TASK_UNKNOWN /* /proc permits no answer */
} pp_task_activity;

enum { PP_TASK_ARGUMENTS = 6 };

/* The place where a thread waits. */
typedef struct pp_task_place {
    long call; /* number of the system call; -1: in none (a page fault) */
    uintptr_t argument[PP_TASK_ARGUMENTS]; /* of the call; 0 if there is none */
    uintptr_t sp, pc;
} pp_task_place;

/* Opens /proc/self/task for the functions below: a descriptor for pp_task_close(), or -errno. */
int pp_task_open(void);
void pp_task_close(int folder);

static inline bool pp_task_is_folder(int folder)
{
    return folder >= 0 || folder == PP_TASK_ANY_FOLDER;
}

/* Files that stay open. Those of a thread that is looked at each time stay, however many others there are. */
typedef struct pp_task_files {
    uint32_t look; /* the number of the current one */
    struct pp_task_kept {
        int tid; /* 0: none */
        uint32_t look;
        int syscall, schedstat; /* < 0: not open */
    } kept[PP_TASK_KEPT];
} pp_task_files;

static inline void pp_task_files_begin_look(pp_task_files *files)
{
    files->look++;
}

/* By the thread that has them. */
void pp_task_files_close(pp_task_files *files);

/* Fills *place only for PP_TASK_WAITS. `files` may be NULL. */
pp_task_activity pp_task_look_again(pp_task_files *files, int folder, int tid,
                                    pp_task_place *place);

static inline pp_task_activity pp_task_look(int folder, int tid, pp_task_place *place)
{
    return pp_task_look_again(NULL, folder, tid, place);
}

/* How long the thread has waited for a processor so far, in nanoseconds, by /proc/self/task/T/schedstat;
 * -1 if the kernel does not say. `files` may be NULL. */
int64_t pp_task_delay_ns(pp_task_files *files, int folder, int tid);

/* Whether descriptor `fd` of the thread is a socket. */
bool pp_task_has_socket(int folder, int tid, uintptr_t fd);

/* Returns the letter of /proc/self/task/T/stat: R runs, S sleeps, D sleeps uninterruptibly, T
 * stopped, Z dead; 0 if the thread is gone. */
char pp_task_letter(int folder, int tid);

/* Whether the thread blocks `signal`. False if the thread is gone. `text` is working memory. */
bool pp_task_blocks(int folder, int tid, int signal, char text[PP_TASK_STATUS_BYTES]);

/* Whether `signal` is pending for the thread. False if the thread is gone. */
bool pp_task_has_pending(int tid, int signal, char text[PP_TASK_STATUS_BYTES]);

/* How many seccomp filters are in force for the thread, and 1 more if any; where the kernel does not
 * count them, 0 or 1. 0 if the thread is gone. */
uint64_t pp_task_filters(int tid, char text[PP_TASK_STATUS_BYTES]);

/* Stores the thread's name, "" if the thread is gone. */
void pp_task_name(int folder, int tid, char name[PP_TASK_NAME_BYTES]);

/* Returns the name of a system call, or NULL. */
const char *pp_task_call_name(long call);

#endif
