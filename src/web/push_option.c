/* SPDX-License-Identifier: MIT
 *
 * push_option.c: see push_option.h.
 *
 *   thread:  load, open --> [pump until it is time] --> collect --> add --> [pump ...
 *   caller:  flush, end --> request, ring, wake --> waits for the answer, two seconds at most
 *
 * The thread has a table of descriptors of its own, blocks all signals, and is in no profile. It pauses
 * with the others (host/pausable.h): the connection is closed meanwhile, what waits to be sent stays in
 * memory.
 *
 * Zone: NORMAL; the fatal-signal writer calls pp_push_option_end() too.
 * Locks: `lock`, around waking and closing the sender.
 * Tested by: e2e.push_option, e2e.push_trouble
 */
#include "web/push_option.h"

#include "arch/shown_as.h"
#include "host/pausable.h"
#include "host/worker.h"
#include "modules/loader_use.h"
#include "sys/clock.h"
#include "sys/doorbell.h"
#include "sys/lock.h"
#include "sys/log.h"
#include "sys/path_template.h"
#include "sys/sandbox.h"
#include "sys/tasks.h"
#include "web/push_deltas.h"
#include "web/server_library.h"

#include "push/library.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    INTERVAL_S = 15,
    STACK_BYTES = 1 << 20,  /* name services, TLS */
    MEMORY_BYTES = 2 << 20, /* of profiles that wait to be sent */
    ATTRIBUTES_BYTES = 4096,
    NAME_BYTES = 256,
    URL_BYTES = 1024
};

/* The caller of end() waits for so long; the thread gives up a little earlier. */
static const uint64_t patience_ns = UINT64_C(2) * PP_NS_PER_S;
static const uint64_t margin_ns = PP_NS_PER_S / 4;

typedef enum request { NOTHING, FLUSH, END } request;

static struct {
    char words[PP_PUSH_WORDS][PATH_MAX];
    char name[NAME_BYTES];             /* OTEL_SERVICE_NAME */
    char attributes[ATTRIBUTES_BYTES]; /* OTEL_RESOURCE_ATTRIBUTES */
    char token[ATTRIBUTES_BYTES];      /* LIBPPROF_PUSH_TOKEN */
    char program[NAME_BYTES];
    push_settings settings;
    push_resource resource;
    bool runs; /* the thread */
    bool is_late;
    bool has_begun; /* the thread has taken what is_late means into account */
    bool has_said;  /* that nothing is recorded */
    int tid;
    uint64_t interval_ns, next_ns, look_ns;
    const push_library *library;
    pp_lock lock;        /* for the next member: others wake it */
    push_sender *sender; /* NULL: not opened, or closed */
    /* What others ask of the thread. */
    pp_doorbell answered;
    uint32_t requested;     /* a request */
    uint64_t give_up_at_ns; /* of the request */
} state;

/* ---- words ---- */

static bool is_good(pp_push_word word, const char *value)
{
    if (word == PP_PUSH_URL) {
        return (strncmp(value, "http://", 7) == 0 || strncmp(value, "https://", 8) == 0) &&
               strlen(value) < URL_BYTES;
    }
    return *value != '\0' && strlen(value) < sizeof state.words[0];
}

int pp_push_option_take(pp_push_word word, const char *value)
{
    if (value == NULL || !is_good(word, value)) {
        return -EINVAL;
    }
    if (word == PP_PUSH_TOKEN || word == PP_PUSH_CA || word == PP_PUSH_SPOOL) {
        return pp_path_template_complete(state.words[word], sizeof state.words[word], value, false);
    }
    memcpy(state.words[word], value, strlen(value) + 1);
    return 0;
}

bool pp_push_option_is_on(void)
{
    return state.words[PP_PUSH_URL][0] != '\0';
}

const char *pp_push_option_word(pp_push_word word)
{
    return state.words[word][0] != '\0' ? state.words[word] : NULL;
}

static void take_variable(const char *name, char *to, size_t size)
{
    const char *value = secure_getenv(name);
    to[0] = '\0';
    if (value != NULL && strlen(value) < size) {
        memcpy(to, value, strlen(value) + 1);
    }
}

static void say(const char *message)
{
    pp_text text = PP_TEXT_INIT;
    pp_text_add(&text, message);
    pp_log(&text);
}

/* The program may change its environment later, while the thread reads. */
static void take_settings(void)
{
    pp_path program = pp_path_begin(state.program, sizeof state.program);
    const pp_path_values values = {.kind = "push"};
    pp_path_add_placeholder(&program, 'e', &values);
    take_variable("OTEL_SERVICE_NAME", state.name, sizeof state.name);
    take_variable("OTEL_RESOURCE_ATTRIBUTES", state.attributes, sizeof state.attributes);
    take_variable("LIBPPROF_PUSH_TOKEN", state.token, sizeof state.token);
    state.settings = (push_settings){.url = state.words[PP_PUSH_URL],
                                     .to = pp_push_option_word(PP_PUSH_TO),
                                     .token_file = pp_push_option_word(PP_PUSH_TOKEN),
                                     .token = state.token[0] != '\0' ? state.token : NULL,
                                     .tenant = pp_push_option_word(PP_PUSH_TENANT),
                                     .ca_file = pp_push_option_word(PP_PUSH_CA),
                                     .spool = pp_push_option_word(PP_PUSH_SPOOL),
                                     .memory_bytes = MEMORY_BYTES,
                                     .log = say,
                                     .waits = pp_loader_wait};
}

/* ---- the thread: sending ---- */

static push_sender *set_sender(push_sender *to)
{
    int self = pp_task_self();
    pp_lock_take(&state.lock, self);
    push_sender *before = state.sender;
    state.sender = to;
    pp_lock_release(&state.lock);
    return before;
}

/* False: nothing can be sent, and the log says why. */
static bool open_sender(void)
{
    char why[PUSH_WHY_BYTES];
    if (state.library == NULL) {
        state.library =
            pp_server_library_find(PP_PUSH_LIBRARY, "pprof_push_2", "push: nothing is sent");
    }
    if (state.library == NULL) {
        return false;
    }
    push_sender *opened = state.library->open(&state.settings, pp_push_option_end, why);
    if (opened == NULL) {
        pp_text text = PP_TEXT_INIT;
        pp_text_add(&text, "push: nothing is sent: ");
        pp_text_add(&text, why);
        pp_log(&text);
        return false;
    }
    const push_resource_source source = {.service = pp_push_option_word(PP_PUSH_SERVICE),
                                         .name = state.name,
                                         .attributes = state.attributes,
                                         .program = state.program};
    state.library->set_labels(&state.resource, &source);
    set_sender(opened);
    return true;
}

static void close_sender(void)
{
    push_sender *closed = set_sender(NULL);
    if (closed != NULL) {
        state.library->close(closed);
    }
}

/* While there is no room, what was recorded waits where it is: the next profile has it. */
static bool take(const pp_push_taken *taken, void *context)
{
    (void)context;
    const push_profile profile = {.data = taken->data,
                                  .size = taken->size,
                                  .kind = taken->kind,
                                  .labels = state.resource.labels,
                                  .label_count = state.resource.count,
                                  .begin_ns = taken->begin_ns,
                                  .end_ns = taken->end_ns};
    return !state.library->is_full(state.sender) && state.library->add(state.sender, &profile) == 0;
}

/* A kind may be turned on later (control), so it is said when something could be sent. */
static void collect(void)
{
    if (!state.has_said && !pp_push_deltas_has_any()) {
        say("push: nothing is recorded, so nothing is sent; LIBPPROF names what to record, as in "
            "cpu,heap,push=URL");
        state.has_said = true;
    }
    pp_push_deltas_collect(take, NULL);
}

/* ---- the thread: requests ---- */

static request requested(void)
{
    return (request)__atomic_load_n(&state.requested, __ATOMIC_ACQUIRE);
}

/* True: the thread ends. */
static bool answer(request wanted)
{
    uint64_t give_up_at_ns = __atomic_load_n(&state.give_up_at_ns, __ATOMIC_ACQUIRE);
    bool is_in_time = pp_clock_ns(CLOCK_MONOTONIC) < give_up_at_ns;
    if (state.sender != NULL && is_in_time) {
        collect();
        state.library->drain(state.sender, give_up_at_ns);
    }
    if (wanted == END && is_in_time) { /* else libraries may be torn down already */
        close_sender();
    }
    uint32_t expected = wanted;
    __atomic_compare_exchange_n(&state.requested, &expected, NOTHING, false, __ATOMIC_ACQ_REL,
                                __ATOMIC_ACQUIRE);
    pp_doorbell_ring(&state.answered);
    return wanted == END;
}

/* All threads of the program have ended: so must this one, and nobody asks it to. */
static bool is_alone(uint64_t now_ns)
{
    if (now_ns < state.look_ns) {
        return false;
    }
    state.look_ns = now_ns + PP_NS_PER_S;
    return pp_worker_is_alone();
}

static void end_alone(void)
{
    __atomic_store_n(&state.give_up_at_ns, pp_clock_ns(CLOCK_MONOTONIC) + patience_ns,
                     __ATOMIC_RELEASE);
    answer(END);
}

/* ---- the thread: time ---- */

static void collect_if_due(uint64_t now_ns)
{
    if (now_ns >= state.next_ns) {
        collect();
        uint64_t missed = (now_ns - state.next_ns) / state.interval_ns;
        state.next_ns += (missed + 1) * state.interval_ns;
    }
}

/* Sends, or waits, until it is time for something else. */
static void pump(void)
{
    uint64_t until_ns = state.look_ns < state.next_ns ? state.look_ns : state.next_ns;
    if (requested() == NOTHING && !pp_pausables_pause()) {
        state.library->pump(state.sender, until_ns);
    }
}

static bool begin_thread(void)
{
    if (!state.has_begun) {
        state.has_begun = true;
        if (state.is_late) {
            pp_push_deltas_skip();
        }
    }
    return state.sender != NULL || open_sender();
}

/* Nobody asks a thread that is over. */
static bool end_thread(void)
{
    __atomic_store_n(&state.runs, false, __ATOMIC_RELEASE);
    __atomic_store_n(&state.requested, NOTHING, __ATOMIC_RELEASE);
    pp_doorbell_ring(&state.answered);
    return true;
}

static bool run(void *context)
{
    (void)context;
    __atomic_store_n(&state.tid, pp_task_self(), __ATOMIC_RELEASE);
    if (!begin_thread()) {
        return end_thread();
    }
    for (;;) {
        request wanted = requested();
        uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
        if (wanted != NOTHING && answer(wanted)) {
            return end_thread();
        }
        if (pp_pausables_pause()) {
            state.library->park(state.sender);
            __atomic_store_n(&state.tid, 0, __ATOMIC_RELEASE); /* another thread may get the id */
            return false;
        }
        if (is_alone(now_ns)) {
            end_alone();
            return end_thread();
        }
        collect_if_due(now_ns);
        pump();
    }
}

PP_NOT_SHOWN(run);

/* On a thread of the program: a sample there would show libcurl; with signals blocked it comes afterwards. */
static void wake(void *context)
{
    (void)context;
    pp_signal_mask old = 0;
    pp_lock_enter(&state.lock, pp_task_self(), &old);
    if (state.sender != NULL) {
        state.library->wake(state.sender);
    }
    pp_lock_leave(&state.lock, &old);
}

static void lose(void *context)
{
    (void)context;
    state.runs = false;
}

/* ---- for others ---- */

int pp_push_option_start(uint64_t interval_ns, bool is_late)
{
    const pp_pausable thread = {.name = "libpprof-push",
                                .stack_bytes = STACK_BYTES,
                                .run = run,
                                .wake = wake,
                                .lost = lose,
                                .context = &state};
    if (!pp_push_option_is_on() || state.runs) {
        return 0;
    }
    int saved_errno = errno;
    pp_sandbox_probe(); /* whether the thread may have its own table */
    take_settings();
    state.interval_ns = interval_ns != 0 ? interval_ns : INTERVAL_S * (uint64_t)PP_NS_PER_S;
    state.next_ns = pp_clock_ns(CLOCK_MONOTONIC) + state.interval_ns;
    pp_push_deltas_begin();
    state.is_late = is_late;
    state.has_begun = false;
    state.requested = NOTHING;
    state.runs = true;
    int error = pp_pausable_begin(&thread);
    if (error != 0) {
        state.runs = false;
        pp_log_error("push", ": nothing is sent", error, NULL);
    }
    errno = saved_errno;
    return error;
}

static void ask(request wanted)
{
    if (!__atomic_load_n(&state.runs, __ATOMIC_ACQUIRE) ||
        __atomic_load_n(&state.tid, __ATOMIC_ACQUIRE) == pp_task_self()) {
        return;
    }
    int saved_errno = errno;
    uint64_t until_ns = pp_clock_ns(CLOCK_MONOTONIC) + patience_ns;
    __atomic_store_n(&state.give_up_at_ns, until_ns - margin_ns, __ATOMIC_RELEASE);
    __atomic_store_n(&state.requested, (uint32_t)wanted, __ATOMIC_RELEASE);
    wake(NULL);
    for (;;) {
        uint32_t heard = pp_doorbell_heard(&state.answered);
        if (requested() == NOTHING || !__atomic_load_n(&state.runs, __ATOMIC_ACQUIRE) ||
            pp_clock_ns(CLOCK_MONOTONIC) >= until_ns) {
            break;
        }
        pp_doorbell_wait(&state.answered, heard, until_ns);
    }
    if (requested() != NOTHING && __atomic_load_n(&state.runs, __ATOMIC_ACQUIRE)) {
        say("push: there was no time to send the last profiles");
    }
    if (wanted == END) {
        state.runs = false;
    }
    errno = saved_errno;
}

void pp_push_option_flush(void)
{
    ask(FLUSH);
}

void pp_push_option_end(void)
{
    ask(END);
}

/* The connection is the parent's: its descriptors are in no table of the child. */
void pp_push_option_after_fork_in_child(bool goes_on)
{
    uint64_t interval_ns = state.interval_ns;
    state.runs = false;
    state.tid = 0;
    pp_lock_release(&state.lock);
    state.sender = NULL;
    state.requested = NOTHING;
    pp_push_deltas_after_fork_in_child();
    if (!goes_on) {
        state.words[PP_PUSH_URL][0] = '\0';
    }
    pp_push_option_start(interval_ns, true);
}
