/* SPDX-License-Identifier: MIT
 *
 * first_thread_ends.c [DIRECTORY [FILE]]: the first thread calls pthread_exit(), so that /proc/self
 * has no memory any more, and no program. After that another one does all that is sampled, and
 * writes each profile there: NAME.pb.gz and NAME.txt, thread.debug2.txt, cpu.pb.gz, cpu.legacy. It
 * removes FILE, which may be its own, before. Without DIRECTORY it waits for the end of the first, and ends, too.
 */
#include "../victims/burn.h"
#include <pprof.h>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *directory;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *kept;

static pprof_writer create(const char *name, const char *suffix)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s%s", directory, name, suffix);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) {
        fprintf(stderr, "%s: not opened\n", path);
        exit(1);
    }
    return pprof_writer_fd(fd);
}

static void check(const char *what, int error)
{
    if (error != 0) {
        fprintf(stderr, "%s: %s\n", what, strerror(-error));
        exit(1);
    }
}

void burn_here(void)
{
    volatile unsigned x = 0;
    struct burn b = burn_for(200);
    while (burn_on(&b)) {
        for (unsigned i = 0; i < 100000; i++)
            x = x + i * i;
    }
}

void *waits_here(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

/* Holds the lock until the other one waits for it. */
void contend_here(void)
{
    pthread_t waiter;
    static char text[65536];
    pthread_mutex_lock(&mutex);
    pthread_create(&waiter, NULL, waits_here, NULL);
    do {
        size_t length = pprof_stack_text(text, sizeof text - 1, true);
        text[length < sizeof text ? length : sizeof text - 1] = '\0';
    } while (strstr(text, "[futex") == NULL);
    pthread_mutex_unlock(&mutex);
    pthread_join(waiter, NULL);
}

void allocate_here(void)
{
    kept = malloc(12345);
}

void add_here(void)
{
    check("add", pprof_profile_add(pprof_new_profile("example.value"), &kept, 0));
}

static void record_cpu(int format, const char *suffix)
{
    const pprof_cpu_options options = {.size = sizeof options, .hz = 1000, .format = format};
    check("start", pprof_start_cpu_profile_opts(create("cpu", suffix), &options));
    burn_here();
    check("stop", pprof_stop_cpu_profile());
}

static void write_profile(const char *name, const char *suffix, int debug)
{
    check(name, pprof_profile_write(pprof_lookup(name), create(name, suffix), debug));
}

static void wait_for_first(void)
{
    char byte[1];
    while (readlink("/proc/self/exe", byte, 1) > 0) /* it has not ended yet */
        sched_yield();
}

static void *end_last(void *unused)
{
    wait_for_first();
    return unused;
}

static void *write_all(void *unused)
{
    static const char *const names[] = {"heap",         "allocs", "block",        "mutex",
                                        "threadcreate", "thread", "example.value"};
    wait_for_first();
    pprof_set_mem_profile_rate(1);
    pprof_set_block_profile_rate(1);
    pprof_set_mutex_profile_fraction(1);
    allocate_here();
    contend_here();
    add_here();
    record_cpu(PPROF_FORMAT_PROTO, ".pb.gz");
    record_cpu(PPROF_FORMAT_LEGACY, ".legacy");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        write_profile(names[i], ".txt", 1);
        write_profile(names[i], ".pb.gz", 0);
    }
    write_profile("thread", ".debug2.txt", 2);
    exit(0);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t other;
    if (argc > 2 && unlink(argv[2]) != 0)
        return 2;
    directory = argv[1];
    if (pthread_create(&other, NULL, argc > 1 ? write_all : end_last, NULL) != 0)
        return 1;
    pthread_exit(NULL);
}
