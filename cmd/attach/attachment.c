/* SPDX-License-Identifier: MIT
 *
 * attachment.c: see attachment.h.
 *
 *   find the library -> (copy it to where the process sees it) -> dlopen -> wait until it is ready
 *     -> connect -> hold
 *
 * Tested by: e2e.cpprof_attach
 */
#include "attach/attachment.h"

#include "ask/control.h"
#include "ask/control_target.h"
#include "ask/process_files.h"
#include "attach/library_copy.h"
#include "base/clock.h"
#include "base/message.h"
#include "base/pool.h"
#include "profile/protobuf.h"

#include "remote/attach.h"
#include "remote/process.h"

#include <pprof_attach.h>

#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    READY_MS = 15000,
    DETACH_MS = 5000,
    CLOSING_MS = 10000, /* an attachment of another cpprof ends; most take 10 ms */
    SAME_MS = 1000,
    LOADING_MS = 500,
    CLOSE_MS = 200, /* between the ends of two connections */
    LOSS_MS = 2000,
    ENDING_MS = 2000, /* between the end of the attachment of a process that ends and its own */
    NAP_MS = 2
};

static long now_ms(void)
{
    return (long)(cp_now_ns() / 1000000);
}

/* ---- the state of the library there ---- */

static bool read_status(int pid, uintptr_t address, pprof_attach_status *status)
{
    if (address == 0 || !pp_process_read(pid, address, status, sizeof *status)) {
        return false;
    }
    status->text[sizeof status->text - 1] = '\0';
    for (char *c = status->text; *c; c++) { /* the process may write what it likes there */
        if (*c < ' ' || *c > '~') {
            *c = '?';
        }
    }
    return status->version == PPROF_ATTACH_VERSION;
}

static int fail_by_status(int pid, const pprof_attach_status *status, cp_error *error)
{
    return cp_fail(error, "pid:%d: attaching failed: %s", pid,
                   status->text[0] ? status->text : strerror(-status->error));
}

/* A loader that finds no room for a segment does not say that it was room that it lacked. */
static void add_limit(int pid, char *text, size_t size)
{
    struct rlimit limit;
    size_t length = strlen(text);

    if (prlimit(pid, RLIMIT_AS, NULL, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        snprintf(text + length, size - length,
                 " (its address space is limited to %llu KiB, ulimit -v)",
                 (unsigned long long)limit.rlim_cur / 1024);
    }
}

/* The loader has returned without the library. */
static int fail_by_loader(int pid, const char *path, const pp_attach_call *call, cp_error *error)
{
    char words[600];

    if (pp_attach_loader_says(pid, call, words, sizeof words)) {
        add_limit(pid, words, sizeof words);
        return cp_fail(error, "pid:%d: its loader did not take libpprof, and says: %s", pid, words);
    }
    return cp_fail(error,
                   "pid:%d: its loader did not take %.300s, and its C library does not show why: "
                   "`LD_PRELOAD=libpprof.so.0 true` says it, in the same container and with the "
                   "same limits",
                   pid, path);
}

/* Waits for the answer of the library's own thread; 0: it is worth to connect. `path` and `call`:
 * what the loader is to load, and by which call; NULL: it is loaded. */
static int wait_until_ready(cp_attachment *a, const char *path, uint32_t generation,
                            const pp_attach_call *call, cp_error *error)
{
    long limit = now_ms() + READY_MS;
    long same_ms = now_ms() + SAME_MS;
    pprof_attach_status status;
    pp_attach_target target;
    pp_remote_error why;

    while (now_ms() < limit) {
        if (pp_attach_image(a->pid) != a->image) {
            return cp_fail(error, "pid:%d: it has ended, or executes another program", a->pid);
        }
        bool over = call && pp_attach_call_is_over(a->pid, call);
        bool looked = a->state == 0 && pp_attach_look(a->pid, &target, &why) == 0;
        if (looked) {
            a->state = target.state;
        }
        /* An attachment that was about to end may go on instead, as the same one. */
        bool known = read_status(a->pid, a->state, &status) &&
                     (status.generation != generation || now_ms() > same_ms);
        if (known && status.state == PPROF_ATTACH_READY) {
            return 0;
        }
        if (known && status.state == PPROF_ATTACH_FAILED) {
            return fail_by_status(a->pid, &status, error);
        }
        /* Another cpprof's has ended since. */
        if (known && status.generation != generation && status.state == PPROF_ATTACH_DETACHED) {
            return 0;
        }
        if (over && looked && a->state == 0) {
            return fail_by_loader(a->pid, path, call, error);
        }
        cp_sleep_ms(NAP_MS);
    }
    return cp_fail(error, "pid:%d: expected libpprof to be ready there within %d s, it is not",
                   a->pid, READY_MS / 1000);
}

/* ---- beginning ---- */

static int load(cp_attachment *a, const cp_target *target, cp_error *error)
{
    cp_library_copy copy;
    pp_attach_call call;
    pp_remote_error why;

    if (cp_library_copy_make(&copy, target, error) < 0) {
        return -1;
    }
    int status = pp_attach_load(a->pid, copy.path, &call, &why);
    if (status < 0) {
        cp_fail(error, "%s", why.text);
    } else {
        a->stopped_ns = call.stopped_ns;
        a->image = call.image;
        status = wait_until_ready(a, copy.path, 0, &call, error);
    }
    cp_library_copy_remove(&copy);
    return status;
}

/* Reads the state, as soon as it can be read. A library that has not attached yet may still be in
 * the loader's hands, where another cpprof has brought it: there it attaches by itself, and nobody
 * may call it before. */
static bool read_first_status(cp_attachment *a, pp_attach_target *found,
                              pprof_attach_status *status)
{
    long limit = now_ms() + LOADING_MS;
    pp_remote_error why;

    for (;;) {
        a->state = found->state;
        bool is_read = read_status(a->pid, a->state, status);
        if ((is_read && status->state != PPROF_ATTACH_NONE) || now_ms() > limit) {
            return is_read;
        }
        cp_sleep_ms(NAP_MS);
        if (a->state == 0 && pp_attach_look(a->pid, found, &why) < 0) {
            return false;
        }
    }
}

static int wake(cp_attachment *a, pp_attach_target *found, cp_error *error)
{
    pprof_attach_status before;
    pp_attach_call call;
    pp_remote_error why;

    if (!read_first_status(a, found, &before)) {
        return cp_fail(error,
                       "pid:%d: it has another version of libpprof, %.300s, which cannot be "
                       "asked without a control socket: start it anew with LIBPPROF=control",
                       a->pid, found->library);
    }
    if (before.state == PPROF_ATTACH_STARTING || before.state == PPROF_ATTACH_READY) {
        return wait_until_ready(a, NULL, 0, NULL, error); /* another cpprof has just attached */
    }
    if (pp_attach_configure(a->pid, "attach", &call, &why) < 0) {
        return cp_fail(error, "%s", why.text);
    }
    a->stopped_ns = call.stopped_ns;
    a->image = call.image;
    return wait_until_ready(a, NULL, before.generation, NULL, error);
}

static int begin(cp_attachment *a, const cp_target *target, cp_error *error)
{
    pp_attach_target found;
    pp_remote_error why;

    a->state = 0;
    a->image = pp_attach_image(a->pid);
    if (pp_attach_look(a->pid, &found, &why) < 0) {
        return cp_fail(error, "%s", why.text);
    }
    a->begun = true;
    return found.has_library ? wake(a, &found, error) : load(a, target, error);
}

/* Whether the process answers; it does not if its attachment is about to end. */
static bool answers(int pid, cp_error *why)
{
    return cp_control_say(pid, "status", NULL, NULL, why) == 0;
}

/* Connects, after the process has been made reachable if it was not. A descriptor, or -1. */
static int reach(cp_attachment *a, const cp_target *target, cp_error *error)
{
    long limit = now_ms() + CLOSING_MS;
    char path[PATH_MAX];
    cp_error why;
    int fd = cp_target_connect(target, path, error);

    while (fd >= 0 && !answers(a->pid, &why)) {
        close(fd);
        if (now_ms() > limit) {
            return cp_fail(error, "pid:%d: its control socket does not answer: %.500s", a->pid,
                           why.text);
        }
        cp_sleep_ms(NAP_MS);
        fd = cp_target_connect(target, path, error);
    }
    /* Another cpprof's attachment may end just now, and take the socket with it; and what was
     * attached to may be a shell that was about to execute the program. */
    for (limit = now_ms() + CLOSING_MS; fd < 0 && now_ms() < limit && cp_target_is_ours(target);) {
        bool begun = begin(a, target, error) == 0;
        if (!begun && pp_attach_image(a->pid) == a->image) {
            return -1;
        }
        fd = begun ? cp_target_connect(target, path, error) : -1;
        if (fd < 0) {
            cp_sleep_ms(NAP_MS);
        }
    }
    return fd;
}

static void find_state(cp_attachment *a)
{
    pp_attach_target found;
    pp_remote_error why;

    if (a->state == 0 && pp_attach_look(a->pid, &found, &why) == 0) {
        a->state = found.state;
    }
}

static bool is_ending(const cp_attachment *a)
{
    pprof_attach_status status;

    return read_status(a->pid, a->state, &status) &&
           (status.state == PPROF_ATTACH_DETACHING || status.state == PPROF_ATTACH_DETACHED);
}

/*
 * Asks for `hold` on the connection, which keeps the attachment as long as it is open. The process does
 * not answer. One thread there reads all requests: when it has answered the next one, it has read this one,
 * and if the attachment is not about to end then, it lasts. It is, if its last holder was killed a
 * moment ago.
 */
static bool hold(cp_attachment *a, int fd)
{
    cp_error why;
    struct pollfd held = {.fd = fd, .events = POLLIN | POLLRDHUP};

    if (cp_control_send(fd, "hold", "", &why) < 0 || !answers(a->pid, &why) ||
        poll(&held, 1, 0) != 0 || is_ending(a)) {
        close(fd);
        return false;
    }
    a->holding = fd;
    return true;
}

/* Has the attachment go on after its holders. False: it is about to end. A library that does not know
 * the word lets it end with them. */
static bool stay(const cp_attachment *a, int fd)
{
    enum { ANSWER_SECONDS = 10 };
    cp_error unknown;

    cp_control_ask(fd, "stay", "", ANSWER_SECONDS, NULL, &unknown);
    return !is_ending(a);
}

int cp_attachment_begin(cp_attachment *a, int pid, bool stays, cp_error *error)
{
    long limit = now_ms() + CLOSING_MS;
    pprof_attach_status status;
    cp_target target;

    *a = (cp_attachment){.pid = pid, .holding = -1, .image = pp_attach_image(pid)};
    if (cp_target_read(pid, &target, error) < 0) {
        return -1;
    }
    int fd = reach(a, &target, error);
    find_state(a);
    while (fd >= 0 && !(stays ? stay(a, fd) : hold(a, fd))) {
        if (now_ms() > limit) {
            return cp_fail(error, "pid:%d: its attachment ends, and takes its time", pid);
        }
        cp_sleep_ms(NAP_MS);
        fd = reach(a, &target, error);
    }
    a->is_late = read_status(pid, a->state, &status) && status.state == PPROF_ATTACH_READY;
    return fd >= 0 ? 0 : -1;
}

/* A process that executes a program ends the server's thread, and so one connection after the other, a
 * moment before the new program is there. */
static void wait_for_loss(const cp_attachment *a)
{
    long limit = now_ms() + LOSS_MS;
    struct pollfd held = {.fd = a->holding, .events = POLLRDHUP};
    bool is_held = poll(&held, 1, CLOSE_MS) == 0;

    while (!is_held && cp_process_lives(a->pid) && pp_attach_image(a->pid) == a->image &&
           !is_ending(a) && now_ms() < limit) {
        cp_sleep_ms(NAP_MS);
    }
}

/* A process whose last thread ends is left by the library before; and one that ends has lost its
 * memory a moment before it is a zombie. */
static bool is_about_to_end(const cp_attachment *a)
{
    return is_ending(a) || (a->image != 0 && pp_attach_image(a->pid) == 0);
}

static bool has_ended(const cp_attachment *a)
{
    long limit = now_ms() + ENDING_MS;
    bool lives = cp_process_lives(a->pid);

    while (lives && is_about_to_end(a) && now_ms() < limit) {
        cp_sleep_ms(NAP_MS);
        lives = cp_process_lives(a->pid);
    }
    return !lives;
}

const char *cp_attachment_loss(const cp_attachment *a)
{
    if (a->pid == 0) {
        return NULL; /* a server */
    }
    wait_for_loss(a);
    if (has_ended(a)) {
        return "the process has ended, and what was recorded of it until then is gone";
    }
    uint64_t now = a->image != 0 ? pp_attach_image(a->pid) : 0;

    if (now != 0 && now != a->image) {
        return "the process executes another program now, and what was recorded of the first one "
               "is gone";
    }
    if (a->begun && is_ending(a)) {
        return "somebody has ended the attachment (`cpprof configure PID detach`)";
    }
    return NULL;
}

/* ---- end ---- */

static void wait_until_detached(int pid, uintptr_t state)
{
    long limit = now_ms() + DETACH_MS;
    pprof_attach_status status;

    while (now_ms() < limit && read_status(pid, state, &status) &&
           status.state != PPROF_ATTACH_DETACHED && status.state != PPROF_ATTACH_NONE) {
        cp_sleep_ms(NAP_MS);
    }
}

/* Whether the attachment goes on, since somebody else holds it, or has it stay: the process has answered
 * after it has heard that this holder is gone, and the attachment has not begun to end. */
static bool goes_on(const cp_attachment *a)
{
    cp_error why;

    bool answers_first = answers(a->pid, &why);
    return answers_first && answers(a->pid, &why) && !is_ending(a);
}

void cp_attachment_end(cp_attachment *a)
{
    if (a->holding >= 0) {
        close(a->holding);
        a->holding = -1;
        if (a->begun && !goes_on(a)) {
            wait_until_detached(a->pid, a->state);
        }
    }
}

int cp_attachment_detach(int pid, cp_error *error)
{
    pp_attach_target found;
    pp_remote_error why;

    if (cp_control_say(pid, "detach", "", NULL, error) < 0) {
        return -1;
    }
    if (pp_attach_look(pid, &found, &why) == 0) {
        wait_until_detached(pid, found.state);
    }
    return 0;
}
