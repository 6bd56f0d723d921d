/* SPDX-License-Identifier: MIT
 *
 * control.c: see control.h.
 *
 *   asks     heap?seconds=5\n
 *   answers  200 31415\n and 31415 bytes
 *
 * Owns: a connection for the length of a call.
 * Tested by: unit.cmd_control, e2e.control, e2e.control_security.
 */
#include "ask/control.h"

#include "ask/control_target.h"
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
#include <time.h>
#include <unistd.h>

#define DEFAULT_LINE "profile?seconds=10"

enum { PROFILE_SECONDS = 30 /* the process's own default */, GRACE_SECONDS = 60, PIECE = 1 << 16 };

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
    struct timespec start;
    uint64_t recording; /* seconds for which the process records; 0: it answers at once */
    long limit;         /* seconds to wait */
} waiting;

static long passed(const waiting *w)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long)(now.tv_sec - w->start.tv_sec);
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

/* ---- one line and its answer ---- */

static int send_line(int fd, const char *line, cp_error *error)
{
    char *text = cp_heap_printf("%s\n", line);
    size_t length = strlen(text), sent = 0;
    ssize_t done = 0;

    while (sent < length && (done = send(fd, text + sent, length - sent, MSG_NOSIGNAL)) > 0) {
        sent += (size_t)done;
    }
    free(text);
    return sent == length ? 0 : cp_fail(error, "the process does not listen: %s", strerror(errno));
}

static int read_all(int fd, waiting *w, size_t limit, cp_bytes *bytes, cp_error *error)
{
    char piece[PIECE];

    for (;;) {
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
    }
}

/* Splits "STATUS LENGTH\n" off. */
static int take_answer(const cp_bytes *answer, cp_bytes *bytes, cp_error *error)
{
    char head[64] = "";
    const uint8_t *end = answer->length ? memchr(answer->data, '\n', answer->length) : NULL;
    size_t head_length = end ? (size_t)(end - answer->data) + 1 : 0;
    char *rest = head;

    if (head_length > 0 && head_length < sizeof head) {
        memcpy(head, answer->data, head_length);
    }
    unsigned long status = strtoul(head, &rest, 10);
    size_t length = strtoul(rest, &rest, 10);
    if (status < 100 || *rest != '\n') {
        return cp_fail(error, answer->length ? "expected an answer of libpprof, found another"
                                             : "the process closed the connection");
    }
    const char *body = (const char *)answer->data + head_length;
    size_t there = answer->length - head_length;
    if (there != length) {
        return cp_fail(error, "expected %zu bytes, found %zu", length, there);
    }
    if (status != 200) {
        size_t shown = 0;
        while (shown < there && shown < 400 && (uint8_t)body[shown] >= ' ' && body[shown] != 127) {
            shown++;
        }
        return cp_fail(error, "the process answered %lu: %.*s", status, (int)shown, body);
    }
    cp_bytes_append(bytes, body, there);
    return 0;
}

static int ask(int fd, const char *line, waiting *w, size_t limit, cp_bytes *bytes, cp_error *error)
{
    cp_bytes answer = {0};

    clock_gettime(CLOCK_MONOTONIC, &w->start);
    int status = send_line(fd, line, error);
    if (status == 0) {
        status = read_all(fd, w, limit, &answer, error);
    }
    if (status == 0) {
        status = take_answer(&answer, bytes, error);
    }
    cp_bytes_release(&answer);
    close(fd);
    return status;
}

int cp_control_ask(int fd, const char *line, int seconds, size_t limit, cp_bytes *bytes,
                   cp_error *error)
{
    waiting w = {.limit = seconds};

    return ask(fd, line, &w, limit, bytes, error);
}

int cp_control_say(const cp_target *target, const char *line, cp_bytes *answer, cp_error *error)
{
    enum { ANSWER_SECONDS = 10, ANSWER_BYTES = 1 << 16 };
    char path[PATH_MAX];
    cp_bytes unread = {0};
    int fd = cp_target_connect(target, path, error);

    if (fd < 0) {
        return -1;
    }
    int status =
        cp_control_ask(fd, line, ANSWER_SECONDS, ANSWER_BYTES, answer ? answer : &unread, error);
    cp_bytes_release(&unread);
    return status;
}

/* ---- profiles ---- */

static uint64_t recording_of(const char *line)
{
    const char *seconds = strstr(line, "seconds=");
    long number = seconds ? strtol(seconds + strlen("seconds="), NULL, 10) : 0;

    if (number > 0 && number < 1000000) {
        return (uint64_t)number;
    }
    return strcspn(line, "?") == 7 && strncmp(line, "profile", 7) == 0 ? PROFILE_SECONDS : 0;
}

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
    const char *line = *rest && rest[1] ? rest + 1 : DEFAULT_LINE;
    waiting w = {.recording = recording_of(line)};
    w.limit = (long)w.recording + GRACE_SECONDS;
    cp_meter_begin(&w.meter, "the process records", "s");
    int status = ask(fd, line, &w, limit, bytes, &inner);
    cp_meter_end(&w.meter);
    return status == 0 ? 0 : cp_fail(error, "%.500s: %.500s", source, inner.text);
}
