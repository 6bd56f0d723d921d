/* SPDX-License-Identifier: MIT
 *
 * push_option.h: the option `push`: a thread that sends what the process records to a server, at an
 * interval and at the end. libpprof-push is loaded for it.
 *
 * Zone: NORMAL; the fatal-signal writer calls pp_push_option_end() too.
 * Locks: callers of take and start hold the lock of all_kinds.h.
 * Owns: the thread; what the options say.
 */
#ifndef PP_WEB_PUSH_OPTION_H
#define PP_WEB_PUSH_OPTION_H

#include <stdbool.h>
#include <stdint.h>

/* The words push, push-to, push-token, push-tenant, push-ca, push-spool and service. */
typedef enum pp_push_word {
    PP_PUSH_URL,
    PP_PUSH_TO,
    PP_PUSH_TOKEN,
    PP_PUSH_TENANT,
    PP_PUSH_CA,
    PP_PUSH_SPOOL,
    PP_PUSH_SERVICE,
    PP_PUSH_WORDS
} pp_push_word;

/* Takes the value of a word. 0, or -EINVAL. */
int pp_push_option_take(pp_push_word word, const char *value);

/* Returns the value of a word; NULL: none was given. */
const char *pp_push_option_word(pp_push_word word);

/* Whether a URL was given, and profiles are sent there, or will be. */
bool pp_push_option_is_on(void);

/* Starts the thread, if a URL was given and none runs. 0: `interval_ns` is 15 s. `is_late`: what was
 * recorded before is not sent. 0, or -errno, which is also on the log. */
int pp_push_option_start(uint64_t interval_ns, bool is_late);

/* Sends what there is now, and goes on: the process executes another program, which may fail. Waits two
 * seconds at most. */
void pp_push_option_flush(void);

/* The same, and the thread ends. */
void pp_push_option_end(void);

/* In the child of fork, which has no such thread. */
void pp_push_option_after_fork_in_child(bool goes_on);

#endif
