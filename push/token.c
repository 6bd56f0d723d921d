/* SPDX-License-Identifier: MIT
 *
 * token.c: see token.h.
 *
 * Tested by: e2e.push_trouble
 */
#include "push/token.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

int push_token_read(const char *path, char token[PUSH_TOKEN_BYTES])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    ssize_t length = fd >= 0 ? read(fd, token, PUSH_TOKEN_BYTES) : -1;
    int error = errno;
    if (fd >= 0) {
        close(fd);
    }
    if (length < 0) {
        return -error;
    }
    ssize_t end = 0;
    while (end < length && token[end] > ' ' && token[end] < '\x7f') {
        end++;
    }
    bool is_whole =
        end < length ? token[end] == '\n' || token[end] == '\r' : length < PUSH_TOKEN_BYTES;
    if (!is_whole || end == 0) {
        return -EINVAL;
    }
    token[end] = '\0';
    return 0;
}

void push_token_wipe(char token[PUSH_TOKEN_BYTES])
{
    explicit_bzero(token, PUSH_TOKEN_BYTES);
}
