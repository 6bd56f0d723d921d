/* SPDX-License-Identifier: MIT
 *
 * labels.c CASE [FILE]: work under labels, for every kind of profile; one case a run.
 *
 *   cpu FILE ENGINE    prints what each tenant used, in milliseconds
 */
#include "../victims/burn.h"

#include <pprof.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: not true: %s\n", __LINE__, #condition);                      \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static int open_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    return fd;
}

static const char *const tenant_a[] = {"tenant", "a"};
static const char *const tenant_b[] = {"tenant", "b"};
static const char *const phase[] = {"phase", "two words"};

/* ---- cpu ---- */

static double a_ms, b_ms, phase_ms, none_ms;

static void burn_phase(void *ms)
{
    double used = burn_ms(*(const double *)ms);
    phase_ms += used;
    a_ms += used;
}

static void burn_a(void *ms)
{
    a_ms += burn_ms(*(const double *)ms);
    pprof_do(phase, 1, burn_phase, ms);
}

static void burn_b(void *ms)
{
    b_ms += burn_ms(*(const double *)ms);
}

static void *inherit(void *ms)
{
    double start = clock_ms(CLOCK_THREAD_CPUTIME_ID);
    burn_ms(*(const double *)ms);
    a_ms += clock_ms(CLOCK_THREAD_CPUTIME_ID) - start;
    return NULL;
}

static void burn_on_a_thread(void *ms)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, inherit, ms) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static int cpu(const char *file, const char *engine)
{
    const pprof_cpu_options options = {.size = sizeof options,
                                       .hz = 1000,
                                       .engine = strcmp(engine, "perf") == 0 ? PPROF_ENGINE_PERF
                                                                             : PPROF_ENGINE_TIMER};
    double ms = 150;
    int fd = open_file(file);
    CHECK(pprof_start_cpu_profile_opts(pprof_writer_fd(fd), &options) == 0);
    for (int i = 0; i < 2; i++) {
        pprof_do(tenant_a, 1, burn_a, &ms);
        pprof_do(tenant_b, 1, burn_b, &ms);
        none_ms += burn_ms(ms);
    }
    pprof_do(tenant_a, 1, burn_on_a_thread, &ms);
    CHECK(pprof_stop_cpu_profile() == 0);
    close(fd);
    report("a", a_ms);
    report("b", b_ms);
    report("phase", phase_ms);
    report("none", none_ms);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "cpu") == 0) {
        return cpu(argv[2], argv[3]);
    }
    return 2;
}
