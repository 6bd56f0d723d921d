/* SPDX-License-Identifier: MIT
 *
 * thread_storm.c: threads come and go as fast as they can while profiles of threads are taken in
 * all forms. Each profile has at least the threads that are there all the time, each once.
 */
#include "must.h"
#include <pprof.h>

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CREATORS = 2,
    AT_A_TIME = 20,
    PROFILES = 200,
    SHORT_LIVES = 10000, /* at least */
    ROOM = 1024,
    FORMS = 4
};

static bool stop;
static unsigned lives;
static pid_t creators[CREATORS];

/* Some end at once, some compute a little, some with other labels. */
static void *short_life(void *argument)
{
    unsigned *number = argument;
    unsigned kind = (*number)++ % 3;
    if (kind == 1) {
        for (volatile unsigned i = 0; i < 20000; i++) {
        }
    } else if (kind == 2) {
        const char *const pair[] = {"life", "short"};
        pprof_labels *labels = pprof_labels_new(NULL, pair, 1);
        pprof_labels_unref(pprof_set_thread_labels(labels));
        pprof_labels_unref(labels);
    }
    return NULL;
}

static void *creator_main(void *argument)
{
    pthread_t threads[AT_A_TIME];
    unsigned numbers[AT_A_TIME] = {0};
    __atomic_store_n((pid_t *)argument, gettid(), __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&stop, __ATOMIC_SEQ_CST)) {
        for (unsigned k = 0; k < AT_A_TIME; k++) {
            numbers[k] += k;
            check(pthread_create(&threads[k], NULL, short_life, &numbers[k]) == 0,
                  "pthread_create");
        }
        for (unsigned k = 0; k < AT_A_TIME; k++) {
            pthread_join(threads[k], NULL);
        }
        __atomic_add_fetch(&lives, AT_A_TIME, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

static void check_records(void)
{
    static pprof_thread_record records[ROOM];
    size_t n = 0;
    check(pprof_thread_profile(records, ROOM, &n) && n > CREATORS, "records");
    check(records[0].tid == gettid(), "the caller is first");
    unsigned seen = 0;
    for (size_t i = 0; i < n; i++) {
        check(records[i].tid > 0 && records[i].stack.depth > 0, "a record is empty");
        for (unsigned k = 0; k < CREATORS; k++) {
            seen += records[i].tid == creators[k];
        }
    }
    check(seen == CREATORS, "each creator once");
    pprof_thread_records_release(records, n);
}

static int forget(void *context, const void *data, size_t length)
{
    (void)data;
    *(size_t *)context += length;
    return 0;
}

static void take_profile(unsigned number)
{
    static const struct {
        const char *name;
        int debug;
    } forms[FORMS] = {{"thread", 0}, {"thread", 1}, {"thread", 2}, {"threadcreate", 1}};
    size_t written = 0;
    const pprof_writer writer = {forget, &written};
    pprof_profile *profile = pprof_lookup(forms[number % FORMS].name);
    check_records();
    check(pprof_profile_write(profile, writer, forms[number % FORMS].debug) == 0 && written > 0,
          "a profile");
}

int main(void)
{
    unsigned profiles = 0;
    pthread_t threads[CREATORS];
    for (unsigned i = 0; i < CREATORS; i++) {
        check(pthread_create(&threads[i], NULL, creator_main, &creators[i]) == 0, "pthread_create");
        while (__atomic_load_n(&creators[i], __ATOMIC_SEQ_CST) == 0) {
            usleep(1000);
        }
    }
    while (profiles < PROFILES || __atomic_load_n(&lives, __ATOMIC_SEQ_CST) < SHORT_LIVES) {
        take_profile(profiles++);
    }
    __atomic_store_n(&stop, true, __ATOMIC_SEQ_CST);
    for (unsigned i = 0; i < CREATORS; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%u profiles, %u threads\n", profiles, lives);
    return 0;
}
