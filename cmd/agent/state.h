/* SPDX-License-Identifier: MIT
 *
 * state.h: the agent's folders. RUN is in memory (/run), where there is one: what was pushed of a process is of no use
 * when the machine was started anew. It is STATE if --state names that.
 *
 *   STATE/lock                        one agent at a time
 *   STATE/spool/                      what the server has not taken yet (push/push.h)
 *   RUN/PID-START-LOADED.tally        what was pushed of a process
 *   STATE/last/USER/PID-LOADED-KIND-PROGRAM.pb.gz   what a process wrote at its end; the folder is the user's
 */
#ifndef CP_AGENT_STATE_H
#define CP_AGENT_STATE_H

#include "agent/tally.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct cp_error cp_error;
typedef struct cp_bytes cp_bytes;
typedef struct cp_target cp_target;

typedef struct cp_state {
    char *path;
    int folder; /* -1: it is not open */
    int run;
    int lock;
} cp_state;

/* The profiles that are collected; what is not among them is pushed as it is. */
typedef enum cp_kind_number {
    CP_KIND_CPU,
    CP_KIND_WALL,
    CP_KIND_HEAP,
    CP_KIND_BLOCK,
    CP_KIND_MUTEX,
    CP_KIND_THREAD,
    CP_KIND_FD,
    CP_KINDS
} cp_kind_number;

extern const char *const cp_kind_names[CP_KINDS];

/* A program that runs, or has run: a process may execute several. */
typedef struct cp_program_id {
    int pid;
    uint64_t start;  /* of the process, in clock ticks; 0: not known */
    uint64_t loaded; /* when the library was loaded */
} cp_program_id;

/* Opens the folder, and makes it if need be. NULL: the usual one. Returns 0, or -1 with a sentence. */
int cp_state_open(cp_state *state, const char *path, cp_error *error);
void cp_state_close(cp_state *state);

/* Writes the tallies of a program, and its labels, a text. Returns 0, or -1 with a sentence. */
int cp_state_put(const cp_state *state, const cp_program_id *id, const cp_tally tallies[CP_KINDS],
                 const char *labels, cp_error *error);

/* Reads the tallies, if there are any; else they stay as they are. Finds also the start of a process, if it is 0. Returns
 * the labels, to be freed; NULL: there are none. */
char *cp_state_get(const cp_state *state, cp_program_id *id, cp_tally tallies[CP_KINDS]);

/* Removes them. */
void cp_state_remove(const cp_state *state, const cp_program_id *id);

/* Removes those of processes for which `lives` is false. */
void cp_state_clean(const cp_state *state, bool (*lives)(const cp_program_id *id, void *context),
                    void *context);

/* ---- last profiles ---- */

/* The option `file` for a process of this user, which writes there; the folder is made. To be freed. NULL: it cannot be
 * made. */
char *cp_state_template(const cp_state *state, uid_t user);

/* The same for a process in a container, below its own /tmp. Returns the folder's descriptor, which keeps the files there
 * when the container has ended, and stores the option; or -1. */
int cp_state_folder_inside(const cp_target *target, char **template);

/* Whether the option is one of those two. */
bool cp_state_is_template(const cp_state *state, const char *file);

typedef struct cp_last_file {
    cp_program_id id;
    char kind[32];
    char program[64];
    uid_t user;
    int64_t time_ns; /* since 1970: when it was written */
} cp_last_file;

/* Takes the files of a user in a folder: calls `take` with the bytes of each, and removes it. */
void cp_state_take_from(int from, uid_t user,
                        void (*take)(const cp_last_file *file, const cp_bytes *bytes,
                                     void *context),
                        void *context);

/* Takes those of all users in STATE/last. */
void cp_state_take_files(const cp_state *state,
                         void (*take)(const cp_last_file *file, const cp_bytes *bytes,
                                      void *context),
                         void *context);

#endif
