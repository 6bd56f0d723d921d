/* SPDX-License-Identifier: MIT
 *
 * collectors.c: see collectors.h.
 *
 * A round of a process is a few requests on one connection, each after the answer to the one before:
 *
 *   STATUS --> CONFIGURE --> cpu --> wall --> heap --> ... --> own --> the tallies are written --> all is handed to the sender
 *                 ('- only if something has to change)
 *
 * The tallies are written first, so that no agent after this one pushes the same again, however this one ends. If they
 * cannot be written, nothing is pushed, and the next round has what this one had.
 *
 * The requests for CPU and wall profiles are for what was counted since the sampler started (`now`), which the program
 * itself has on: so no moment is missing between two rounds.
 *
 * Tested by: unit.cmd_collectors, e2e.cpprof_agent_push, e2e.cpprof_agent_last.
 */
#include "agent/collectors.h"

#include "agent/exchange.h"
#include "agent/state.h"
#include "agent/tally.h"
#include "ask/control.h"
#include "ask/control_target.h"
#include "base/clock.h"
#include "base/message.h"
#include "base/pool.h"
#include "import/gunzip.h"
#include "profile/profile_decode.h"
#include "profile/profile_encode.h"
#include "profile/profile_merge.h"
#include "profile/profile_model.h"
#include "profile/protobuf.h"

#include "push/resource.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)

static const int64_t patience_ns = 10 * SECOND; /* for the head of an answer */

static const int64_t flush_ns = 3 * SECOND; /* for the server, at the end */

enum {
    BODY_BYTES = 8 << 20,
    PLAIN_BYTES = 64 << 20,
    NAME_BYTES = 64,
    OWN_PROFILES = 16, /* of a program */
    PARTS = 2          /* of a profile: what accumulates, and what is in use */
};

/* What is asked for. The word is what /control/status calls it. */
static const char *const paths[CP_KINDS] = {"profile?now=1", "wall?now=1", "heap", "block",
                                            "mutex",         "thread",     "fd"};

/* The steps of a round; after these, one for each kind, and one for each of the program's own profiles. */
typedef enum step { STEP_STATUS, STEP_CONFIGURE, STEP_KINDS } step;

/* A profile that is to be pushed. */
typedef struct parcel {
    const char *kind;
    cp_bytes packed;
    int64_t begin_ns, end_ns;
} parcel;

typedef struct collector {
    cp_collectors *all;
    cp_host_process *process;
    cp_loop_source next; /* the next round, or the next step of this one */
    cp_exchange exchange;
    bool
        is_reused; /* the connection is that of an earlier request: the process may have closed it */
    unsigned step;
    cp_bytes body;
    char *on;  /* what it records */
    char *own; /* the names of its own profiles; NULL: there are none */
    const char *own_names[OWN_PROFILES];
    int own_count;
    cp_program_id id;
    int inner_pid;
    bool is_known;      /* `id`, and the tallies are those of the program */
    bool is_configured; /* the program was told what to record */
    bool is_changed;    /* the tallies */
    bool is_ahead;      /* of what the files say: something that is not in them was handed over */
    bool is_complained_of;
    cp_tally tallies[CP_KINDS];
    parcel parcels[CP_KINDS * PARTS + OWN_PROFILES]; /* of this round */
    size_t parcel_count;
    push_resource resource;
    int last;        /* the folder of its last profiles, if it is in a container; or -1 */
    uid_t last_user; /* the folder's */
} collector;

struct cp_collectors {
    cp_loop *loop;
    cp_processes *processes;
    cp_state state;
    push_sender *sender;
    pthread_t thread;
    bool has_thread, stops;
    int64_t interval_ns;
    char *record;
    char host[256];
    bool is_stuck;        /* the tallies could not be written the last time */
    cp_loop_source sweep; /* for files of programs that nobody has seen end */
};

static int64_t wall_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * SECOND + now.tv_nsec;
}

/* ---- pushing ---- */

static int encode(cp_profile *p, cp_bytes *packed, cp_error *error)
{
    pp_buffer plain = PP_BUFFER_INIT;
    cp_profile *merged = NULL;

    if (cp_profile_merge(&p, 1, &merged, error) < 0) { /* leaves out what no sample needs */
        return -1;
    }
    bool has_samples = merged->sample_count > 0;
    if (has_samples) {
        cp_profile_encode(merged, &plain);
        cp_gzip_compress(plain.data, plain.size, packed);
    }
    pp_buffer_release(&plain);
    cp_profile_free(merged);
    return has_samples;
}

static void release_parcels(parcel *parcels, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cp_bytes_release(&parcels[i].packed);
    }
}

static bool is_of_moment(const char *kind)
{
    return strcmp(kind, "goroutine") == 0 || strcmp(kind, "fd") == 0;
}

static int kind_of(const char *name)
{
    int kind = 0;

    while (kind < CP_KINDS && strcmp(cp_kind_names[kind], name) != 0) {
        kind++;
    }
    return kind;
}

/* The profile's own time tells one run of the sampler from another; other profiles say when they were made. */
static int64_t run_of(int kind, const cp_profile *p)
{
    return kind == CP_KIND_CPU || kind == CP_KIND_WALL ? p->time_nanos : 0;
}

/* What is new since the last time. The clock may have been set back meanwhile. */
static int64_t begin_of(const cp_collectors *all, const cp_tally *tally, int64_t run,
                        int64_t now_ns)
{
    int64_t begin_ns = tally->until_ns ? tally->until_ns : run;

    return begin_ns && begin_ns < now_ns ? begin_ns : now_ns - all->interval_ns;
}

/* Other formats, which cpprof reads for a user, are not for what any process may send. */
static int read_proto(const cp_bytes *bytes, cp_profile **out, cp_error *error)
{
    cp_bytes plain = {0};

    if (!cp_gzip_is(bytes->data, bytes->length)) {
        return cp_profile_decode(bytes->data, bytes->length, out, error);
    }
    int status = cp_gzip_expand(bytes->data, bytes->length, PLAIN_BYTES, &plain, error);
    status = status < 0 ? status : cp_profile_decode_once(plain.data, plain.length, out, error);
    cp_bytes_release(&plain);
    return status;
}

/* The profile with only the types that are levels, or only those that are not. It lives as long as `p`. */
static cp_profile select_types(cp_profile *p, bool levels)
{
    cp_profile to = *p;

    to.sample_types = CP_POOL_ARRAY(&p->pool, cp_value_type, (size_t)p->sample_type_count + 1);
    to.samples = CP_POOL_ARRAY(&p->pool, cp_sample, (size_t)p->sample_count + 1);
    to.sample_type_count = 0;
    for (uint32_t i = 0; i < p->sample_count; i++) {
        to.samples[i] = p->samples[i];
        to.samples[i].values = cp_pool_words(&p->pool, p->sample_type_count, sizeof(int64_t));
    }
    for (uint32_t k = 0; k < p->sample_type_count; k++) {
        if (cp_tally_accumulates(cp_profile_text(p, p->sample_types[k].type)) == levels) {
            continue;
        }
        for (uint32_t i = 0; i < p->sample_count; i++) {
            to.samples[i].values[to.sample_type_count] = p->samples[i].values[k];
        }
        to.sample_types[to.sample_type_count++] = p->sample_types[k];
        to.default_sample_type = p->sample_types[k].type;
    }
    return to;
}

static int pack_part(cp_profile *p, parcel *one, cp_error *error)
{
    p->time_nanos = one->begin_ns;
    p->duration_nanos = one->end_ns - one->begin_ns;
    return encode(p, &one->packed, error);
}

/* Two parcels, because only one of them has a duration: servers add up what has one. */
static int pack_parts(cp_profile *p, const parcel *whole, parcel parts[PARTS], cp_error *error)
{
    int count = 0;

    for (int levels = 0; levels < PARTS; levels++) {
        cp_profile part = select_types(p, levels);
        parts[count] = *whole;
        parts[count].begin_ns = levels ? whole->end_ns : whole->begin_ns;
        int status = part.sample_type_count ? pack_part(&part, &parts[count], error) : 0;
        if (status < 0) {
            release_parcels(parts, (size_t)count);
            return -1;
        }
        count += status;
    }
    return count;
}

/* Packs what is new in a profile. `tally`: NULL for one that is pushed as it is. The number of parcels, which is 0 if
 * nothing is new, or -1 with a sentence. */
static int pack(const cp_collectors *all, cp_tally *tally, const char *kind, const cp_bytes *bytes,
                int64_t now_ns, parcel parts[PARTS], cp_error *error)
{
    parcel whole = {.kind = kind, .begin_ns = now_ns, .end_ns = now_ns};
    cp_profile *p = NULL;

    if (read_proto(bytes, &p, error) < 0) {
        return -1;
    }
    int64_t run = run_of(kind_of(kind), p);
    int status = tally ? cp_tally_take(tally, p, run, error) : 0;
    whole.kind = cp_profile_name_goroutines(p) ? "goroutine" : kind;
    bool is_difference = tally && !is_of_moment(whole.kind);
    if (is_difference) {
        whole.begin_ns = begin_of(all, tally, run, now_ns);
        tally->until_ns = now_ns;
    }
    if (status == 0 && is_difference) {
        status = pack_parts(p, &whole, parts, error);
    } else if (status == 0) {
        parts[0] = whole;
        status = pack_part(p, &parts[0], error);
    }
    cp_profile_free(p);
    return status;
}

static void hand_over(const cp_collectors *all, const parcel *one, const push_resource *resource)
{
    const push_profile profile = {.data = one->packed.data,
                                  .size = one->packed.length,
                                  .kind = one->kind,
                                  .labels = resource->labels,
                                  .label_count = resource->count,
                                  .begin_ns = one->begin_ns,
                                  .end_ns = one->end_ns};
    push_add(all->sender, &profile);
    push_wake(all->sender);
}

/* ... and releases them. */
static void hand_over_all(const cp_collectors *all, parcel *parcels, size_t count,
                          const push_resource *resource)
{
    for (size_t i = 0; i < count; i++) {
        hand_over(all, &parcels[i], resource);
    }
    release_parcels(parcels, count);
}

/* The sender waits for the server on a thread of its own. */
static void *send_all(void *context)
{
    cp_collectors *all = context;

    while (!__atomic_load_n(&all->stops, __ATOMIC_ACQUIRE)) {
        push_pump(all->sender, UINT64_MAX);
    }
    return NULL;
}

static void log_push(const char *message)
{
    cp_complain("%s", message);
}

/* ---- a program ---- */

static void forget_tallies(collector *c)
{
    for (int i = 0; i < CP_KINDS; i++) {
        cp_tally_release(&c->tallies[i]);
    }
}

__attribute__((format(printf, 2, 3))) static void complain(collector *c, const char *format, ...);

/* Once: a process that cannot be collected from would fill the log. */
static void complain(collector *c, const char *format, ...)
{
    char text[512];
    va_list values;

    if (c->is_complained_of) {
        return;
    }
    c->is_complained_of = true;
    va_start(values, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it does not see the va_start above */
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    cp_complain("process %d (%s): %s", c->process->pid, c->process->program, text);
}

static void describe(collector *c)
{
    const cp_host_process *process = c->process;
    cp_target target;
    cp_target_environment e = {.options = NULL};
    cp_error error;

    if (cp_target_read(process->pid, &target, &error) == 0) {
        cp_target_environment_read(&target, &e);
        c->inner_pid = target.inner_pid;
    }
    const push_resource_source source = {
        .service = process->service, .attributes = e.resource, .program = process->program};
    push_resource_init(&c->resource, &source);
    push_resource_set(&c->resource, "host.name", c->all->host);
    push_resource_set(&c->resource, "process.executable.name", process->program);
    cp_target_environment_release(&e);
}

/* The status names the program: what it does not know was told to the one before. */
static void meet_program(collector *c, uint64_t loaded)
{
    if (c->is_known && c->id.loaded == loaded) {
        return;
    }
    forget_tallies(c);
    c->id = (cp_program_id){c->process->pid, c->process->start, loaded};
    c->is_known = true;
    c->is_configured = false;
    describe(c);
    free(cp_state_get(&c->all->state, &c->id, c->tallies));
}

/* The labels, for an agent that finds the last profiles of the program when it is gone: "NAME=VALUE" lines; to be freed. */
static char *write_labels(const push_resource *resource)
{
    char *text = cp_heap_printf("%s", "");

    for (size_t i = 0; i < resource->count; i++) {
        char *longer =
            cp_heap_printf("%s%s=%s", text, resource->labels[i].name, resource->labels[i].value);
        for (char *c = longer + strlen(text); *c; c++) {
            if (*c == '\n') {
                *c = ' ';
            }
        }
        free(text);
        text = cp_heap_printf("%s\n", longer);
        free(longer);
    }
    return text;
}

static void read_labels(push_resource *resource, char *text)
{
    char *line;

    while (text && (line = strsep(&text, "\n"))) {
        char *value = strchr(line, '=');
        if (value) {
            *value = '\0';
            push_resource_set(resource, line, value + 1);
        }
    }
}

/* False: they could not be written. */
static bool keep_tallies(collector *c)
{
    cp_collectors *all = c->all;
    cp_error error;

    if (!c->is_changed) {
        return true;
    }
    char *labels = write_labels(&c->resource);
    bool is_kept = cp_state_put(&all->state, &c->id, c->tallies, labels, &error) == 0;
    free(labels);
    if (!is_kept && !all->is_stuck) {
        cp_complain("%s; nothing more is pushed until it can be", error.text);
    } else if (is_kept && all->is_stuck) {
        cp_complain("tallies are written again");
    }
    all->is_stuck = c->is_changed = !is_kept;
    c->is_ahead &= !is_kept;
    return is_kept;
}

static void drop_parcels(collector *c)
{
    release_parcels(c->parcels, c->parcel_count);
    c->parcel_count = 0;
}

/* `is_over`: the program has no next round. */
static void push_parcels(collector *c, bool is_over)
{
    bool waits = !is_over && !c->is_ahead;
    bool goes_on = (!waits || !push_is_full(c->all->sender)) && (keep_tallies(c) || !waits);

    if (goes_on) {
        hand_over_all(c->all, c->parcels, c->parcel_count, &c->resource);
        c->parcel_count = 0;
        return;
    }
    drop_parcels(c);
    forget_tallies(c);
    free(cp_state_get(&c->all->state, &c->id, c->tallies));
    c->is_changed = false;
}

/* ---- requests ---- */

static void take_step(collector *c);

static void end_round(collector *c)
{
    push_parcels(c, false);
    c->step = STEP_STATUS;
    cp_loop_wait_until(&c->next, cp_now_ns() + c->all->interval_ns);
}

static void begin_answer(cp_exchange *x)
{
    collector *c = x->owner;

    c->body.length = 0;
    if (x->length > BODY_BYTES) {
        cp_exchange_cancel(x);
        complain(c, "an answer of %" PRIu64 " bytes is too long", x->length);
        end_round(c);
    }
}

static size_t take_answer(cp_exchange *x, const char *data, size_t length)
{
    collector *c = x->owner;

    cp_bytes_append(&c->body, data, length);
    return length;
}

static char *word_of_status(const collector *c, const char *word)
{
    return cp_control_value(&c->body, word);
}

/* Whether "cpu heap:1" has a kind. */
static bool is_on(const char *on, const char *kind)
{
    size_t length = strlen(kind);

    for (const char *at = on ? on : ""; (at = strstr(at, kind)); at += length) {
        if ((at == on || at[-1] == ' ') && strchr(" :", at[length])) {
            return true;
        }
    }
    return false;
}

/* What there are more of is left out. */
static void take_own(collector *c)
{
    free(c->own);
    c->own = word_of_status(c, "profiles");
    c->own_count = 0;
    for (char *rest = c->own, *name; rest && (name = strsep(&rest, " "));) {
        if (*name && c->own_count < OWN_PROFILES) {
            c->own_names[c->own_count++] = name;
        }
    }
}

static bool take_status(collector *c)
{
    char *on = word_of_status(c, "on"), *loaded = word_of_status(c, "loaded");
    bool is_status = on && loaded;

    if (is_status) {
        meet_program(c, strtoull(loaded, NULL, 10));
        free(c->on);
        c->on = on;
        cp_host_process_set_on(c->process, on);
        on = NULL;
        take_own(c);
    }
    free(on);
    free(loaded);
    return is_status;
}

/* Whether the agent may choose where the program's files go: nobody has, or it has itself. */
static bool is_free(const collector *c, const char *file)
{
    static const char usual[] = "/tmp/%e.%p.%k.pb.gz"; /* docs/OPTIONS.md */

    return !file || strcmp(file, usual) == 0 || cp_state_is_template(&c->all->state, file);
}

/* NULL: its last profiles can be written nowhere. */
static char *template_for(collector *c, const cp_target *target)
{
    char *template = NULL;

    if (!target->has_root) {
        return cp_state_template(&c->all->state, target->user);
    }
    if (c->last >= 0) {
        close(c->last);
    }
    c->last = cp_state_folder_inside(target, &template);
    c->last_user = target->user;
    return template;
}

/* The options for the program: what it does not record yet, and where its last profiles go, unless it has a place for
 * them. "": nothing. To be freed. */
static char *options_for(collector *c)
{
    char *file = word_of_status(c, "file"), *template = NULL;
    cp_target target;
    cp_error error;
    bool records_cpu = is_on(c->on, "cpu") && strstr(c->all->record, "cpu") != NULL;
    const char *record = records_cpu ? "" : c->all->record;

    if (is_free(c, file) && cp_target_read(c->process->pid, &target, &error) == 0) {
        template = template_for(c, &target);
    }
    char *options = cp_heap_printf("%s%s%s%s", record, *record && template ? "," : "",
                                   template ? "file=" : "", template ? template : "");
    free(template);
    free(file);
    return options;
}

static int kind_of_step(const collector *c)
{
    return (int)c->step - STEP_KINDS;
}

static void take_profile(collector *c)
{
    int kind = kind_of_step(c);
    bool is_own = kind >= CP_KINDS;
    cp_tally *tally = is_own ? NULL : &c->tallies[kind];
    cp_error error;

    if (c->exchange.status != 200) {
        return; /* it has stopped recording that */
    }
    const char *name = is_own ? c->own_names[kind - CP_KINDS] : cp_kind_names[kind];
    int status =
        pack(c->all, tally, name, &c->body, wall_clock_ns(), &c->parcels[c->parcel_count], &error);
    if (status < 0) {
        complain(c, "%s: %s", name, error.text);
    } else {
        c->parcel_count += (size_t)status;
        c->is_changed |= !is_own;
    }
}

static void take_body(collector *c)
{
    if (c->step == STEP_STATUS || c->step == STEP_CONFIGURE) {
        c->is_configured |= c->step == STEP_CONFIGURE;
        if (c->exchange.status != 200 && c->step == STEP_CONFIGURE) {
            complain(c, "it was told to record %s, and refuses: %.*s", c->all->record,
                     (int)c->body.length, (const char *)c->body.data);
        } else if (c->exchange.status != 200 || !take_status(c)) {
            complain(c, "it does not say what it records");
            end_round(c);
            return;
        }
    } else {
        take_profile(c);
    }
    c->step++;
    cp_loop_wait_until(&c->next, 0); /* the others have their turn */
}

static void end_answer(cp_exchange *x, const char *failure)
{
    collector *c = x->owner;

    if (!failure) {
        take_body(c);
    } else if (c->is_reused && !x->is_begun) {
        cp_loop_wait_until(&c->next, 0); /* on a new connection */
    } else {
        cp_host_process_doubt(c->process);
        end_round(c);
    }
}

static const cp_exchange_events exchange_events = {begin_answer, take_answer, end_answer};

static void ask(collector *c, const char *path, const char *body)
{
    int fd = c->exchange.source.fd;

    c->is_reused = fd >= 0;
    fd = c->is_reused ? fd : cp_host_process_connect(c->process);
    if (fd < 0) {
        cp_host_process_doubt(c->process);
        end_round(c);
        return;
    }
    char *request =
        cp_heap_printf("%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n%s",
                       body ? "POST" : "GET", path, body ? strlen(body) : 0, body ? body : "");
    c->exchange = (cp_exchange){.events = &exchange_events,
                                .owner = c,
                                .patience_ns = patience_ns,
                                .keeps = true,
                                .source.fd = -1};
    if (cp_exchange_begin(&c->exchange, c->all->loop, fd, request, strlen(request)) < 0) {
        end_round(c);
    }
}

/* A program that has answered is not told again, unless it has forgotten. */
static bool configures(collector *c)
{
    char *options = c->is_configured ? NULL : options_for(c);
    bool asks = options && *options;

    if (asks) {
        ask(c, "/control/configure", options);
    } else {
        c->is_configured = true;
    }
    free(options);
    return asks;
}

/* What is asked for in this step, in letters that a path may have; NULL: there is nothing more. To be freed. */
static char *path_of_step(const collector *c)
{
    static const char digits[] = "0123456789ABCDEF";
    int kind = kind_of_step(c);

    if (kind < CP_KINDS) {
        return cp_heap_printf("/debug/pprof/%s", paths[kind]);
    }
    if (kind - CP_KINDS >= c->own_count) {
        return NULL;
    }
    const char *name = c->own_names[kind - CP_KINDS];
    char *path = cp_heap_alloc(sizeof "/debug/pprof/" + 3 * strlen(name), 1);
    char *to = stpcpy(path, "/debug/pprof/");
    for (; *name; name++) {
        *to++ = '%';
        *to++ = digits[(unsigned char)*name >> 4];
        *to++ = digits[(unsigned char)*name & 15];
    }
    *to = '\0';
    return path;
}

static void take_step(collector *c)
{
    if (c->step == STEP_STATUS) {
        ask(c, "/control/status", NULL);
        return;
    }
    if (c->step == STEP_CONFIGURE) {
        if (configures(c)) {
            return;
        }
        c->step++;
    }
    while (kind_of_step(c) < CP_KINDS && !is_on(c->on, cp_kind_names[kind_of_step(c)])) {
        c->step++;
    }
    char *path = path_of_step(c);
    if (path) {
        ask(c, path, NULL);
    } else {
        end_round(c);
    }
    free(path);
}

static void act(cp_loop_source *source, uint32_t events)
{
    (void)events;
    take_step((collector *)((char *)source - offsetof(collector, next)));
}

/* ---- processes ---- */

static void appears(cp_host_process *process, void *context)
{
    cp_collectors *all = context;
    collector *c = cp_heap_alloc(1, sizeof *c);

    c->all = all;
    c->process = process;
    c->exchange.source.fd = c->last = -1;
    c->next = (cp_loop_source){.fd = -1, .deadline_ns = 0, .act = act};
    process->work = c;
    cp_loop_add(all->loop, &c->next);
}

static void free_collector(collector *c)
{
    cp_exchange_cancel(&c->exchange);
    cp_loop_remove(&c->next);
    cp_bytes_release(&c->body);
    drop_parcels(c);
    forget_tallies(c);
    if (c->last >= 0) {
        close(c->last);
    }
    free(c->on);
    free(c->own);
    free(c);
}

/* ---- last profiles ---- */

static collector *find_program(const cp_collectors *all, const cp_program_id *id)
{
    const cp_processes *processes = all->processes;

    for (size_t i = 0; i < processes->count; i++) {
        collector *c = processes->list[i]->work;
        if (c && c->is_known && c->inner_pid == id->pid && c->id.loaded == id->loaded) {
            return c;
        }
    }
    return NULL;
}

/* How many parcels there are: 0 also for a file that cannot be read. */
static size_t pack_file(const cp_collectors *all, const cp_last_file *file, const cp_bytes *bytes,
                        cp_tally tallies[CP_KINDS], parcel parts[PARTS])
{
    int kind = kind_of(file->kind);
    cp_error error;

    int count = pack(all, kind < CP_KINDS ? &tallies[kind] : NULL, file->kind, bytes, file->time_ns,
                     parts, &error);
    if (count < 0) {
        cp_complain("the last profile %s of process %d (%s): %s", file->kind, file->id.pid,
                    file->program, error.text);
    }
    return count < 0 ? 0 : (size_t)count;
}

/* Of a program that ended while there was no agent, or that no agent has seen. */
static void take_strange_file(cp_collectors *all, const cp_last_file *file, const cp_bytes *bytes)
{
    cp_tally tallies[CP_KINDS] = {{0}};
    cp_program_id id = file->id;
    push_resource resource;
    parcel parts[PARTS];
    cp_error error;

    const push_resource_source source = {.program = file->program};
    push_resource_init(&resource, &source);
    push_resource_set(&resource, "host.name", all->host);
    push_resource_set(&resource, "process.executable.name", file->program);
    char *labels = cp_state_get(&all->state, &id, tallies);
    read_labels(&resource, labels);
    free(labels);
    size_t count = pack_file(all, file, bytes, tallies, parts);
    labels = write_labels(&resource);
    if (id.start && cp_state_put(&all->state, &id, tallies, labels, &error) < 0) {
        cp_complain("%s", error.text);
    }
    free(labels);
    hand_over_all(all, parts, count, &resource);
    for (int i = 0; i < CP_KINDS; i++) {
        cp_tally_release(&tallies[i]);
    }
}

static void take_file(const cp_last_file *file, const cp_bytes *bytes, void *context)
{
    cp_collectors *all = context;
    collector *c = find_program(all, &file->id);

    if (c) {
        parcel parts[PARTS];
        push_parcels(c, false);
        size_t count = pack_file(all, file, bytes, c->tallies, parts);
        c->is_changed = true;
        c->is_ahead = !keep_tallies(c);
        hand_over_all(all, parts, count, &c->resource);
    } else {
        take_strange_file(all, file, bytes);
    }
}

static bool lives(const cp_program_id *id, void *context)
{
    const cp_collectors *all = context;
    char name[NAME_BYTES];
    int length = snprintf(name, sizeof name, "%d.%" PRIu64, id->pid, id->start);

    return cp_processes_find(all->processes, name, (size_t)length) != NULL;
}

static void sweep(cp_loop_source *source, uint32_t events)
{
    cp_collectors *all = (cp_collectors *)((char *)source - offsetof(cp_collectors, sweep));

    (void)events;
    cp_state_take_files(&all->state, take_file, all);
    cp_state_clean(&all->state, lives, all);
    cp_loop_wait_until(source, cp_now_ns() + all->interval_ns);
}

static void goes(cp_host_process *process, bool has_ended, void *context)
{
    cp_collectors *all = context;
    collector *c = process->work;

    if (!c) {
        return;
    }
    push_parcels(c, has_ended);
    if (has_ended) {
        cp_state_take_files(&all->state, take_file, all);
        if (c->last >= 0) {
            cp_state_take_from(c->last, c->last_user, take_file, all);
        }
        if (c->is_known) {
            cp_state_remove(&all->state, &c->id);
        }
    }
    process->work = NULL;
    free_collector(c);
}

static const cp_processes_events processes_events = {appears, goes};

/* ---- all ---- */

static int begin_sender(cp_collectors *all, const cp_collect_options *options, cp_error *error)
{
    char why[PUSH_WHY_BYTES];
    push_settings settings = options->server;
    char *spool = cp_heap_printf("%s/spool", all->state.path);

    settings.spool = spool;
    settings.log = log_push;
    int status = (options->open ? options->open : push_open)(&settings, &all->sender, why);
    free(spool);
    if (status < 0) {
        all->sender = NULL;
        return cp_fail(error, "--push: %s", why);
    }
    all->has_thread = pthread_create(&all->thread, NULL, send_all, all) == 0;
    return all->has_thread ? 0 : cp_fail(error, "--push: no thread can be created");
}

cp_collectors *cp_collectors_begin(cp_loop *loop, cp_processes *processes,
                                   const cp_collect_options *options, cp_error *error)
{
    cp_collectors *all = cp_heap_alloc(1, sizeof *all);

    all->loop = loop;
    all->processes = processes;
    all->interval_ns = (int64_t)(options->interval * SECOND);
    all->record = cp_heap_copy(options->record, strlen(options->record));
    gethostname(all->host, sizeof all->host - 1);
    all->sweep =
        (cp_loop_source){.fd = -1, .deadline_ns = cp_now_ns() + all->interval_ns, .act = sweep};
    if (cp_state_open(&all->state, options->state, error) < 0 ||
        begin_sender(all, options, error) < 0) {
        cp_collectors_end(all);
        return NULL;
    }
    cp_loop_add(loop, &all->sweep);
    processes->events = &processes_events;
    processes->context = all;
    return all;
}

void cp_collectors_end(cp_collectors *all)
{
    if (!all) {
        return;
    }
    for (size_t i = 0; i < all->processes->count; i++) {
        collector *c = all->processes->list[i]->work;
        if (c) {
            push_parcels(c, false);
            free_collector(c);
            all->processes->list[i]->work = NULL;
        }
    }
    all->processes->events = NULL;
    cp_loop_remove(&all->sweep);
    if (all->has_thread) {
        __atomic_store_n(&all->stops, true, __ATOMIC_RELEASE);
        push_wake(all->sender);
        pthread_join(all->thread, NULL);
        /* A request that the server answers only now must not be sent again by the next agent. */
        push_flush(all->sender, (uint64_t)(cp_now_ns() + flush_ns));
    }
    if (all->sender) {
        push_close(all->sender);
    }
    cp_state_close(&all->state);
    free(all->record);
    free(all);
}
