/* SPDX-License-Identifier: MIT
 *
 * cmd_collectors.c: a day of `cpprof agent --push` in a time that the test sets. The server, the agent and the program end and begin
 * anew, the disk is full, the clock is set: after it the server has what the programs have counted, to the unit, and each
 * program's profiles follow each other without a gap.
 *
 *   program, a socket of this process  <--requests--  collectors  -->  sender, a thread  -->  server, a function
 *
 * Time passes only when all of them wait: in epoll_wait() and clock_gettime(), which this file defines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/collectors.h"
#include "agent/state.h"
#include "base/message.h"
#include "base/pool.h"
#include "import/profile_file.h"
#include "profile/profile_encode.h"
#include "profile/profile_model.h"
#include "profile/protobuf.h"

#include "push/sender.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
#define HOUR   (3600 * SECOND)

enum { INTERVAL_S = 15, STACKS = 5, PROGRAMS = 64, SPOOL_BYTES = 1000000 };

/* The types that accumulate, over all kinds. */
enum { TYPES = 8 };
static const char *const type_names[TYPES] = {
    "samples", "cpu", "alloc_objects", "alloc_space", "contentions", "delay", NULL, NULL};

static char root[] = "/tmp/pprof_day_XXXXXX";

/* ---- time ---- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int64_t now_ns, wall_ns; /* what the wall clock shows more */
    bool has_sender, sleeps, is_woken;
    int64_t sleeps_until_ns;
    pthread_t main;
} clocks = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static int64_t now(void)
{
    return __atomic_load_n(&clocks.now_ns, __ATOMIC_ACQUIRE);
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    int64_t ns = now() + (clock == CLOCK_REALTIME ? clocks.wall_ns : 0);
    *time = (struct timespec){.tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND)};
    return 0;
}

static void set_now(int64_t ns)
{
    __atomic_store_n(&clocks.now_ns, ns, __ATOMIC_RELEASE);
}

/* Lets the sender come to rest, then the time pass until `until_ns`, or until the sender has something to do. */
static void pass(int64_t until_ns)
{
    pthread_mutex_lock(&clocks.lock);
    while (clocks.has_sender &&
           !(clocks.sleeps && !clocks.is_woken && now() < clocks.sleeps_until_ns)) {
        pthread_cond_wait(&clocks.changed, &clocks.lock);
    }
    int64_t next_ns =
        clocks.has_sender && clocks.sleeps_until_ns < until_ns ? clocks.sleeps_until_ns : until_ns;
    set_now(next_ns > now() ? next_ns : now());
    pthread_cond_broadcast(&clocks.changed);
    pthread_mutex_unlock(&clocks.lock);
}

/* The sender is at rest when this returns: so what it looks at may change. */
static void rest(void)
{
    pass(now());
}

/* ---- the server ---- */

typedef struct program program;

static struct {
    push_answer (*answer)(const push_request *request);
    unsigned requests;
    int64_t taken[TYPES];
    int64_t until_ns[PROGRAMS]
                    [CP_KINDS]; /* where the last profile of each kind ends; 0: there is none */
    unsigned profiles, own, gaps, unwritten;
    unsigned mixed; /* what accumulates without a duration, or what is in use with one */
} server;

static int64_t counted[TYPES]; /* by all programs until now */

static int type_of(const char *name)
{
    for (int i = 0; i < TYPES && type_names[i]; i++) {
        if (strcmp(type_names[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

/* Whether an agent that began now would know that all until `end_ns` was pushed. */
static bool is_written(int number, cp_kind_number kind, int64_t end_ns);

static void take_profile(const char *kind, int64_t begin_ns, int64_t end_ns, const uint8_t *bytes,
                         size_t size)
{
    cp_profile *p = NULL;
    cp_error error;
    int number = 0, at = 0;

    if (strcmp(kind, "a.b/c") == 0) {
        server.own++;
        server.gaps += begin_ns != end_ns;
        return;
    }
    while (strcmp(cp_kind_names[at], kind) != 0) {
        at++;
    }
    if (cp_profile_read_bytes(bytes, size, 1 << 20, &p, &error) < 0) {
        server.gaps++;
        return;
    }
    for (uint32_t i = 0; i < p->sample_count; i++) {
        number = (int)(p->locations[p->samples[i].locations[0]].address >> 16);
        for (uint32_t k = 0; k < p->sample_type_count; k++) {
            int type = type_of(cp_profile_text(p, p->sample_types[k].type));
            server.mixed += (type >= 0) != (begin_ns < end_ns);
            if (type >= 0) {
                server.taken[type] += p->samples[i].values[k];
            }
        }
    }
    cp_profile_free(p);
    server.profiles++;
    if (begin_ns == end_ns) {
        return;
    }
    int64_t *until_ns = &server.until_ns[number][at];
    server.gaps += *until_ns != 0 && *until_ns != begin_ns;
    *until_ns = end_ns;
    server.unwritten += !is_written(number, (cp_kind_number)at, end_ns);
}

static push_answer take_all(const push_request *request)
{
    static const push_answer accepted = {.status = 200, .content_type = "text/test"};
    const uint8_t *at = request->body, *end = at + request->size;

    while (at < end) {
        char kind[16];
        long long begin_ns = 0, end_ns = 0;
        size_t size = 0;
        int head = 0;
        /* NOLINTNEXTLINE(cert-err34-c): encode() has written it */
        sscanf((const char *)at, "%15s %lld %lld %zu %n", kind, &begin_ns, &end_ns, &size, &head);
        at += head;
        take_profile(kind, begin_ns, end_ns, at, size);
        at += size;
    }
    return accepted;
}

static push_answer no_answer(const push_request *request)
{
    static const push_answer none = {.reason = "nobody listens"};
    (void)request;
    return none;
}

/* Each of these takes nothing. */
static push_answer of_trouble(const push_request *request)
{
    static const push_answer troubles[] = {
        {.status = 429, .retry_after_s = 7},
        {.status = 500, .reason = "trouble"},
        {.status = 200, .content_type = "text/html"},
        {.status = 307},
        {.reason = "certificate"},
    };
    unsigned turn = server.requests % 8;
    return turn < sizeof troubles / sizeof *troubles ? troubles[turn] : take_all(request);
}

static int encode(const push_entry *first, size_t count, push_body *body, push_body *query)
{
    char head[128];
    (void)query;

    for (size_t i = 0; i < count; i++, first = first->next) {
        const push_profile *p = &first->profile;
        snprintf(head, sizeof head, "%s %lld %lld %zu\n", p->kind, (long long)p->begin_ns,
                 (long long)p->end_ns, p->size);
        push_body_add_text(body, head);
        push_body_add(body, p->data, p->size);
    }
    return body->failed ? -ENOMEM : 0;
}

static const push_format format = {.name = "test",
                                   .path = "/test",
                                   .content_type = "text/test",
                                   .accepted = "text/test",
                                   .entries = 4,
                                   .encode = encode};

/* ---- the sender's world ---- */

static int exchange(void *context, const push_request *request, push_answer *answer,
                    uint64_t until_ns)
{
    (void)context;
    (void)until_ns;
    server.requests++;
    *answer = server.answer(request);
    return 0;
}

static void wait_until(void *context, uint64_t until_ns)
{
    int64_t until = until_ns < INT64_MAX ? (int64_t)until_ns : INT64_MAX;
    (void)context;

    if (pthread_equal(pthread_self(), clocks.main)) {
        set_now(until > now() ? until : now());
        return;
    }
    pthread_mutex_lock(&clocks.lock);
    clocks.sleeps = true;
    clocks.sleeps_until_ns = until;
    pthread_cond_broadcast(&clocks.changed);
    while (!clocks.is_woken && now() < until) {
        pthread_cond_wait(&clocks.changed, &clocks.lock);
    }
    clocks.is_woken = clocks.sleeps = false;
    pthread_mutex_unlock(&clocks.lock);
}

static void wake(void *context)
{
    (void)context;
    pthread_mutex_lock(&clocks.lock);
    clocks.is_woken = true;
    pthread_cond_broadcast(&clocks.changed);
    pthread_mutex_unlock(&clocks.lock);
}

static void do_nothing(void *context)
{
    (void)context;
}

static uint64_t sender_now(void *context)
{
    (void)context;
    return (uint64_t)now();
}

static uint64_t chance(void *context)
{
    (void)context;
    return (uint64_t)now() * 0x9e3779b97f4a7c15;
}

static int open_sender(const push_settings *settings, push_sender **sender,
                       char why[PUSH_WHY_BYTES])
{
    static const push_transport transport = {.exchange = exchange,
                                             .wait = wait_until,
                                             .wake = wake,
                                             .park = do_nothing,
                                             .close = do_nothing,
                                             .now_ns = sender_now,
                                             .chance = chance};
    return push_sender_open(settings, &format, &transport, sender, why);
}

/* ---- the program ---- */

struct program {
    int number; /* in the addresses of its stacks */
    uint64_t start, loaded;
    int64_t start_ns; /* wall clock */
    int64_t sums[STACKS][TYPES];
    char file[512]; /* where its last profiles go; "": nobody has said it */
    bool is_over;
};

static program guest;
static int listener = -1, connection = -1;
static bool drops_next_configuration; /* hangs up instead of an answer */
static const char *instead_of_heap;   /* NULL: it answers with a profile */

/* Counts, as if it had worked. */
static void work(void)
{
    static int64_t turn;

    turn++;
    for (int i = 0; i < STACKS; i++) {
        for (int type = 0; type < TYPES; type++) {
            int64_t more = (turn + i) % 3 == 0 ? 1 + (turn * 7 + type) % 97 : 0;
            guest.sums[i][type] += more;
            counted[type] += type_names[type] ? more : 0;
        }
    }
}

/* The program's profile of a kind, as it is now. */
static void make_profile(cp_kind_number kind, pp_buffer *bytes)
{
    static const struct {
        unsigned count, first;
        const char *types[4];
    } kinds[CP_KINDS] = {
        [CP_KIND_CPU] = {2, 0, {"samples", "cpu"}},
        [CP_KIND_HEAP] = {4, 2, {"alloc_objects", "alloc_space", "inuse_objects", "inuse_space"}},
        [CP_KIND_MUTEX] = {2, 4, {"contentions", "delay"}}};
    cp_profile *p = cp_profile_new();

    p->time_nanos = guest.start_ns;
    p->sample_types = CP_POOL_ARRAY(&p->pool, cp_value_type, kinds[kind].count);
    for (unsigned k = 0; k < kinds[kind].count; k++) {
        cp_profile_add_type(p, kinds[kind].types[k], "count");
    }
    p->locations = CP_POOL_ARRAY(&p->pool, cp_location, STACKS);
    p->samples = CP_POOL_ARRAY(&p->pool, cp_sample, STACKS);
    for (uint32_t i = 0; i < STACKS; i++) {
        cp_sample *s = &p->samples[i];
        p->locations[i] = (cp_location){
            .id = i + 1, .address = ((uint64_t)guest.number << 16) + i, .mapping = CP_NO_MAPPING};
        s->locations = CP_POOL_ARRAY(&p->pool, uint32_t, 1);
        s->values = CP_POOL_ARRAY(&p->pool, int64_t, kinds[kind].count);
        s->locations[0] = i;
        s->location_count = 1;
        for (unsigned k = 0; k < kinds[kind].count; k++) {
            s->values[k] = k < 2 ? guest.sums[i][kinds[kind].first + k] : 5;
        }
    }
    p->location_count = p->sample_count = STACKS;
    cp_profile_encode(p, bytes);
    cp_profile_free(p);
}

static void answer(const char *type, const void *body, size_t size)
{
    char head[256];
    int length =
        snprintf(head, sizeof head,
                 "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n", type, size);

    assert_int_equal(send(connection, head, (size_t)length, MSG_NOSIGNAL), length);
    assert_int_equal(send(connection, body, size, MSG_NOSIGNAL), size);
}

static void answer_profile(cp_kind_number kind)
{
    pp_buffer bytes = PP_BUFFER_INIT;

    make_profile(kind, &bytes);
    answer("application/octet-stream", bytes.data, bytes.size);
    pp_buffer_release(&bytes);
}

static void answer_status(void)
{
    char status[1024];
    int length = snprintf(
        status, sizeof status, "on cpu heap:1 mutex:1\nprofiles a.b/c\nloaded %llu\n%s%s\n",
        (unsigned long long)guest.loaded, guest.file[0] ? "file " : "", guest.file);

    answer("text/plain", status, (size_t)length);
}

static void answer_request(const char *request)
{
    work();
    if (strncmp(request, "POST /control/configure ", 24) == 0) {
        const char *file = strstr(request, "file=");
        assert_non_null(file);
        snprintf(guest.file, sizeof guest.file, "%s", file + 5);
        answer_status();
    } else if (strncmp(request, "GET /control/status ", 20) == 0) {
        answer_status();
    } else if (strncmp(request, "GET /debug/pprof/profile?now=1 ", 31) == 0) {
        answer_profile(CP_KIND_CPU);
    } else if (strncmp(request, "GET /debug/pprof/heap ", 22) == 0 && instead_of_heap) {
        answer("application/octet-stream", instead_of_heap, strlen(instead_of_heap));
    } else if (strncmp(request, "GET /debug/pprof/heap ", 22) == 0 ||
               strncmp(request, "GET /debug/pprof/%61%2E%62%2F%63 ", 33) == 0) {
        answer_profile(CP_KIND_HEAP);
    } else if (strncmp(request, "GET /debug/pprof/mutex ", 23) == 0) {
        answer_profile(CP_KIND_MUTEX);
    } else {
        fail_msg("asked for %s", request);
    }
}

static void hang_up(void)
{
    if (connection >= 0) {
        close(connection);
    }
    connection = -1;
}

/* Answers what it was asked. */
static void serve(void)
{
    char request[2048];

    int next = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (next >= 0) {
        hang_up();
        connection = next;
    }
    ssize_t got =
        connection >= 0 ? recv(connection, request, sizeof request - 1, MSG_DONTWAIT) : -1;
    if (got > 0) {
        request[got] = '\0';
    }
    if (got > 0 && drops_next_configuration && strncmp(request, "POST ", 5) == 0) {
        drops_next_configuration = false;
        hang_up();
    } else if (got > 0) {
        answer_request(request);
    } else if (got == 0) {
        hang_up();
    }
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout_ms)
{
    serve();
    int count = epoll_pwait(epoll, events, most, 0, NULL);
    if (count == 0) {
        pass(timeout_ms < 0 ? INT64_MAX : now() + timeout_ms * (SECOND / 1000));
    }
    return count;
}

/* ---- its life ---- */

static void limit_files(bool limits)
{
    struct rlimit limit;

    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = limits ? 0 : limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static bool disk_is_full;

static void fill_disk(bool fills)
{
    rest();
    disk_is_full = fills;
    limit_files(fills);
}

static void begin_program(bool executed)
{
    static uint64_t loaded = 1000;
    int number = guest.number + 1;
    uint64_t start = executed ? guest.start : guest.start + 100;

    assert_true(number < PROGRAMS);
    rest();
    guest = (program){
        .number = number, .start = start, .loaded = ++loaded, .start_ns = now() + clocks.wall_ns};
    hang_up();
}

/* Writes its last profiles, as the agent has told it to: PID-LOADED-KIND-PROGRAM.pb.gz. */
static void write_last(void)
{
    static const cp_kind_number kinds[] = {CP_KIND_CPU, CP_KIND_HEAP, CP_KIND_MUTEX};
    const char *end = strrchr(guest.file, '/');
    char path[1024];

    rest();
    guest.is_over = true;
    if (!end) {
        return; /* it has done nothing, and no agent has met it */
    }
    work();
    limit_files(false);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        pp_buffer bytes = PP_BUFFER_INIT;
        snprintf(path, sizeof path, "%.*s/%d-%llu-%s-guest.pb.gz", (int)(end - guest.file),
                 guest.file, getpid(), (unsigned long long)guest.loaded, cp_kind_names[kinds[i]]);
        make_profile(kinds[i], &bytes);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        assert_int_equal(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
        const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
                                          {.tv_sec = (now() + clocks.wall_ns) / SECOND,
                                           .tv_nsec = (now() + clocks.wall_ns) % SECOND}};
        fflush(file);
        futimens(fileno(file), times);
        fclose(file);
        pp_buffer_release(&bytes);
    }
    limit_files(disk_is_full);
}

/* ---- the agent ---- */

static struct {
    cp_loop loop;
    cp_processes processes;
    cp_collectors *collectors;
    cp_host_process process;
    cp_host_process *list[1];
    cp_loop_source script;
} agent;

static void stop(cp_loop_source *source, uint32_t events)
{
    (void)events;
    source->loop->ends = true;
}

static void show_program(void)
{
    agent.process = (cp_host_process){.all = &agent.processes,
                                      .pid = getpid(),
                                      .start = guest.start,
                                      .is_reachable = true,
                                      .program = (char *)(uintptr_t) "guest",
                                      .service = (char *)(uintptr_t) "shop",
                                      .life = {.fd = -1},
                                      .asking = {.source = {.fd = -1}}};
    agent.processes.count = 1;
    agent.processes.events->appears(&agent.process, agent.processes.context);
}

static void forget_program(bool has_ended)
{
    agent.processes.events->goes(&agent.process, has_ended, agent.processes.context);
    agent.processes.count = 0;
    free(agent.process.on);
    agent.process.on = NULL;
}

static void begin_agent(void)
{
    char state[64];
    cp_error error;
    const cp_collect_options options = {
        .server = {.url = "http://127.0.0.1", .spool_bytes = SPOOL_BYTES},
        .state = state,
        .record = "",
        .interval = INTERVAL_S,
        .open = open_sender};

    snprintf(state, sizeof state, "%s/state", root);
    memset(&agent, 0, sizeof agent);
    assert_int_equal(cp_loop_init(&agent.loop), 0);
    agent.processes.loop = &agent.loop;
    agent.list[0] = &agent.process;
    agent.processes.list = agent.list;
    clocks.sleeps = clocks.is_woken = false;
    agent.collectors = cp_collectors_begin(&agent.loop, &agent.processes, &options, &error);
    if (!agent.collectors) {
        fail_msg("%s", error.text);
    }
    clocks.has_sender = true;
    agent.script = (cp_loop_source){.fd = -1, .deadline_ns = CP_NEVER, .act = stop};
    cp_loop_add(&agent.loop, &agent.script);
    show_program();
}

static void end_agent(void)
{
    clocks.has_sender = false;
    cp_collectors_end(agent.collectors);
    free(agent.process.on);
    cp_loop_remove(&agent.script);
    cp_loop_release(&agent.loop);
    hang_up();
}

static void run_until(int64_t ns)
{
    agent.script.deadline_ns = ns;
    agent.loop.ends = false;
    cp_loop_run(&agent.loop);
}

/* ---- what is on the disk ---- */

static bool is_written(int number, cp_kind_number kind, int64_t end_ns)
{
    char state[64];
    cp_tally tallies[CP_KINDS] = {{0}};
    cp_program_id id = {getpid(), guest.start, guest.loaded};

    if (number != guest.number || guest.is_over || disk_is_full) {
        return true; /* it is over, and nobody asks it again */
    }
    snprintf(state, sizeof state, "%s/state", root);
    const cp_state folder = {.run = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    char *labels = cp_state_get(&folder, &id, tallies);
    bool is = labels && tallies[kind].until_ns >= end_ns;
    close(folder.run);
    free(labels);
    for (int i = 0; i < CP_KINDS; i++) {
        cp_tally_release(&tallies[i]);
    }
    return is;
}

static int64_t spool_bytes(void)
{
    char path[64];
    struct stat status;
    int64_t sum = 0;
    snprintf(path, sizeof path, "%s/state/spool", root);
    DIR *folder = opendir(path);
    const struct dirent *entry;

    while (folder && (entry = readdir(folder)) != NULL) {
        if (fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode)) {
            sum += status.st_size;
        }
    }
    closedir(folder);
    return sum;
}

/* ---- a day ---- */

static void set_clock(int64_t wall_ns)
{
    rest();
    clocks.wall_ns += wall_ns;
    memset(server.until_ns, 0, sizeof server.until_ns);
}

static void end_program(bool executes)
{
    write_last();
    if (executes) {
        begin_program(true);
    } else {
        forget_program(true);
        begin_program(false);
        show_program();
    }
}

/* The program ends while there is no agent. */
static void end_agent_and_program(void)
{
    end_agent();
    pass(now() + 600 * SECOND);
    write_last();
    begin_program(false);
    pass(now() + 60 * SECOND);
    begin_agent();
}

static void restart_agent(void)
{
    end_agent();
    pass(now() + 10 * SECOND);
    work();
    begin_agent();
}

static void live_through(int minute)
{
    int hour = minute / 60;

    rest();
    server.answer = hour == 5 ? no_answer : hour == 9 ? of_trouble : take_all;
    if (minute % 60 == 20 && hour % 2 == 1) {
        restart_agent();
    }
    if (minute % 90 == 47) {
        end_program(hour % 4 == 0);
    }
    if (minute % 300 == 222) {
        end_agent_and_program();
    }
    if (minute == 13 * 60 || minute == 13 * 60 + 30) {
        set_clock(minute == 13 * 60 ? -HOUR : 2 * HOUR);
    }
    /* The disk is full for an hour, and so is the server away for some of it. */
    if (minute == 17 * 60 || minute == 18 * 60) {
        fill_disk(minute == 17 * 60);
    }
    if (minute >= 17 * 60 + 30 && minute < 17 * 60 + 40) {
        server.answer = no_answer;
    }
}

static void a_day_has_no_gap_and_nothing_twice(void **unused)
{
    int64_t begun_ns = 1000 * SECOND;
    (void)unused;

    set_now(begun_ns);
    clocks.wall_ns = 1800000000 * SECOND;
    begin_program(false);
    server.answer = take_all;
    begin_agent();
    for (int minute = 0; minute < 24 * 60; minute++) {
        live_through(minute);
        int64_t until_ns = begun_ns + (minute + 1) * 60 * SECOND;
        if (until_ns > now()) {
            run_until(until_ns);
        }
        assert_true(spool_bytes() <= SPOOL_BYTES);
    }
    write_last();
    forget_program(true);
    run_until(now() + 300 * SECOND);
    end_agent();
    assert_int_equal(spool_bytes(), 0);
    assert_int_equal(server.gaps, 0);
    assert_int_equal(server.unwritten, 0);
    assert_int_equal(server.mixed, 0);
    assert_true(server.profiles > 3 * 5000);
    assert_true(server.own > 5000);
    for (int type = 0; type < TYPES && type_names[type]; type++) {
        assert_true(counted[type] > 0);
        assert_int_equal(server.taken[type], counted[type]);
    }
}

/* A server without room for more clients keeps no connection. */
static void what_was_not_answered_is_told_again(void **unused)
{
    (void)unused;
    begin_program(false);
    drops_next_configuration = true;
    begin_agent();
    run_until(now() + 60 * SECOND);
    assert_false(drops_next_configuration);
    assert_true(guest.file[0] != '\0');
    write_last();
    forget_program(true);
    end_agent();
}

/* What a user may give to cpprof, a process may not send. */
static void a_text_is_no_profile(void **unused)
{
    (void)unused;
    begin_program(false);
    server.answer = take_all;
    memset(server.until_ns, 0, sizeof server.until_ns);
    instead_of_heap = "main;work 17\n";
    begin_agent();
    run_until(now() + 60 * SECOND);
    assert_int_equal(server.until_ns[0][CP_KIND_HEAP], 0);
    assert_true(server.until_ns[guest.number][CP_KIND_CPU] != 0);
    instead_of_heap = NULL;
    write_last();
    forget_program(true);
    end_agent();
}

/* ---- the beginning ---- */

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

static int set_up(void **unused)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)unused;

    clocks.main = pthread_self();
    signal(SIGXFSZ, SIG_IGN);
    int length = snprintf(address.sun_path, sizeof address.sun_path, "%s/pprof", root);
    mkdir(root, 0700);
    mkdir(address.sun_path, 0700);
    snprintf(address.sun_path + length, sizeof address.sun_path - (size_t)length, "/%d.sock",
             getpid());
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    return bind(listener, (const struct sockaddr *)&address, sizeof address) == 0 &&
                   listen(listener, 8) == 0
               ? 0
               : -1;
}

static int tear_down(void **unused)
{
    (void)unused;
    hang_up();
    close(listener);
    return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* The socket is looked for where the process's first environment says. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_day_has_no_gap_and_nothing_twice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_not_answered_is_told_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_text_is_no_profile, set_up, tear_down),
    };

    if (argc < 2) {
        char *again[] = {argv[0], root, NULL};
        if (!mkdtemp(root)) {
            return 1;
        }
        setenv("XDG_RUNTIME_DIR", root, 1);
        execv("/proc/self/exe", again);
        return 1;
    }
    snprintf(root, sizeof root, "%s", argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
