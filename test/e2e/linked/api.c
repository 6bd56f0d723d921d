/* SPDX-License-Identifier: MIT
 *
 * api.c CASE [FILE]: the calls of <pprof.h>, one case a run. Exit status 0 if all of its checks
 * hold; else the line is printed.
 */
#include "../victims/burn.h"
#include "check.h"
#include <pprof.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- work, and writers ---- */

static double
    worked_ms; /* by the last call: more than wanted, where another machine takes the processor away */

void api_work(double ms)
{
    worked_ms = burn_ms(ms);
}

typedef struct memory {
    unsigned char *data;
    size_t length;
    int calls;
    int fail_at; /* number of the call that fails, 0 = none */
    int error;
    pthread_t thread; /* that called last */
} memory;

static int write_memory(void *ctx, const void *data, size_t length)
{
    memory *m = ctx;
    m->calls++;
    m->thread = pthread_self();
    if (m->calls == m->fail_at) {
        return m->error;
    }
    unsigned char *larger = realloc(m->data, m->length + length);
    if (larger == NULL) {
        return -ENOMEM;
    }
    memcpy(larger + m->length, data, length);
    m->data = larger;
    m->length += length;
    return 0;
}

static pprof_writer memory_writer(memory *m)
{
    return (pprof_writer){write_memory, m};
}

static bool is_gzip(const memory *m)
{
    return m->length > 18 && m->data[0] == 0x1f && m->data[1] == 0x8b;
}

/* ---- cases ---- */

static void case_start_stop(void)
{
    memory m = {0};
    memory other = {0};
    CHECK_IS(pprof_stop_cpu_profile(), 0); /* none ran */
    CHECK_IS(pprof_start_cpu_profile(memory_writer(&m)), 0);
    CHECK_IS(pprof_start_cpu_profile(memory_writer(&other)), -EBUSY);
    api_work(50);
    CHECK_IS(m.calls, 0); /* nothing is written before the stop */
    errno = 4321;
    CHECK_IS(pprof_stop_cpu_profile(), 0);
    CHECK_IS(errno, 4321);
    CHECK(is_gzip(&m));
    CHECK(pthread_equal(m.thread, pthread_self()));
    int calls = m.calls;
    CHECK_IS(pprof_stop_cpu_profile(), 0);
    CHECK_IS(m.calls, calls);
    CHECK_IS(other.calls, 0);
    free(m.data);
}

static int start_with(pprof_writer writer, int hz, int engine, int format)
{
    pprof_cpu_options options = {
        .size = sizeof options, .hz = hz, .engine = engine, .format = format};
    return pprof_start_cpu_profile_opts(writer, &options);
}

static void check_started(int result)
{
    CHECK_IS(result, 0);
    CHECK_IS(pprof_stop_cpu_profile(), 0);
}

static void case_options(void)
{
    memory m = {0};
    pprof_writer w = memory_writer(&m);
    check_started(pprof_start_cpu_profile_opts(w, NULL));
    check_started(start_with(w, 0, 0, 0));
    check_started(start_with(w, 1, 0, 0));
    check_started(start_with(w, 1000000, 0, 0));
    check_started(start_with(w, 100, PPROF_ENGINE_TIMER, PPROF_FORMAT_LEGACY));
    CHECK_IS(start_with(w, -1, 0, 0), -EINVAL);
    CHECK_IS(start_with(w, 1000001, 0, 0), -EINVAL);
    CHECK_IS(start_with(w, 1000000000, 0, 0), -EINVAL);
    CHECK_IS(start_with(w, INT32_MIN, 0, 0), -EINVAL);
    check_started(start_with(w, 1000, PPROF_ENGINE_PERF, 0)); /* by timers, where it is refused */
    CHECK_IS(start_with(w, 100, 99, 0), -EINVAL);
    CHECK_IS(start_with(w, 100, -1, 0), -EINVAL);
    CHECK_IS(start_with(w, 100, 0, 99), -EINVAL);
    CHECK_IS(start_with(w, 100, 0, -1), -EINVAL);

    pprof_cpu_options options = {.size = 0, .hz = 100};
    CHECK_IS(pprof_start_cpu_profile_opts(w, &options), -EINVAL);
    options.size = sizeof options - 1; /* there is no older version */
    CHECK_IS(pprof_start_cpu_profile_opts(w, &options), -EINVAL);
    /* What a newer program may pass: more fields, of which we know nothing. */
    struct {
        pprof_cpu_options known;
        long later[4];
    } larger = {.known = {.size = sizeof larger, .hz = 50}};
    check_started(pprof_start_cpu_profile_opts(w, &larger.known));

    CHECK_IS(pprof_start_cpu_profile((pprof_writer){NULL, NULL}), -EINVAL);
    /* After all these refusals: */
    check_started(pprof_start_cpu_profile(w));
    free(m.data);
}

/* A writer that fails at its first, second, ... call: that error comes back, and no call
 * after it. */
static void case_failing_writer(void)
{
    int needed = 0;
    for (int fail_at = 0; fail_at <= needed; fail_at++) {
        memory m = {.fail_at = fail_at, .error = -ENOSPC - fail_at};
        CHECK_IS(start_with(memory_writer(&m), 1000, 0, 0), 0);
        api_work(30);
        if (fail_at == 0) {
            CHECK_IS(pprof_stop_cpu_profile(), 0);
            needed = m.calls;
            CHECK(needed > 0);
        } else if (m.calls >= fail_at || m.calls == 0) {
            int result = pprof_stop_cpu_profile();
            if (m.calls == fail_at) {
                CHECK_IS(result, -ENOSPC - fail_at);
            } else {
                CHECK(m.calls < fail_at); /* this profile was smaller */
                CHECK_IS(result, 0);
            }
        }
        free(m.data);
    }
    CHECK_IS(pprof_stop_cpu_profile(), 0);
}

static int profile_to(pprof_writer writer)
{
    int error = start_with(writer, 1000, 0, 0);
    if (error != 0) {
        return 1;
    }
    api_work(20);
    return pprof_stop_cpu_profile();
}

static void case_bad_descriptors(void)
{
    int ends[2];
    signal(SIGPIPE, SIG_IGN);
    CHECK_IS(pipe(ends), 0);
    close(ends[0]);
    CHECK_IS(profile_to(pprof_writer_fd(ends[1])), -EPIPE);
    close(ends[1]);
    CHECK_IS(profile_to(pprof_writer_fd(ends[1])), -EBADF);
    CHECK_IS(profile_to(pprof_writer_fd(-1)), -EBADF);
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    CHECK_IS(profile_to(pprof_writer_fd(fd)), -ENOSPC);
    close(fd);
    fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    CHECK_IS(profile_to(pprof_writer_fd(fd)), -EBADF);
    close(fd);

    FILE *file = fopen("/dev/full", "we");
    CHECK_IS(profile_to(pprof_writer_stdio(file)), -ENOSPC);
    fclose(file);
    CHECK_IS(profile_to(pprof_writer_stdio(NULL)), -EINVAL);
#ifdef __GLIBC__ /* musl's fflush() reports nothing when such a file is full */
    char room[16];
    file = fmemopen(room, sizeof room, "w");
    CHECK(profile_to(pprof_writer_stdio(file)) < 0);
    fclose(file);
#endif
}

/* A pipe smaller than the profile, with a reader that takes a byte at a time: all of it arrives. */
static void *read_slowly(void *pipe_end)
{
    static char all[1 << 20];
    size_t length = 0;
    while (length < sizeof all && read(*(int *)pipe_end, all + length, 61) > 0) {
        length += 61;
    }
    return (void *)(uintptr_t)length;
}

static void case_small_pipe(void)
{
    int ends[2];
    pthread_t reader;
    void *got = NULL;
    CHECK_IS(pipe2(ends, O_CLOEXEC), 0);
    fcntl(ends[1], F_SETPIPE_SZ, 4096);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    pthread_create(&reader, NULL, read_slowly, &ends[0]);
    pprof_cpu_options options = {.size = sizeof options, .hz = 1000, .format = PPROF_FORMAT_LEGACY};
    CHECK_IS(pprof_start_cpu_profile_opts(pprof_writer_fd(ends[1]), &options), 0);
    api_work(50);
    CHECK_IS(pprof_stop_cpu_profile(), 0);
    close(ends[1]);
    pthread_join(reader, &got);
    CHECK((uintptr_t)got > 1000);
}

/* ---- threads ---- */

static void *stop_entry(void *unused)
{
    (void)unused;
    return (void *)(intptr_t)pprof_stop_cpu_profile();
}

static void case_other_thread(void)
{
    memory m = {0};
    pthread_t thread;
    void *result = NULL;
    CHECK_IS(pprof_start_cpu_profile(memory_writer(&m)), 0);
    api_work(20);
    pthread_create(&thread, NULL, stop_entry, NULL);
    pthread_join(thread, &result);
    CHECK_IS((intptr_t)result, 0);
    CHECK(is_gzip(&m));
    CHECK(!pthread_equal(m.thread, pthread_self()));
    free(m.data);
}

/* One writes, and no one returns before it is written. */
typedef struct slow {
    atomic_int inside, done, calls;
} slow;

static int write_slowly(void *ctx, const void *data, size_t length)
{
    slow *s = ctx;
    (void)data;
    (void)length;
    s->calls++;
    s->inside = 1;
    api_work(30);
    s->done = 1;
    return 0;
}

static slow slowly;

static void *stop_and_look(void *unused)
{
    (void)unused;
    int error = pprof_stop_cpu_profile();
    return (void *)(intptr_t)(error == 0 && slowly.done ? 0 : 1);
}

static void case_concurrent_stops(void)
{
    for (int round = 0; round < 10; round++) {
        pthread_t threads[3];
        atomic_store(&slowly.done, 0);
        CHECK_IS(pprof_start_cpu_profile((pprof_writer){write_slowly, &slowly}), 0);
        for (int i = 0; i < 3; i++) {
            pthread_create(&threads[i], NULL, stop_and_look, NULL);
        }
        for (int i = 0; i < 3; i++) {
            void *result = NULL;
            pthread_join(threads[i], &result);
            CHECK_IS((intptr_t)result, 0);
        }
    }
}

/* A writer that calls back. */
static int write_and_call(void *ctx, const void *data, size_t length)
{
    (void)data;
    (void)length;
    int *result = ctx;
    result[0] = pprof_start_cpu_profile(pprof_writer_fd(1));
    result[1] = pprof_stop_cpu_profile();
    return 0;
}

static void case_reentrant_writer(void)
{
    int result[2] = {1, 1};
    CHECK_IS(pprof_start_cpu_profile((pprof_writer){write_and_call, result}), 0);
    CHECK_IS(pprof_stop_cpu_profile(), 0);
    CHECK_IS(result[0], -EBUSY);
    CHECK(result[1] == 0 || result[1] == -EBUSY); /* it must come back */
}

static atomic_int burner_stop;

static void *burner(void *unused)
{
    while (!atomic_load(&burner_stop)) {
        api_work(1);
    }
    return unused;
}

static void *come_and_go(void *unused)
{
    while (!atomic_load(&burner_stop)) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, stop_entry, NULL) == 0) {
            pthread_join(thread, NULL);
        }
    }
    return unused;
}

/* 200 profiles in a row, beside threads that work, come and go, and stop profiles that are not
 * theirs. */
static void case_many(void)
{
    pthread_t threads[3];
    int stopped_by_others = 0;
    pthread_create(&threads[0], NULL, burner, NULL);
    pthread_create(&threads[1], NULL, burner, NULL);
    pthread_create(&threads[2], NULL, come_and_go, NULL);
    for (int i = 0; i < 200; i++) {
        memory m = {0};
        CHECK_IS(start_with(memory_writer(&m), 1000, 0, i % 2 ? PPROF_FORMAT_LEGACY : 0), 0);
        CHECK_IS(pprof_stop_cpu_profile(), 0);
        CHECK(m.length > 0);
        stopped_by_others += !pthread_equal(m.thread, pthread_self());
        free(m.data);
    }
    atomic_store(&burner_stop, 1);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    /* Signals that come late find a handler. */
    api_work(50);
    printf("%d of 200 stopped by another thread\n", stopped_by_others);
}

/* ---- callers ---- */

enum { SOME = 16 };

static size_t innermost(int skip, uintptr_t *pcs, size_t capacity)
{
    size_t count = pprof_callers(skip, pcs, capacity);
    burn_sink += count;
    return count;
}

static size_t middle(int skip, uintptr_t *pcs, size_t capacity)
{
    size_t count = innermost(skip, pcs, capacity);
    burn_sink += count;
    return count;
}

static uintptr_t here;

static size_t outer(int skip, uintptr_t *pcs, size_t capacity)
{
    here = (uintptr_t)__builtin_return_address(0);
    size_t count = middle(skip, pcs, capacity);
    burn_sink += count;
    return count;
}

static bool within(uintptr_t pc, uintptr_t function)
{
    return pc > function && pc < function + 200;
}

static void case_callers(void)
{
    uintptr_t all[SOME] = {0};
    size_t count = outer(0, all, SOME);
    CHECK(count >= 6); /* those three, this, main, libc's two, _start */
    CHECK(within(all[0], (uintptr_t)innermost));
    CHECK(within(all[1], (uintptr_t)middle));
    CHECK(within(all[2], (uintptr_t)outer));
    CHECK(all[3] == here);
    for (int skip = 1; skip < 4; skip++) {
        uintptr_t some[SOME] = {0};
        CHECK_IS(outer(skip, some, SOME), count - (size_t)skip);
        CHECK(some[0] == (skip < 3 ? all[skip] : here));
        CHECK(some[count - (size_t)skip - 1] == all[count - 1]);
    }
    uintptr_t two[3] = {0, 0, 77};
    CHECK_IS(outer(0, two, 2), 2);
    CHECK(two[0] == all[0] && two[1] == all[1] && two[2] == 77);
    CHECK_IS(outer(0, two, 0), 0);
    CHECK_IS(outer(0, NULL, 0), 0);
    CHECK_IS(outer(1000, all, SOME), 0);
    uintptr_t negative[SOME] = {0};
    CHECK_IS(outer(-5, negative, SOME), count);
    CHECK(negative[0] == all[0]);
    errno = 4321;
    innermost(0, all, SOME);
    CHECK_IS(errno, 4321);
}

/* ---- the rest ---- */

static void case_configure(const char *file)
{
    char options[512];
    CHECK_IS(pprof_configure(NULL), -EINVAL);
    CHECK_IS(pprof_configure(""), 0);
    CHECK_IS(pprof_configure(",,"), 0);
    CHECK_IS(pprof_configure("nonsense"), -EINVAL);
    CHECK_IS(pprof_configure("cpu:0"), -EINVAL);
    CHECK_IS(pprof_configure("cpu:x"), -EINVAL);
    CHECK_IS(pprof_configure("engine=perf"), 0);
    CHECK_IS(pprof_configure("engine=Perf"), -EINVAL);
    CHECK_IS(pprof_configure("engine=auto"), 0);
    CHECK_IS(pprof_stop_cpu_profile(), 0);
    snprintf(options, sizeof options, "nonsense,cpu:1000,file=%s", file);
    CHECK_IS(pprof_configure(options), -EINVAL); /* the others still apply */
    CHECK_IS(pprof_configure("cpu"), -EBUSY);
    memory m = {0};
    CHECK_IS(pprof_start_cpu_profile(memory_writer(&m)), -EBUSY);
    api_work(50);
    report("api_work", worked_ms);
    CHECK_IS(pprof_stop_cpu_profile(), 0);
    CHECK_IS(access(file, R_OK), 0);
    CHECK_IS(m.calls, 0);
    CHECK_IS(pprof_start_cpu_profile(memory_writer(&m)), 0);
    CHECK_IS(pprof_stop_cpu_profile(), 0);
    CHECK(is_gzip(&m));
    free(m.data);
}

static void case_version(void)
{
    char text[32];
    unsigned number = pprof_version_number();
    snprintf(text, sizeof text, "%u.%u.%u", number / 10000, number / 100 % 100, number % 100);
    CHECK(strcmp(text, pprof_version_string()) == 0);
}

/* Writes FILE in the format, with 200 ms of api_work. */
static void case_format(int format, const char *file)
{
    FILE *stream = fopen(file, "we");
    CHECK_IS(start_with(pprof_writer_stdio(stream), 1000, 0, format), 0);
    api_work(200);
    report("api_work", worked_ms);
    CHECK_IS(pprof_stop_cpu_profile(), 0);
    fclose(stream);
}

static void ignore_profile_signal(int number)
{
    (void)number;
}

/* What the host has set up for SIGPROF before the start still works during a profile, and after. */
static void case_earlier_handler(void)
{
    memory m = {0};
    struct sigaction action = {.sa_handler = ignore_profile_signal};
    sigaction(SIGPROF, &action, NULL);
    CHECK_IS(pprof_start_cpu_profile(memory_writer(&m)), 0);
    raise(SIGPROF);
    CHECK_IS(pprof_stop_cpu_profile(), 0);
    raise(SIGPROF);
    struct sigaction now;
    sigaction(SIGPROF, NULL, &now);
    CHECK(now.sa_handler == ignore_profile_signal);
    free(m.data);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    const char *file = argc > 2 ? argv[2] : "";
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"start-stop", case_start_stop},
        {"options", case_options},
        {"failing-writer", case_failing_writer},
        {"bad-descriptors", case_bad_descriptors},
        {"small-pipe", case_small_pipe},
        {"other-thread", case_other_thread},
        {"concurrent-stops", case_concurrent_stops},
        {"reentrant-writer", case_reentrant_writer},
        {"many", case_many},
        {"callers", case_callers},
        {"version", case_version},
        {"earlier-handler", case_earlier_handler},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(cases[i].name, name) == 0) {
            cases[i].run();
            return failures != 0;
        }
    }
    if (strcmp(name, "configure") == 0) {
        case_configure(file);
    } else if (strcmp(name, "proto") == 0) {
        case_format(PPROF_FORMAT_PROTO, file);
    } else if (strcmp(name, "legacy") == 0) {
        case_format(PPROF_FORMAT_LEGACY, file);
    } else {
        return 99;
    }
    return failures != 0;
}
