/* SPDX-License-Identifier: MIT
 *
 * token.h: the secret that requests must show.
 */
#ifndef PP_HTTP_TOKEN_H
#define PP_HTTP_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

enum { TOKEN_MIN = 16, TOKEN_MAX = 255 };

typedef struct token {
    char text[TOKEN_MAX + 1];
    size_t length; /* 0: there is none, and every request is allowed */
} token;

/* Reads the first line of the file. 0, -EINVAL if it is too short or too long, or -errno. */
int token_read(token *t, const char *path);

/* Whether the header "Authorization: Bearer SECRET" has the secret; `value` is what follows the
 * colon, or NULL. The time depends on the lengths only, not on where the two differ. */
bool token_is_shown(const token *t, const char *value);

#endif
