/* SPDX-License-Identifier: MIT
 *
 * token.h: the bearer token of a request: the first line of a file, which may change while we run.
 */
#ifndef PUSH_TOKEN_H
#define PUSH_TOKEN_H

#include <stddef.h>

enum { PUSH_TOKEN_BYTES = 4096 };

/* Reads it. 0, -EINVAL if the line is not one word or too long, or -errno. */
int push_token_read(const char *path, char token[PUSH_TOKEN_BYTES]);

/* Overwrites what no one may find later. */
void push_token_wipe(char token[PUSH_TOKEN_BYTES]);

#endif
