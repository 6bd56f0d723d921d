/* SPDX-License-Identifier: MIT
 *
 * message.h: what the command says when something is wrong.
 *
 * Functions that can fail return 0 or -1 and leave a sentence in a cp_error; the verb prints it
 * with cp_complain() and ends with one of the two exit statuses. A sentence names the file, the
 * place, what was expected there, what was found, and what to do about it.
 */
#ifndef CP_MESSAGE_H
#define CP_MESSAGE_H

enum {
    CP_EXIT_OK = 0,
    CP_EXIT_BAD_INPUT = 1,   /* an input or the system is at fault */
    CP_EXIT_BAD_USAGE = 2,   /* the command line is at fault */
    CP_EXIT_NO_PROFILE = 125 /* record: the command went well, its profile did not arrive */
};

typedef struct cp_error {
    char text[1024];
} cp_error;

/* Writes the sentence, cut if it is too long, and returns -1,
 * so that `return cp_fail(...)` works. */
int cp_fail(cp_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "cpprof: SENTENCE" on stderr. */
void cp_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* cp_complain(), then the hint "see `cpprof help VERB`" (VERB may be NULL); returns
 * CP_EXIT_BAD_USAGE. */
int cp_bad_usage(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
