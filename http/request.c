/* SPDX-License-Identifier: MIT
 *
 * request.c: see request.h.
 *
 *   METHOD target HTTP/1.1\r\n
 *   Name: value\r\n ...
 *   \r\n
 *
 * Tested by: e2e.http_server
 */
#include "request.h"

#include <string.h>
#include <strings.h>

typedef struct reading {
    char *at;
    char *end; /* of the head: the second \r of its empty line */
    request_head *request;
    bool has_size;
    bool is_old; /* HTTP/1.0 */
    bool asks_close, asks_keep_alive;
} reading;

/* ---- characters ---- */

/* [RFC 9110, 5.6.2: tchar] */
static bool is_token(const char *text)
{
    static const char allowed[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return *text != '\0' && text[strspn(text, allowed)] == '\0';
}

/* No control character, so no NUL, CR or LF either. */
static bool is_plain(const char *text, size_t length, char least)
{
    size_t i = 0;
    while (i < length && ((unsigned char)text[i] >= (unsigned char)least || text[i] == '\t') &&
           text[i] != '\x7f') {
        i++;
    }
    return i == length;
}

/* Cuts the next line off at its \r\n. NULL: there is none, or it has a control character. */
static char *next_line(reading *r)
{
    char *line = r->at;
    char *cr = memchr(line, '\r', (size_t)(r->end + 1 - line));
    if (cr == NULL || cr[1] != '\n' || !is_plain(line, (size_t)(cr - line), ' ')) {
        return NULL;
    }
    *cr = '\0';
    r->at = cr + 2;
    return line;
}

/* ---- the first line ---- */

static long read_version(reading *r, const char *version)
{
    if (strcmp(version, "HTTP/1.1") != 0 && strcmp(version, "HTTP/1.0") != 0) {
        return strncmp(version, "HTTP/", 5) == 0 ? -505 : -400;
    }
    r->is_old = version[7] == '0';
    return 0;
}

static long read_first_line(reading *r)
{
    char *line = next_line(r);
    char *target = line != NULL ? strchr(line, ' ') : NULL;
    char *version = target != NULL ? strchr(target + 1, ' ') : NULL;
    if (version == NULL) {
        return -400;
    }
    *target++ = '\0';
    *version++ = '\0';
    r->request->method = line;
    r->request->target = target;
    if (!is_token(line) || (*target != '/' && strncasecmp(target, "http://", 7) != 0)) {
        return -400;
    }
    if (strlen(target) > REQUEST_TARGET_MAX) {
        return -414;
    }
    return read_version(r, version);
}

/* ---- headers ---- */

static long read_size(reading *r, const char *value)
{
    size_t size = 0;
    if (r->has_size || *value == '\0' || value[strspn(value, "0123456789")] != '\0') {
        return -400;
    }
    for (; *value != '\0' && size <= REQUEST_BODY_MAX; value++) {
        size = 10 * size + (size_t)(*value - '0');
    }
    r->has_size = true;
    r->request->body_size = size;
    return size > REQUEST_BODY_MAX ? -413 : 0;
}

/* Whether a list with commas has a word, in any case. */
static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    while (*list != '\0') {
        list += strspn(list, ", \t");
        size_t item = strcspn(list, ", \t");
        if (item == length && strncasecmp(list, word, length) == 0) {
            return true;
        }
        list += item;
    }
    return false;
}

static long read_once(const char **place, const char *value)
{
    bool is_first = *place == NULL;
    *place = value;
    return is_first ? 0 : -400;
}

/* Where the value of a header is kept that is only handed on; NULL: it is another header. */
static const char **place_of(request_head *request, const char *name)
{
    const struct {
        const char *name, **place;
    } kept[] = {{"Host", &request->host},
                {"Authorization", &request->authorization},
                {"Origin", &request->origin},
                {"Sec-Fetch-Site", &request->fetch_site},
                {"Sec-Fetch-Dest", &request->fetch_destination}};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        if (strcasecmp(name, kept[i].name) == 0) {
            return kept[i].place;
        }
    }
    return NULL;
}

static long take_header(reading *r, const char *name, const char *value)
{
    const char **place = place_of(r->request, name);
    if (place != NULL) {
        return read_once(place, value);
    }
    if (strcasecmp(name, "Content-Length") == 0) {
        return read_size(r, value);
    }
    if (strcasecmp(name, "Transfer-Encoding") == 0) {
        return -501;
    }
    if (strcasecmp(name, "Connection") == 0) {
        r->asks_close |= has_word(value, "close");
        r->asks_keep_alive |= has_word(value, "keep-alive");
    }
    if (strcasecmp(name, "Expect") == 0) {
        r->request->expects_continue = strcasecmp(value, "100-continue") == 0;
    }
    return 0;
}

/* "Name: value" */
static long read_header(reading *r)
{
    char *name = next_line(r);
    char *colon = name != NULL ? strchr(name, ':') : NULL;
    if (colon == NULL) {
        return -400;
    }
    *colon = '\0';
    char *value = colon + 1 + strspn(colon + 1, " \t");
    size_t length = strlen(value);
    while (length > 0 && (value[length - 1] == ' ' || value[length - 1] == '\t')) {
        value[--length] = '\0';
    }
    return is_token(name) ? take_header(r, name, value) : -400;
}

/* ---- the head ---- */

long request_read(char *bytes, size_t length, request_head *result)
{
    char *end = memmem(bytes, length < REQUEST_HEAD_MAX ? length : REQUEST_HEAD_MAX, "\r\n\r\n", 4);
    if (end == NULL) {
        return length < REQUEST_HEAD_MAX ? 0 : -431;
    }
    reading r = {.at = bytes, .end = end, .request = result};
    *result = (request_head){.method = NULL};
    long status = read_first_line(&r);
    while (status == 0 && r.at < end + 2) {
        status = read_header(&r);
    }
    if (status == 0 && result->host == NULL && !r.is_old) {
        status = -400;
    }
    result->keeps_alive = !r.asks_close && (!r.is_old || r.asks_keep_alive);
    return status < 0 ? status : end + 4 - bytes;
}

const char *request_reason(int status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {{200, "OK"},
                   {301, "Moved Permanently"},
                   {302, "Found"},
                   {400, "Bad Request"},
                   {401, "Unauthorized"},
                   {403, "Forbidden"},
                   {404, "Not Found"},
                   {405, "Method Not Allowed"},
                   {408, "Request Timeout"},
                   {413, "Content Too Large"},
                   {414, "URI Too Long"},
                   {431, "Request Header Fields Too Large"},
                   {500, "Internal Server Error"},
                   {501, "Not Implemented"},
                   {502, "Bad Gateway"},
                   {503, "Service Unavailable"},
                   {504, "Gateway Timeout"},
                   {505, "HTTP Version Not Supported"}};

    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if (reasons[i].status == status) {
            return reasons[i].reason;
        }
    }
    return "Error";
}
