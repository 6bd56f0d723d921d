/* SPDX-License-Identifier: MIT
 *
 * bereft.c: profiles of a process that lacks what they are usually made from: `bereft descriptors`
 * has none left, `bereft first FOLDER` goes on when its first thread has ended, and writes there
 * what it then sees.
 */
#include "must.h"
#include "waiter.h"
#include <pprof.h>

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ROOM = 1 << 18 };

static const char *const kinds[] = {"thread", "threadcreate", "heap", "allocs",
                                    "block",  "mutex",        "fd",   "bereft/values"};
static const char *folder;
static pthread_t first;

static void start(void *(*routine)(void *), const char *argument)
{
    pthread_t thread;
    check(pthread_create(&thread, NULL, routine, (void *)argument) == 0, "pthread_create");
}

static void start_waiter(void)
{
    start(waiter, "\"a\nname\x1b");
    while (sem_wait(&begun) != 0) {
    }
}

typedef struct text {
    char bytes[ROOM];
    size_t length;
} text;

static int add_text(void *ctx, const void *data, size_t length)
{
    text *to = ctx;
    check(length < ROOM - to->length, "room for the text");
    memcpy(to->bytes + to->length, data, length);
    to->length += length;
    to->bytes[to->length] = '\0';
    return 0;
}

static const char *profile(const char *name, int debug)
{
    static text all;
    all.length = 0;
    check(pprof_profile_write(pprof_lookup(name), (pprof_writer){add_text, &all}, debug) == 0,
          name);
    return all.bytes;
}

static void check_threads(void)
{
    enum { THREADS = 2 };
    static pprof_thread_record records[THREADS];
    size_t n = 0;
    check(pprof_profile_count(pprof_lookup("thread")) == THREADS, "count of threads");
    check(pprof_thread_profile(records, THREADS, &n) && n == THREADS, "records of threads");
    check(records[0].tid == gettid() && records[0].stack.depth > 0, "the caller's record");
    pprof_thread_records_release(records, n);
    check(pprof_threadcreate_profile(records, THREADS, &n) && n == THREADS, "records of creations");
    check(records[1].stack.depth > 2, "where the waiter was created");
    check(strstr(profile("thread", 2), " [unknown]:") != NULL, "the waiter's state");
}

static void without_descriptors(void)
{
    struct rlimit old;
    static text cpu;
    const pprof_cpu_options legacy = {.size = sizeof legacy, .format = PPROF_FORMAT_LEGACY};
    getrlimit(RLIMIT_NOFILE, &old);
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, old.rlim_max});
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (int debug = PPROF_DEBUG_BARE; debug <= 2; debug++) {
            profile(kinds[i], debug);
        }
    }
    check_threads();
    check(strstr(profile("bereft/values", 1), "profile: total 1\n1 @ 0x") != NULL, "the value");
    check(pprof_start_cpu_profile_opts((pprof_writer){add_text, &cpu}, &legacy) == 0,
          "CPU profile");
    check(pprof_stop_cpu_profile() == 0 && cpu.length > 0, "the end of the CPU profile");
    setrlimit(RLIMIT_NOFILE, &old);
}

static void write_profile(const char *name, int debug, const char *file)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *out = fopen(path, "w");
    check(out != NULL, path);
    fputs(profile(name, debug), out);
    fclose(out);
}

static void *survivor(void *unused)
{
    pthread_join(first, NULL);
    char path[64];
    char letter = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", getpid());
    while (letter != 'Z') { /* joined is not yet dead */
        FILE *stat = fopen(path, "r");
        check(stat != NULL && fscanf(stat, "%*d (%*[^)]) %c", &letter) == 1, path);
        fclose(stat);
        usleep(1000);
    }
    write_profile("thread", 1, "thread.txt");
    write_profile("thread", 2, "dump.txt");
    write_profile("fd", 1, "fd.txt");
    write_profile("heap", 1, "heap.txt");
    write_profile("bereft/values", 1, "values.txt");
    exit(0);
    return unused;
}

int main(int argc, char **argv)
{
    check(argc > 1, "usage: bereft descriptors | first FOLDER");
    sem_init(&begun, 0, 0);
    check(pprof_configure("fd,file=/dev/null") == 0, "the option fd");
    pprof_set_block_profile_rate(1);
    pprof_set_mutex_profile_fraction(1);
    check(pprof_profile_add(pprof_new_profile("bereft/values"), &begun, 0) == 0, "add");
    start_waiter();
    if (argc == 2 && strcmp(argv[1], "descriptors") == 0) {
        without_descriptors();
        return 0;
    }
    check(argc == 3 && strcmp(argv[1], "first") == 0, argv[1]);
    folder = argv[2];
    first = pthread_self();
    start(survivor, NULL);
    pthread_exit(NULL);
}
