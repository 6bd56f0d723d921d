/* SPDX-License-Identifier: MIT
 *
 * log.c: messages to stderr or a log file.
 *
 * Zone: SIGNAL.
 * Owns: the template and the path of the log file; the identity of stderr at start-up.
 * Tested by: unit.options, e2e.options
 */
#include "sys/log.h"

#include "arch/system_call.h"
#include "sys/apart.h"
#include "sys/clock.h"
#include "sys/error_text.h"
#include "sys/file_calls.h"
#include "sys/path_template.h"
#include "sys/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    char template[PATH_MAX];
    char path[PATH_MAX]; /* the expanded template for this process; "" = stderr */
    struct stat stderr_then;
    bool stderr_known;
    pp_text *copy; /* NULL: none */
} target;

void pp_log_init(void)
{
    target.stderr_known = pp_file_status(STDERR_FILENO, &target.stderr_then) == 0;
}

/* Expands the template in advance, not at each message: a handler's stack has no room for
 * a path. */
static bool expand_template(void)
{
    static const pp_path_values values = {"log", 0};
    pp_path path = pp_path_begin(target.path, sizeof target.path);
    pp_path_add_template(&path, target.template, &values);
    return !path.overflow;
}

int pp_log_set_path(const char *template)
{
    if (template == NULL) {
        target.template[0] = target.path[0] = '\0';
        return 0;
    }
    if (!pp_path_template_is_valid(template)) {
        return -EINVAL;
    }
    int error = pp_path_template_complete(target.template, sizeof target.template, template, false);
    if (error == 0 && !expand_template()) {
        target.template[0] = target.path[0] = '\0';
        error = -ENAMETOOLONG;
    }
    return error;
}

void pp_log_after_fork_in_child(void)
{
    if (!expand_template()) {
        target.path[0] = '\0';
    }
}

static bool is_stderr(int fd)
{
    struct stat now;
    return target.stderr_known && pp_file_status(fd, &now) == 0 &&
           now.st_dev == target.stderr_then.st_dev && now.st_ino == target.stderr_then.st_ino &&
           now.st_rdev == target.stderr_then.st_rdev;
}

/* Whether the descriptor takes a piece before CLOCK_MONOTONIC passes `give_up_ns`. */
static bool takes_more(int fd, uint64_t give_up_ns)
{
    enum { NS_PER_MS = 1000000 };
    struct pollfd wanted = {.fd = fd, .events = POLLOUT};
    int result = -EINTR;
    while (result == -EINTR) {
        uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
        uint64_t left_ms = now_ns < give_up_ns ? (give_up_ns - now_ns) / NS_PER_MS + 1 : 0;
        result = pp_file_poll(&wanted, left_ms < INT_MAX ? (int)left_ms : INT_MAX);
    }
    return result != 0;
}

/* True if all was written. */
static bool put(int fd, const char *lines, size_t length, uint64_t give_up_ns)
{
    bool patient = give_up_ns == PP_WRITE_NO_DEADLINE;
    pp_write_signals held; /* a reader that has gone away must not kill the host */
    pp_write_signals_hold(&held);
    while (length > 0 && (patient || takes_more(fd, give_up_ns))) {
        long done = pp_file_write(fd, lines, patient || length < PIPE_BUF ? length : PIPE_BUF);
        if (done <= 0 && done != -EINTR && (patient || done != -EAGAIN)) {
            break;
        }
        lines += done > 0 ? done : 0;
        length -= done > 0 ? (size_t)done : 0;
    }
    pp_write_signals_release(&held);
    return length == 0;
}

typedef struct message {
    const char *lines;
    size_t length;
    uint64_t give_up_ns;
    bool opened, written;
} message;

static void append(void *of_message)
{
    message *m = of_message;
    int fd = (int)pp_system_call(SYS_openat, AT_FDCWD, target.path,
                                 O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    m->opened = fd >= 0;
    if (m->opened) {
        m->written = put(fd, m->lines, m->length, m->give_up_ns);
        pp_system_call(SYS_close, fd);
    }
}

/* The second try is for a thread with a table of its own. */
static void put_on_stderr(message *m)
{
    if (is_stderr(STDERR_FILENO)) {
        m->written = put(STDERR_FILENO, m->lines, m->length, m->give_up_ns);
    } else if (pp_apart_has_table()) {
        int fd = pp_apart_fetch(STDERR_FILENO);
        if (fd < 0) {
            fd = (int)pp_system_call(SYS_openat, AT_FDCWD, "/proc/self/fd/2",
                                     O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
        }
        m->written = fd >= 0 && is_stderr(fd) && put(fd, m->lines, m->length, m->give_up_ns);
        pp_system_call(SYS_close, fd);
    }
}

/* A FIFO without a reader, a terminal that is stopped: a signal has to be able to end the call. */
static bool may_block(const char *path)
{
    struct stat status;
    return pp_path_status(path, &status) == 0 && !S_ISREG(status.st_mode);
}

bool pp_log_lines_until(const char *lines, size_t length, uint64_t give_up_ns)
{
    int saved_errno = errno;
    message m = {.lines = lines, .length = length, .give_up_ns = give_up_ns};
    if (target.path[0] != '\0' && may_block(target.path)) {
        append(&m);
    } else if (target.path[0] != '\0') {
        pp_apart(append, &m);
    }
    if (!m.opened) {
        put_on_stderr(&m);
    }
    errno = saved_errno;
    return m.written;
}

void pp_log_lines(const char *lines, size_t length)
{
    pp_log_lines_until(lines, length, PP_WRITE_NO_DEADLINE);
}

void pp_log_copy_to(pp_text *copy)
{
    __atomic_store_n(&target.copy, copy, __ATOMIC_RELEASE);
}

void pp_log(const pp_text *text)
{
    pp_text *copy = __atomic_load_n(&target.copy, __ATOMIC_ACQUIRE);
    if (copy != NULL) {
        *copy = *text;
    }
    pp_text line = PP_TEXT_INIT;
    pp_text_add(&line, "libpprof: ");
    pp_text_add(&line, text->data);
    if (line.length + 1 >= sizeof line.data) {
        line.length = sizeof line.data - 2;
    }
    line.data[line.length++] = '\n';
    pp_log_lines(line.data, line.length);
}

void pp_log_error(const char *what, const char *subject, int error, const char *advice)
{
    pp_text text = PP_TEXT_INIT;
    pp_text_add(&text, what);
    pp_text_add(&text, subject);
    pp_text_add(&text, ": ");
    pp_text_add(&text, pp_error_text(error));
    if (advice != NULL) {
        pp_text_add(&text, "; ");
        pp_text_add(&text, advice);
    }
    pp_log(&text);
}
