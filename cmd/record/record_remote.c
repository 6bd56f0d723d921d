/* SPDX-License-Identifier: MIT
 *
 * record_remote.c: see record_remote.h.
 *
 *   (attach) -> kinds -> requests: those that take time, each by a thread -> then the others
 *     -> (detach) -> files -> top 10
 *
 * Owns: the answers, for the length of a call.
 * Tested by: e2e.cpprof_record_remote
 */
#include "record/record_remote.h"

#include "ask/control.h"
#include "ask/source_root.h"
#include "attach/attachment.h"
#include "base/message.h"
#include "base/meter.h"
#include "base/pool.h"
#include "import/profile_file.h"
#include "import/source_requests.h"
#include "profile/profile_model.h"
#include "profile/protobuf.h"
#include "record/record_child.h"
#include "record/record_summary.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_SECONDS = 10 };

/* A process that is asked. */
typedef struct reached {
    cp_attachment attachment;
    bool was_off
        [CP_RECORD_KINDS_MAX]; /* the process was attached to, and has not recorded the kind */
    cp_record_kinds begun;     /* what this command has turned on */
} reached;

/* ---- requests ---- */

static long seconds_of(const cp_record_options *options)
{
    return options->duration_ms ? (options->duration_ms + 999) / 1000 : DEFAULT_SECONDS;
}

static bool is_contention(const cp_record_kind *kind)
{
    return strcmp(kind->name, "block") == 0 || strcmp(kind->name, "mutex") == 0;
}

/* A kind that is recorded for the time of a request. NULL: the kind is not. Else its name there. */
static const char *timed_name(const cp_record_kind *kind)
{
    return strcmp(kind->name, "cpu") == 0    ? "profile"
           : strcmp(kind->name, "wall") == 0 ? "wall"
                                             : NULL;
}

/* Whether the kind is turned on first, in a process that was attached to. */
static bool is_begun(const cp_record_kind *kind)
{
    bool is_always_on =
        strcmp(kind->name, "thread") == 0 || strcmp(kind->name, "threadcreate") == 0;

    return !timed_name(kind) && !is_always_on && !is_contention(kind);
}

/*
 * Whether the profile is what changes in the time of the request: that of a process that was
 * attached to has what an earlier attachment has recorded, too.
 */
static bool is_change(const cp_record_kind *kind, bool was_off)
{
    bool is_heap = strcmp(kind->name, "heap") == 0;
    bool has_rate = kind->rate[0] && !cp_record_traits_of(kind->name)->has_heaps_rate;

    return is_contention(kind) || strcmp(kind->name, "lifetime") == 0 ||
           (was_off ? is_heap : has_rate);
}

/* The rate that the request has; 0: none. What has been turned on has its rate already, and a server
 * takes no rate for what is made of the samples of heap. */
static int64_t rate_of(const cp_record_kind *kind, bool was_off)
{
    int64_t rate = cp_record_rate_number(kind->rate);

    if (is_contention(kind)) {
        return was_off && !rate ? 1 : rate;
    }
    return was_off || cp_record_traits_of(kind->name)->has_heaps_rate ? 0 : rate;
}

static cp_request request_of(const char *root, const cp_record_kind *kind, bool was_off,
                             const cp_record_options *options)
{
    const char *timed = timed_name(kind);
    bool changes = is_change(kind, was_off);
    long long rate = rate_of(kind, was_off);
    long seconds = seconds_of(options);
    char *parameters;

    if (timed && strcmp(timed, "profile") == 0) {
        parameters = cp_heap_printf("?seconds=%ld&hz=%ld", seconds, options->hz);
    } else if (timed) {
        parameters =
            cp_heap_printf("?seconds=%ld%s%s", seconds, kind->rate[0] ? "&hz=" : "", kind->rate);
    } else if (changes) {
        parameters = rate ? cp_heap_printf("?seconds=%ld&rate=%lld", seconds, rate)
                          : cp_heap_printf("?seconds=%ld", seconds);
    } else {
        parameters = cp_heap_printf("%s", "");
    }
    cp_request r = {.source = cp_source_address(root, timed ? timed : kind->name, parameters),
                    .takes_time = timed || changes};
    free(parameters);
    return r;
}

/* ---- answers ---- */

/* Writes the bytes as they came. Returns the profile; NULL with a sentence: nothing is written. */
static cp_profile *keep(const cp_request *r, const char *output, cp_error *error)
{
    cp_profile *profile = NULL;
    cp_error inner;

    if (r->status < 0) {
        cp_fail(error, "%s", r->error.text);
    } else if (cp_profile_read_bytes(r->answer.data, r->answer.length, CP_PROFILE_MAX_BYTES,
                                     &profile, &inner) < 0) {
        cp_fail(error, "%.500s: %.500s", r->source, inner.text);
    } else if (cp_file_put(output, &r->answer, error) == 0) {
        return profile;
    }
    cp_profile_free(profile);
    return NULL;
}

/* Says which rate the profile has, if it is not the one that the user wanted. */
static void say_rate(const cp_request *r, const cp_record_kind *kind, const cp_profile *profile)
{
    int64_t wanted = cp_record_rate_number(kind->rate);
    const char *process = cp_control_is_process(r->source) ? strchr(r->source, ':') + 1 : "PID";
    int length = (int)strcspn(process, "/");

    if (!cp_record_traits_of(kind->name)->has_heaps_rate || wanted == 0 ||
        wanted == profile->period) {
        return;
    }
    if (profile->period > 0) {
        cp_complain("%s: the process's own rate holds, heap:%lld; `cpprof configure %.*s heap:%s` "
                    "changes it",
                    kind->name, (long long)profile->period, length, process, kind->rate);
    } else {
        cp_complain("%s: the process takes no samples of its heap; `cpprof configure %.*s heap:%s` "
                    "begins with it",
                    kind->name, length, process, kind->rate);
    }
}

static void collect(cp_record_summary *summary, const cp_request *r, size_t kind)
{
    cp_error error;
    cp_profile *profile = keep(r, summary->session->outputs[kind], &error);

    if (!profile) {
        cp_complain("%s", error.text);
        cp_record_say_missing(summary, kind);
        summary->incomplete = true;
    } else {
        say_rate(r, &summary->session->options->kinds.list[kind], profile);
        cp_record_summarize(summary, kind, profile);
    }
    cp_profile_free(profile);
}

/* ---- a process that was not reachable before ---- */

/* Whether the process records the kind, by its answer to `status`: "on cpu heap:524288". */
static bool is_on(const cp_bytes *status, const cp_record_kind *kind)
{
    char *on = cp_control_value(status, "on"), *rest = on;
    bool found = false;

    for (const char *word; !found && (word = strsep(&rest, " "));) {
        size_t length = strcspn(word, ":");
        found = strlen(kind->name) == length && strncmp(word, kind->name, length) == 0;
    }
    free(on);
    return found;
}

/* Turns on what is_begun() says and was off. */
static int turn_on(reached *r, const cp_record_kinds *kinds, cp_error *error)
{
    cp_bytes status = {0};

    if (cp_control_say(r->attachment.pid, "status", NULL, &status, error) < 0) {
        return -1;
    }
    for (size_t i = 0; i < kinds->count; i++) {
        const cp_record_kind *kind = &kinds->list[i];
        r->was_off[i] = !is_on(&status, kind);
        if (is_begun(kind) && r->was_off[i]) {
            r->begun.list[r->begun.count++] = *kind;
        }
    }
    cp_bytes_release(&status);
    if (r->begun.count == 0) {
        return 0;
    }
    char *words = cp_record_kinds_words(&r->begun, 0);
    int result = cp_control_say(r->attachment.pid, "configure", words, NULL, error);
    free(words);
    return result;
}

/* An attachment of another cpprof goes on after this command. */
static void turn_off(const reached *r)
{
    cp_error unheard;

    for (size_t i = 0; i < r->begun.count; i++) {
        char *option = cp_heap_printf("%s=off", r->begun.list[i].name);
        cp_control_say(r->attachment.pid, "configure", option, NULL, &unheard);
        free(option);
    }
}

/*
 * Waits for the time that the user has named, or that is due to what has been turned on, unless a
 * request takes it, or the process ends, or its attachment.
 */
static void wait_for_time(const cp_request *requests, const reached *r,
                          const cp_record_options *options)
{
    enum { SECOND_MS = 1000 };
    struct pollfd held = {.fd = r->attachment.holding, .events = 0};
    uint64_t total = (uint64_t)seconds_of(options);
    bool waits = options->duration_ms > 0, is_own = r->attachment.begun || r->begun.count > 0;
    cp_meter meter;

    for (size_t i = 0; i < options->kinds.count; i++) {
        if (requests[i].takes_time) {
            return;
        }
        waits = waits || (is_own && is_begun(&options->kinds.list[i]));
    }
    if (!waits) {
        return;
    }
    cp_meter_begin(&meter, "the process records", "s");
    for (uint64_t i = 0; i < total && poll(&held, 1, SECOND_MS) == 0; i++) {
        cp_meter_step(&meter, i + 1, total);
    }
    cp_meter_end(&meter);
}

/* ---- all ---- */

/* `reached`: the process can be asked. */
static int record_all(const char *root, reached *r, bool is_reached,
                      const cp_record_options *options)
{
    const cp_record_kinds *kinds = &options->kinds;
    const cp_child nobody = {.pid = 0};
    cp_request requests[CP_RECORD_KINDS_MAX] = {0};
    cp_session session = {.options = options, .processes = 1};
    cp_record_summary summary = {.session = &session,
                                 .child = &nobody,
                                 .incomplete = !is_reached,
                                 .has_own_rates = !r->attachment.is_late};

    for (size_t i = 0; i < kinds->count; i++) {
        session.outputs[i] = cp_record_kind_output(kinds, i, options->output);
        requests[i] = request_of(root, &kinds->list[i], r->was_off[i], options);
    }
    if (is_reached) {
        wait_for_time(requests, r, options);
    }
    bool has_failed = is_reached && !cp_requests_ask(requests, kinds->count);
    const char *loss = has_failed ? cp_attachment_loss(&r->attachment) : NULL;
    if (is_reached && !r->attachment.begun) {
        turn_off(r);
    }
    cp_attachment_end(&r->attachment);
    for (size_t i = 0; i < kinds->count; i++) {
        if (loss && requests[i].status < 0) {
            cp_fail(&requests[i].error, "%s: %s", requests[i].source, loss);
        }
        if (is_reached) {
            collect(&summary, &requests[i], i);
        } else {
            cp_record_say_missing(&summary, i);
        }
        cp_bytes_release(&requests[i].answer);
        free(requests[i].source);
    }
    cp_record_print_next(&summary);
    for (size_t i = 0; i < kinds->count; i++) {
        free(session.outputs[i]);
    }
    return summary.incomplete ? CP_EXIT_BAD_INPUT : CP_EXIT_OK;
}

/* Makes the process reachable, and turns on what is to be recorded. */
static int reach(const char *root, reached *r, const cp_record_options *options, cp_error *error)
{
    cp_attachment *attachment = &r->attachment;
    const char *rest = "";
    int pid = 0;

    if (!cp_control_is_process(root)) {
        return 0;
    }
    if (cp_control_pid(root, &pid, &rest, error) < 0 ||
        cp_attachment_begin(attachment, pid, false, error) < 0) {
        attachment->begun = false;
        return -1;
    }
    if (attachment->begun) {
        fprintf(stderr,
                "cpprof: attached to process %d: one of its threads stood still for %.2f ms\n", pid,
                (double)attachment->stopped_ns / 1e6);
    }
    if (!attachment->is_late || turn_on(r, &options->kinds, error) == 0) {
        return 0;
    }
    const char *loss = cp_attachment_loss(attachment);
    return loss ? cp_fail(error, "%s: %s", root, loss) : -1;
}

static int attach_and_record(const char *root, const cp_record_options *options)
{
    reached r = {.attachment = {.holding = -1}};
    cp_error error;
    bool is_reached = reach(root, &r, options, &error) == 0;

    if (!is_reached) {
        cp_complain("%s", error.text);
    }
    return record_all(root, &r, is_reached, options);
}

int cp_record_remote(const char *source, const cp_record_options *options)
{
    char *root = cp_source_root(source);

    if (!root) {
        return cp_bad_usage("record",
                            "record: %s: expected the address of a server, such as "
                            "http://HOST:PORT, found that of one profile (`cpprof top URL` reads "
                            "it)",
                            source);
    }
    int status = attach_and_record(root, options);
    free(root);
    return status;
}
