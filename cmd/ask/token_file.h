/* SPDX-License-Identifier: MIT
 *
 * token_file.h: the token that servers ask for: `http-token=FILE` of libpprof, or a proxy before it.
 *
 * It is the first line of a file, and never on the command line, which every user of the machine can
 * read in /proc.
 */
#ifndef CP_TOKEN_FILE_H
#define CP_TOKEN_FILE_H

typedef struct cp_error cp_error;

enum { CP_TOKEN_BYTES = 4096 };

/* Where an option stores the file's name. As long as it is NULL, $CPPROF_TOKEN_FILE names it. */
const char **cp_token_file(void);

/* Reads the token; "" if no file is named. Returns 0, or -1 with a sentence. */
int cp_token_read(char token[CP_TOKEN_BYTES], cp_error *error);

#endif
