/* SPDX-License-Identifier: MIT
 *
 * message.h: complaints and exit statuses of the command.
 *
 * A function that can fail returns 0, or -1 with a sentence in a cp_error. The verb prints the
 * sentence with cp_complain() and ends with one of the exit statuses. A sentence names the file,
 * the place in it, what was expected there, what was found, and what the user can do. Control
 * characters of what it quotes are shown escaped (printable.h).
 */
#ifndef CP_MESSAGE_H
#define CP_MESSAGE_H

enum {
    CP_EXIT_OK = 0,
    CP_EXIT_BAD_INPUT = 1,   /* an input or the system caused the failure */
    CP_EXIT_BAD_USAGE = 2,   /* the command line is wrong */
    CP_EXIT_ABOVE = 3,       /* diff --fail-above: something grew by more */
    CP_EXIT_NO_PROFILE = 125 /* record: the command succeeded, but a profile is missing */
};

typedef struct cp_error {
    char text[1024];
} cp_error;

/* Writes the sentence, cut if it is too long. Always returns -1, for `return cp_fail(...)`. */
int cp_fail(cp_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints "cpprof: SENTENCE" on stderr. */
void cp_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Calls cp_complain() and prints the hint "see `cpprof help VERB`" (VERB may be NULL). Returns
 * CP_EXIT_BAD_USAGE. */
int cp_bad_usage(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
