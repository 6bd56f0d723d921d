/* SPDX-License-Identifier: MIT
 *
 * thread_profile.c FOLDER: threads in known places; writes what the profiles of threads say of them
 * to files in FOLDER, and checks the records by itself.
 */
#include "must.h"
#include "waiter.h"
#include <pprof.h>

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WAITERS = 5, OTHERS = 2, THREADS = 1 + WAITERS + OTHERS };

static volatile int stop;

static void computes(void)
{
    sem_post(&begun);
    while (!stop) {
        __asm__ volatile("" ::: "memory");
    }
}

static void *computer(void *unused)
{
    computes();
    return unused;
}

static void *deaf_computer(void *unused)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    computes();
    return unused;
}

static void start(void *(*routine)(void *), const char *name)
{
    pthread_t thread;
    check(pthread_create(&thread, NULL, routine, (void *)name) == 0, "pthread_create");
    while (sem_wait(&begun) != 0) {
    }
}

static void starts_waiters(void)
{
    for (int i = 0; i < WAITERS; i++) {
        start(waiter, "a waiter");
    }
}

static void write_profile(const char *folder, const char *name, int debug, const char *file)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *out = fopen(path, "w");
    pprof_profile *profile = pprof_lookup(name);
    check(out != NULL && profile != NULL, name);
    check(pprof_profile_write(profile, pprof_writer_stdio(out), debug) == 0, file);
    fclose(out);
}

static void check_records(void)
{
    static pprof_thread_record records[THREADS + 1];
    size_t n = 0;
    check(!pprof_thread_profile(NULL, 0, &n) && n == THREADS, "number of threads");
    check(!pprof_thread_profile(records, THREADS - 1, &n) && n == THREADS, "too little room");
    check(records[0].tid == 0, "nothing is touched without room");
    check(pprof_thread_profile(records, THREADS + 1, &n) && n == THREADS, "enough room");
    check(records[0].tid == gettid(), "the caller is first");
    size_t labelled = 0;
    for (size_t i = 0; i < n; i++) {
        check(records[i].tid > 0 && records[i].stack.depth > 0, "a record is empty");
        const char *kind = pprof_label(records[i].labels, "kind");
        labelled += kind != NULL && strcmp(kind, "waiter") == 0;
    }
    check(labelled == WAITERS, "labels of records");
    pprof_thread_records_release(records, n);
    check(!pprof_threadcreate_profile(NULL, 0, &n) && n == THREADS, "number of creations");
    check(pprof_threadcreate_profile(records, THREADS, &n) && n == THREADS, "creations");
    check(pprof_profile_count(pprof_lookup("thread")) == THREADS, "count of thread");
    check(pprof_profile_count(pprof_lookup("goroutine")) == THREADS, "count of goroutine");
    check(pprof_profile_count(pprof_lookup("threadcreate")) == THREADS, "count of threadcreate");
    pprof_thread_records_release(NULL, 1);
}

static void check_text(const char *folder)
{
    static char all[1 << 16];
    char little[100];
    char path[512];
    size_t length = pprof_stack_text(all, sizeof all, true);
    check(length > 0 && length < sizeof all && all[length] == '\0', "length of the text");
    check(pprof_stack_text(little, sizeof little, true) == sizeof little, "a text cut off");
    check(memcmp(little, all, 20) == 0, "the beginning of a text");
    check(pprof_stack_text(NULL, 0, true) == 0, "no room for text");
    snprintf(path, sizeof path, "%s/all.txt", folder);
    FILE *out = fopen(path, "w");
    check(out != NULL && fputs(all, out) >= 0, path);
    fclose(out);
    length = pprof_stack_text(all, sizeof all, false);
    check(length > 0 && strstr(all, "waits_in_poll") == NULL, "text of the caller alone");
}

int main(int argc, char **argv)
{
    check(argc == 2, "usage: thread_profile FOLDER");
    sem_init(&begun, 0, 0);
    pthread_setname_np(pthread_self(), "first");
    const char *const kind[] = {"kind", "waiter"};
    pprof_labels *labels = pprof_labels_new(NULL, kind, 1);
    pprof_labels_unref(pprof_set_thread_labels(labels));
    pprof_labels_unref(labels);
    starts_waiters();
    pprof_labels_unref(pprof_set_thread_labels(NULL));
    start(computer, NULL);
    write_profile(argv[1], "thread", 1, "before.txt");
    start(deaf_computer, NULL);
    check_records();
    write_profile(argv[1], "thread", 0, "thread.pb.gz");
    write_profile(argv[1], "thread", 1, "thread.txt");
    write_profile(argv[1], "thread", PPROF_DEBUG_BARE, "bare.txt");
    write_profile(argv[1], "thread", 2, "dump.txt");
    write_profile(argv[1], "goroutine", 0, "goroutine.pb.gz");
    write_profile(argv[1], "goroutine", 1, "goroutine.txt");
    write_profile(argv[1], "threadcreate", 0, "threadcreate.pb.gz");
    write_profile(argv[1], "threadcreate", 1, "threadcreate.txt");
    check_text(argv[1]);
    return 0;
}
