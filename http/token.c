/* SPDX-License-Identifier: MIT
 *
 * token.c: see token.h.
 *
 * Tested by: e2e.http_server
 */
#include "token.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

int token_read(token *t, const char *path)
{
    char line[TOKEN_MAX + 2];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        return -errno;
    }
    ssize_t length = read(fd, line, sizeof line);
    int error = errno;
    close(fd);
    if (length < 0) {
        return -error;
    }
    size_t end = 0;
    while (end < (size_t)length && line[end] > ' ' && line[end] < '\x7f') {
        end++;
    }
    bool is_whole = end == (size_t)length || line[end] == '\n' || line[end] == '\r';
    if (!is_whole || end < TOKEN_MIN || end > TOKEN_MAX) {
        return -EINVAL;
    }
    memcpy(t->text, line, end);
    t->text[end] = '\0';
    t->length = end;
    return 0;
}

bool token_is_shown(const token *t, const char *value)
{
    static const char scheme[] = "Bearer ";
    if (t->length == 0) {
        return true;
    }
    if (value == NULL || strncasecmp(value, scheme, strlen(scheme)) != 0) {
        return false;
    }
    const char *shown = value + strlen(scheme);
    shown += strspn(shown, " ");
    size_t length = strlen(shown);
    volatile unsigned difference = length != t->length;
    for (size_t i = 0; i < length; i++) {
        difference |= (unsigned char)shown[i] ^ (unsigned char)t->text[i % t->length];
    }
    return difference == 0;
}
