/* SPDX-License-Identifier: MIT
 *
 * control.c: see control.h.
 *
 *   asks     GET /debug/pprof/heap?seconds=5 HTTP/1.0
 *   answers  HTTP/1.1 200 OK, headers, and as many bytes as Content-Length says
 *
 * The request is sent here, and not by libcurl: libcurl may be missing, and the kernel has named the
 * process at the other end of this descriptor.
 *
 * Owns: a connection for the length of a call.
 * Tested by: unit.cmd_control, e2e.control, e2e.control_security.
 */
#include "ask/control.h"

#include "ask/control_target.h"
#include "ask/source_root.h"
#include "base/clock.h"
#include "base/message.h"
#include "base/meter.h"
#include "base/pool.h"
#include "profile/protobuf.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DEFAULT_NAME "profile?seconds=10"

enum { GRACE_SECONDS = 60, PIECE = 1 << 16 };

bool cp_control_is_process(const char *source)
{
    return strncmp(source, "pid:", 4) == 0;
}

int cp_control_pid(const char *text, int *pid, const char **rest, cp_error *error)
{
    const char *digits = cp_control_is_process(text) ? text + 4 : text;
    char *end = NULL;
    errno = 0;
    long number = *digits >= '0' && *digits <= '9' ? strtol(digits, &end, 10) : 0;

    if (errno != 0 || number < 1 || number > INT_MAX || (*end && *end != '/')) {
        return cp_fail(error, "%.500s: expected pid:NUMBER or pid:NUMBER/PROFILE", text);
    }
    *pid = (int)number;
    *rest = end;
    return 0;
}

/* ---- waiting ---- */

typedef struct waiting {
    cp_meter meter;
    int64_t start_ns;
    uint64_t recording; /* seconds for which the process records; 0: it answers at once */
    long limit;         /* seconds to wait */
} waiting;

static long passed(const waiting *w)
{
    return (long)((cp_now_ns() - w->start_ns) / 1000000000);
}

/* Waits until there is something to read; false if the time is up. */
static bool wait_for_bytes(waiting *w, int fd)
{
    struct pollfd polled = {.fd = fd, .events = POLLIN};

    while (passed(w) < w->limit) {
        if (poll(&polled, 1, 250) > 0) {
            return true;
        }
        if (w->recording) {
            cp_meter_step(&w->meter, (uint64_t)passed(w), w->recording);
        }
    }
    return false;
}

/* ---- a request and its answer ---- */

/* Without the characters that a request's first line cannot have. To be freed. */
static char *escape(const char *target)
{
    cp_bytes escaped = {0};
    char code[4];

    for (const char *c = target; *c; c++) {
        bool is_plain = (uint8_t)*c > ' ' && *c != '\x7f';
        snprintf(code, sizeof code, is_plain ? "%c" : "%%%02X", (uint8_t)*c);
        cp_bytes_append(&escaped, code, strlen(code));
    }
    cp_bytes_append(&escaped, "", 1);
    return (char *)escaped.data;
}

/* `body`: NULL for GET. */
static int send_request(int fd, const char *prefix, const char *path, const char *body,
                        cp_error *error)
{
    char *target = escape(path);
    char *text =
        cp_heap_printf("%s %s%s HTTP/1.0\r\nContent-Length: %zu\r\n\r\n%s", body ? "POST" : "GET",
                       prefix, target, body ? strlen(body) : 0, body ? body : "");
    size_t length = strlen(text), sent = 0;
    ssize_t done = 0;

    while (sent < length && (done = send(fd, text + sent, length - sent, MSG_NOSIGNAL)) > 0) {
        sent += (size_t)done;
    }
    free(target);
    free(text);
    return sent == length ? 0 : cp_fail(error, "the process does not listen: %s", strerror(errno));
}

/* The length of an answer's head, which `most` bytes at most are searched for. 0: it is not whole. */
static size_t head_length(const cp_bytes *answer, size_t most)
{
    static const char empty_line[] = "\r\n\r\n";
    const char *text = (const char *)answer->data;
    size_t length = answer->length < most ? answer->length : most;
    const char *end = length ? memmem(text, length, empty_line, strlen(empty_line)) : NULL;

    return end ? (size_t)(end - text) + strlen(empty_line) : 0;
}

/* What the head says of the body's length; false if it says nothing. */
static bool body_length(const char *head, size_t *length)
{
    static const char name[] = "\r\nContent-Length: ";
    const char *value = strstr(head, name);

    if (value) {
        *length = strtoul(value + strlen(name), NULL, 10);
    }
    return value;
}

/* How many bytes an answer has that begins with these: its head, and as many as that says. 0: not known yet. */
static size_t whole_length(const cp_bytes *bytes)
{
    size_t head_bytes = head_length(bytes, PIECE), length = 0;

    if (!head_bytes) {
        return 0;
    }
    char *head = cp_heap_copy((const char *)bytes->data, head_bytes);
    bool is_known =
        body_length(head, &length) && !__builtin_add_overflow(head_bytes, length, &length);
    free(head);
    return is_known ? length : 0;
}

/* Until the answer is whole, or ends: the process need not close the connection, which a child of it may have, too. */
static int read_all(int fd, waiting *w, size_t limit, cp_bytes *bytes, cp_error *error)
{
    char piece[PIECE];
    size_t whole = 0;

    while (!whole || bytes->length < whole) {
        if (!wait_for_bytes(w, fd)) {
            return cp_fail(error, "no answer after %ld s", w->limit);
        }
        ssize_t got = recv(fd, piece, sizeof piece, 0);
        if (got == 0) {
            return 0;
        }
        if (got < 0 && errno != EINTR) {
            return cp_fail(error, "the answer broke off: %s", strerror(errno));
        }
        cp_bytes_append(bytes, piece, got > 0 ? (size_t)got : 0);
        if (bytes->length > limit) {
            return cp_fail(error, "expected at most %zu bytes, found more", limit);
        }
        whole = whole ? whole : whole_length(bytes);
    }
    return 0;
}

/* The head of an answer, with a NUL; it is not HTTP. */
static int refuse_head(const char *head, cp_error *error)
{
    static const char digits[] = "0123456789";

    if (strspn(head, digits) == 3 && head[3] == ' ' && head[4 + strspn(head + 4, digits)] == '\n') {
        return cp_fail(error, "expected HTTP, found the protocol of an older libpprof: use the "
                              "cpprof of that version");
    }
    return cp_fail(error, *head ? "expected an answer of libpprof, found another"
                                : "the process closed the connection");
}

/* The process has answered something else than 200. */
static int refuse_status(unsigned long status, const char *body, size_t length, cp_error *error)
{
    size_t shown = 0;

    while (shown < length && shown < 400 && (uint8_t)body[shown] >= ' ' && body[shown] != 127) {
        shown++;
    }
    return cp_fail(error, "the process answered %lu: %.*s", status, (int)shown, body);
}

static int take_body(const char *head, const char *body, size_t there, cp_bytes *bytes,
                     cp_error *error)
{
    static const char version[] = "HTTP/1.1 ";
    size_t length = 0;

    if (strncmp(head, version, strlen(version)) != 0 || !body_length(head, &length)) {
        return refuse_head(head, error);
    }
    unsigned long status = strtoul(head + strlen(version), NULL, 10);
    if (there != length) {
        return cp_fail(error, "expected %zu bytes, found %zu", length, there);
    }
    if (status != 200) {
        return refuse_status(status, body, there, error);
    }
    cp_bytes_append(bytes, body, there);
    return 0;
}

/* Splits the head off. */
static int take_answer(const cp_bytes *answer, cp_bytes *bytes, cp_error *error)
{
    const char *text = answer->length ? (const char *)answer->data : "";
    size_t found = head_length(answer, answer->length);
    size_t head_bytes = found ? found : answer->length;
    char *head = cp_heap_copy(text, head_bytes);
    int status = take_body(head, text + head_bytes, answer->length - head_bytes, bytes, error);

    free(head);
    return status;
}

static int receive(int fd, waiting *w, size_t limit, cp_bytes *bytes, cp_error *error)
{
    cp_bytes answer = {0};

    w->start_ns = cp_now_ns();
    int status = read_all(fd, w, limit, &answer, error);
    if (status == 0) {
        status = take_answer(&answer, bytes, error);
    }
    cp_bytes_release(&answer);
    return status;
}

int cp_control_send(int fd, const char *verb, const char *body, cp_error *error)
{
    return send_request(fd, "/control/", verb, body, error);
}

int cp_control_ask(int fd, const char *verb, const char *body, int seconds, cp_bytes *answer,
                   cp_error *error)
{
    enum { ANSWER_BYTES = 1 << 16 };
    waiting w = {.limit = seconds};
    cp_bytes unread = {0};
    int status = cp_control_send(fd, verb, body, error);

    if (status == 0) {
        status = receive(fd, &w, ANSWER_BYTES, answer ? answer : &unread, error);
    }
    cp_bytes_release(&unread);
    close(fd);
    return status;
}

int cp_control_say(int pid, const char *verb, const char *body, cp_bytes *answer, cp_error *error)
{
    enum { ANSWER_SECONDS = 10 };
    char path[PATH_MAX];
    cp_target target;
    int fd = cp_target_read(pid, &target, error) < 0 ? -1 : cp_target_connect(&target, path, error);

    return fd < 0 ? -1 : cp_control_ask(fd, verb, body, ANSWER_SECONDS, answer, error);
}

char *cp_control_value(const cp_bytes *status, const char *word)
{
    char *copy = cp_heap_copy((const char *)status->data, status->length), *rest = copy, *line;
    size_t length = strlen(word);
    char *value = NULL;

    while (!value && (line = strsep(&rest, "\n"))) {
        if (strncmp(line, word, length) == 0 && (line[length] == ' ' || !line[length])) {
            value = cp_heap_printf("%s", line + length + (line[length] == ' '));
        }
    }
    free(copy);
    return value;
}

/* ---- profiles ---- */

int cp_control_fetch(const char *source, size_t limit, cp_bytes *bytes, cp_error *error)
{
    const char *rest = "";
    char path[PATH_MAX];
    cp_target target;
    cp_error inner;
    int pid = 0;

    if (cp_control_pid(source, &pid, &rest, error) < 0 || cp_target_read(pid, &target, error) < 0) {
        return -1;
    }
    int fd = cp_target_connect(&target, path, error);
    if (fd < 0) {
        return -1;
    }
    const char *name = *rest && rest[1] ? rest + 1 : DEFAULT_NAME;
    waiting w = {.recording = cp_source_seconds(name)};
    w.limit = (long)w.recording + GRACE_SECONDS;
    cp_meter_begin(&w.meter, "the process records", "s");
    int status = send_request(fd, "/debug/pprof/", name, NULL, &inner);
    if (status == 0) {
        status = receive(fd, &w, limit, bytes, &inner);
    }
    cp_meter_end(&w.meter);
    close(fd);
    return status == 0 ? 0 : cp_fail(error, "%.500s: %.500s", source, inner.text);
}
