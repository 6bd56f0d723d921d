/* SPDX-License-Identifier: MIT
 *
 * control.h: profiles from the control socket of a process (docs/CONTROL.md).
 *
 *   pid:1234                       the CPU profile of the next 10 seconds
 *   pid:1234/heap                  a profile that has a name
 *   pid:1234/profile?seconds=30    what HTTP takes after /debug/pprof/
 */
#ifndef CP_CONTROL_H
#define CP_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cp_bytes cp_bytes;
typedef struct cp_error cp_error;

/* Whether the name of a source is that of a process. */
bool cp_control_is_process(const char *source);

/* Reads "pid:1234" or "1234", and where the number ends. */
int cp_control_pid(const char *text, int *pid, const char **rest, cp_error *error);

/* Appends what the process answers, at most `limit` bytes. Waits as long as the profile takes, and
 * a minute. Returns 0, or -1 with a sentence that begins with the source. */
int cp_control_fetch(const char *source, size_t limit, cp_bytes *bytes, cp_error *error);

/*
 * Sends a request for /control/VERB on a connected socket. `body`: what is posted, which may be "";
 * NULL for GET, which `status` needs. Returns 0, or -1 with a sentence.
 */
int cp_control_send(int fd, const char *verb, const char *body, cp_error *error);

/* Does so, waits for the answer for `seconds`, and closes the socket. Appends the answer if its
 * status is 200; `answer` may be NULL. Returns 0, or -1 with what the process answered instead. */
int cp_control_ask(int fd, const char *verb, const char *body, int seconds, cp_bytes *answer,
                   cp_error *error);

/* What follows a word at the beginning of a line of the answer to `status`; NULL: no line begins with
 * it. To be freed. */
char *cp_control_value(const cp_bytes *status, const char *word);

/* Connects to the process, and does so. */
int cp_control_say(int pid, const char *verb, const char *body, cp_bytes *answer, cp_error *error);

#endif
