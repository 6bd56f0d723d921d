/* SPDX-License-Identifier: MIT
 *
 * target.c: see target.h.
 *
 * Tested by: unit.cmd_push_formats
 */
#include "push/target.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int refuse(char why[PUSH_WHY_BYTES], const char *what)
{
    snprintf(why, PUSH_WHY_BYTES, "expected http://HOST:PORT or https://HOST:PORT, found %s", what);
    return -EINVAL;
}

static bool copy(char *to, size_t capacity, const char *from, size_t length)
{
    if (length >= capacity) {
        return false;
    }
    memcpy(to, from, length);
    to[length] = '\0';
    return true;
}

/* Reads HOST, HOST:PORT, [ADDRESS] or [ADDRESS]:PORT, which ends at `end`. */
static bool parse_host(push_target *t, const char *host, const char *end, const char *port)
{
    const char *after = *host == '[' ? memchr(host, ']', (size_t)(end - host)) : NULL;
    if (*host == '[' && after == NULL) {
        return false;
    }
    const char *name = after != NULL ? host + 1 : host;
    const char *colon =
        memchr(after != NULL ? after : host, ':', (size_t)(end - (after != NULL ? after : host)));
    const char *name_end = after != NULL ? after : colon != NULL ? colon : end;
    if (name_end == name || !copy(t->host, sizeof t->host, name, (size_t)(name_end - name))) {
        return false;
    }
    const char *digits = colon != NULL ? colon + 1 : port;
    size_t length = colon != NULL ? (size_t)(end - digits) : strlen(port);
    return length > 0 && strspn(digits, "0123456789") >= length &&
           copy(t->port, sizeof t->port, digits, length);
}

static bool has_odd_character(const char *url)
{
    for (; *url != '\0'; url++) {
        if (*url <= ' ' || *url == '\x7f' || *url == '?' || *url == '#') {
            return true;
        }
    }
    return false;
}

int push_target_parse(const char *url, push_target *t, char why[PUSH_WHY_BYTES])
{
    bool is_secure = strncmp(url, "https://", 8) == 0;
    if (!is_secure && strncmp(url, "http://", 7) != 0) {
        return refuse(why, "another scheme");
    }
    size_t length = strlen(url);
    while (length > 0 && url[length - 1] == '/') {
        length--;
    }
    if (has_odd_character(url) || !copy(t->url, sizeof t->url, url, length)) {
        return refuse(why, "blanks, '?' or '#' in it, or more than 1023 bytes");
    }
    size_t scheme = is_secure ? 8 : 7;
    if (length <= scheme) {
        return refuse(why, "no host");
    }
    const char *host = t->url + scheme;
    const char *end = host + strcspn(host, "/");
    for (const char *at = host; at < end; at++) {
        host = *at == '@' ? at + 1 : host;
    }
    if (!parse_host(t, host, end, is_secure ? "443" : "80")) {
        return refuse(why, "no host, or a bad port");
    }
    snprintf(t->shown, sizeof t->shown, "%.*s%s", (int)scheme, t->url, host);
    return 0;
}

static bool cut(char *text, const char *end)
{
    size_t length = strlen(text);
    size_t size = strlen(end);
    bool has = length > size && strcmp(text + length - size, end) == 0;
    if (has) {
        text[length - size] = '\0';
    }
    return has;
}

bool push_target_cut(push_target *target, const char *path)
{
    return cut(target->url, path) && cut(target->shown, path);
}
