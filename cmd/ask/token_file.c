/* SPDX-License-Identifier: MIT
 *
 * token_file.c: see token_file.h.
 *
 * Owns: the name of the file.
 * Tested by: e2e.http_server
 */
#include "ask/token_file.h"

#include "base/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *named;

const char **cp_token_file(void)
{
    return &named;
}

/* The length of the first line's word; 0 if the line is not one word, or too long. */
static size_t first_word(const char *text, size_t length)
{
    size_t end = 0;

    while (end < length && text[end] > ' ' && text[end] < '\x7f') {
        end++;
    }
    bool is_whole = end == length ? length < CP_TOKEN_BYTES : strchr("\r\n", text[end]) != NULL;
    return is_whole ? end : 0;
}

int cp_token_read(char token[CP_TOKEN_BYTES], cp_error *error)
{
    const char *path = named ? named : getenv("CPPROF_TOKEN_FILE");

    token[0] = '\0';
    if (!path || !*path) {
        return 0;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    ssize_t length = fd < 0 ? -1 : read(fd, token, CP_TOKEN_BYTES);
    int reason = errno;
    if (fd >= 0) {
        close(fd);
    }
    if (length < 0) {
        return cp_fail(error, "%.500s: cannot read the token: %s", path, strerror(reason));
    }
    size_t end = first_word(token, (size_t)length);
    if (end == 0) {
        return cp_fail(error, "%.500s: expected a token without blanks in the first line", path);
    }
    token[end] = '\0';
    return 0;
}
