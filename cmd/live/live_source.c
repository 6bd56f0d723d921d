/* SPDX-License-Identifier: MIT
 *
 * live_source.c: see live_source.h.
 *
 * Locks: `lock` of a source, around what its threads and the caller share.
 * Tested by: e2e.cpprof_live
 */
#include "live/live_source.h"

#include "ask/control.h"
#include "ask/source_root.h"
#include "attach/attachment.h"
#include "base/clock.h"
#include "base/meter.h"
#include "base/pool.h"
#include "import/profile_file.h"
#include "live/live_views.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define HOLD   "?seconds=86400&labels=0" /* the holder asks again after a day */
#define SO_FAR "?now=1&seconds=1"

enum { PATIENCE_MS = 5000, STEP_MS = 10 };

typedef enum holding { NOBODY_HOLDS, HOLDS, CANNOT_HOLD } holding;

/* Of one view that is sampled. */
typedef struct holder {
    struct cp_live_source *source;
    const char *profile;
    holding holding;
    cp_error why_not; /* it cannot hold */
} holder;

struct cp_live_source {
    cp_attachment attachment;
    char *root;
    bool with_labels;
    int ready; /* an eventfd */
    pthread_mutex_t lock;
    pthread_cond_t asked_for;
    bool is_asked, is_answered;
    size_t view;
    cp_live_answer answer;
    holder holders[CP_LIVE_VIEWS];
};

static int fetch(const cp_live_source *s, const char *name, const char *parameters, cp_bytes *bytes,
                 cp_error *error)
{
    char *address = cp_source_address(s->root, name, parameters);

    bytes->length = 0;
    int status = cp_source_fetch(address, bytes, error);
    free(address);
    return status;
}

/* Signals are the business of the thread that draws. */
static int start(void *(*run)(void *argument), void *argument)
{
    sigset_t all, old;
    pthread_t thread;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int error = pthread_create(&thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (error == 0) {
        pthread_detach(thread);
    }
    return error;
}

/* ---- the holders ---- */

static void set_holding(holder *h, holding is, const cp_error *why_not)
{
    pthread_mutex_lock(&h->source->lock);
    h->holding = is;
    if (why_not) {
        h->why_not = *why_not;
    }
    pthread_mutex_unlock(&h->source->lock);
}

static void *hold(void *argument)
{
    holder *h = argument;
    cp_bytes bytes = {0};
    cp_error error;

    cp_meter_silence_thread();
    int status = fetch(h->source, h->profile, HOLD, &bytes, &error);
    cp_bytes_release(&bytes);
    set_holding(h, status < 0 ? CANNOT_HOLD : NOBODY_HOLDS, status < 0 ? &error : NULL);
    return NULL;
}

static void begin_to_hold(holder *h)
{
    cp_error error;

    set_holding(h, HOLDS, NULL);
    if (start(hold, h) != 0) {
        cp_fail(&error, "cannot start a thread");
        set_holding(h, CANNOT_HOLD, &error);
    }
}

static holding look_at(holder *h, cp_error *error)
{
    pthread_mutex_lock(&h->source->lock);
    holding is = h->holding;
    if (is == CANNOT_HOLD) {
        *error = h->why_not;
    }
    pthread_mutex_unlock(&h->source->lock);
    return is;
}

/* ---- what is on ---- */

static char *fetch_what_is_on(const cp_live_source *source)
{
    cp_bytes text = {0};
    cp_error error;
    char *on = NULL;

    if (cp_control_is_process(source->root) &&
        cp_control_say(source->attachment.pid, "status", NULL, &text, &error) == 0 &&
        text.length > 0) {
        on = cp_control_value(&text, "on");
    }
    cp_bytes_release(&text);
    return on;
}

/* ---- the asker ---- */

/* If no sampler runs yet, the holder starts it; until it does so there is nothing to read. */
static int fetch_so_far(cp_live_source *s, size_t view, cp_bytes *bytes, cp_error *error)
{
    const char *parameters = s->with_labels ? SO_FAR : SO_FAR "&labels=0";
    holder *h = &s->holders[view];
    int status = fetch(s, h->profile, parameters, bytes, error);

    if (status == 0) {
        return 0;
    }
    if (look_at(h, error) != HOLDS) {
        begin_to_hold(h);
    }
    for (int ms = 0; status < 0 && ms < PATIENCE_MS; ms += STEP_MS) {
        cp_sleep_ms(STEP_MS);
        bool holds = look_at(h, error) == HOLDS;
        status = fetch(s, h->profile, parameters, bytes, error);
        if (status < 0 && !holds) {
            look_at(h, error);
            break;
        }
    }
    return status;
}

static void answer(cp_live_source *s, size_t view)
{
    cp_live_answer a = {.view = view};
    const cp_live_view *v = &cp_live_views[view];
    const uint64_t one = 1;

    a.status = v->kind == CP_LIVE_SAMPLED ? fetch_so_far(s, view, &a.bytes, &a.error)
                                          : fetch(s, v->profile, "", &a.bytes, &a.error);
    a.at_ns = cp_now_ns();
    a.on = v->remedy ? fetch_what_is_on(s) : NULL;
    pthread_mutex_lock(&s->lock);
    s->answer = a;
    s->is_answered = true;
    pthread_mutex_unlock(&s->lock);
    ssize_t ignored = write(s->ready, &one, sizeof one);
    (void)ignored; /* it is never full */
}

static void *answer_all(void *source)
{
    cp_live_source *s = source;

    cp_meter_silence_thread();
    for (;;) {
        pthread_mutex_lock(&s->lock);
        while (!s->is_asked) {
            pthread_cond_wait(&s->asked_for, &s->lock);
        }
        s->is_asked = false;
        size_t view = s->view;
        pthread_mutex_unlock(&s->lock);
        answer(s, view);
    }
    return NULL;
}

void cp_live_source_ask(cp_live_source *source, size_t view)
{
    pthread_mutex_lock(&source->lock);
    source->is_asked = true;
    source->view = view;
    pthread_cond_signal(&source->asked_for);
    pthread_mutex_unlock(&source->lock);
}

int cp_live_source_ready(const cp_live_source *source)
{
    return source->ready;
}

bool cp_live_source_take(cp_live_source *source, cp_live_answer *taken)
{
    uint64_t count;

    pthread_mutex_lock(&source->lock);
    bool is_there = source->is_answered;
    if (is_there) {
        *taken = source->answer;
        source->is_answered = false;
        ssize_t ignored = read(source->ready, &count, sizeof count);
        (void)ignored;
    }
    pthread_mutex_unlock(&source->lock);
    return is_there;
}

/* ---- reaching the process ---- */

/* The one place that decides whether a process can be asked. An attachment lasts as long as this
 * command. A server shows by its first answer that it can be asked. */
static int reach(cp_live_source *s, cp_error *error)
{
    const char *rest;
    int pid = 0;

    return !cp_control_is_process(s->root) ||
                   (cp_control_pid(s->root, &pid, &rest, error) == 0 &&
                    cp_attachment_begin(&s->attachment, pid, false, error) == 0)
               ? 0
               : -1;
}

cp_live_source *cp_live_source_open(const char *root, bool with_labels, cp_error *error)
{
    cp_live_source *s = cp_heap_alloc(1, sizeof *s);

    *s = (cp_live_source){.root = cp_heap_printf("%s", root),
                          .with_labels = with_labels,
                          .lock = PTHREAD_MUTEX_INITIALIZER,
                          .asked_for = PTHREAD_COND_INITIALIZER};
    for (size_t i = 0; i < CP_LIVE_VIEWS; i++) {
        s->holders[i] = (holder){.source = s, .profile = cp_live_views[i].profile};
    }
    s->ready = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->ready >= 0 && reach(s, error) == 0) {
        if (start(answer_all, s) == 0) {
            return s;
        }
        cp_fail(error, "cannot start a thread");
    } else if (s->ready < 0) {
        cp_fail(error, "no descriptor is left");
    }
    free(s->root);
    free(s);
    return NULL;
}
