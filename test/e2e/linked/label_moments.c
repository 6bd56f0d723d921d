/* SPDX-License-Identifier: MIT
 *
 * label_moments.c: profiles of threads while each thread changes its labels all the time and others are
 * born and end. A stack inside of work_f belongs to the labels of pprof_do(work_f), of work_g to those
 * of work_g; a thread that was born under labels has these, its creator and its creation; and no thread
 * that lives all the time is ever missing. The first profiles are also written as moments.N.pb.gz.
 *
 *   label_moments [PROFILES]
 */
#include "must.h"
#include <pprof.h>

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PROFILES = 60, FILES = 20, ROOM = 1024, TEXT_ROOM = 1 << 22, NS_PER_S = 1000000000 };

/* One function a section: the linker names where each begins and ends. */
#define IN(name)     __attribute__((noinline, section("text_" #name)))
#define BOUNDS(name) extern const char __start_text_##name[], __stop_text_##name[]
BOUNDS(f);
BOUNDS(g);
BOUNDS(born);

typedef struct worker {
    long run_ns, sleep_ns; /* in each turn */
    pid_t tid;
    pthread_t thread;
} worker;

static worker workers[] = {{100, 0, 0, 0},      {30000, 0, 0, 0},  {1000000, 0, 0, 0},
                           {0, 1000, 0, 0},     {0, 100000, 0, 0}, {0, 10000000, 0, 0},
                           {30000, 30000, 0, 0}};
enum { WORKERS = sizeof workers / sizeof *workers };

static bool stop;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

#define TURN(w)                                                                                    \
    do {                                                                                           \
        const struct timespec sleep = {.tv_nsec = (w)->sleep_ns};                                  \
        for (int64_t end = now_ns() + (w)->run_ns; now_ns() < end;) {                              \
        }                                                                                          \
        if ((w)->sleep_ns > 0) {                                                                   \
            nanosleep(&sleep, NULL);                                                               \
        }                                                                                          \
        __asm__ volatile("" ::: "memory"); /* no tail call */                                      \
    } while (0)

static IN(f) void work_f(void *argument)
{
    TURN((worker *)argument);
}

static IN(g) void work_g(void *argument)
{
    TURN((worker *)argument);
}

static void *work(void *argument)
{
    worker *w = argument;
    const char *const f[] = {"kind", "F"};
    const char *const g[] = {"kind", "G"};
    __atomic_store_n(&w->tid, gettid(), __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&stop, __ATOMIC_SEQ_CST)) {
        pprof_do(f, 1, work_f, w);
        pprof_do(g, 1, work_g, w);
    }
    return NULL;
}

/* ---- births ---- */

static IN(born) void *short_life(void *argument)
{
    const struct timespec life = {.tv_nsec = 300000};
    nanosleep(&life, NULL);
    return argument;
}

static void give_birth(void *argument)
{
    pthread_t thread;
    (void)argument;
    check(pthread_create(&thread, NULL, short_life, NULL) == 0, "pthread_create");
    pthread_join(thread, NULL);
}

static void *mother(void *argument)
{
    const char *const pair[] = {"kind", "B"};
    while (!__atomic_load_n(&stop, __ATOMIC_SEQ_CST)) {
        pprof_do(pair, 1, give_birth, argument);
    }
    return NULL;
}

/* ---- what profiles say ---- */

static bool lies_in(uintptr_t pc, const char *start, const char *end)
{
    return pc > (uintptr_t)start && pc <= (uintptr_t)end; /* a return address may be the end */
}

/* "F", "G" or "B": what the labels have to be; NULL: either may be. */
static const char *kind_of(const uintptr_t *pcs, size_t depth)
{
    for (size_t i = 0; i < depth; i++) {
        if (lies_in(pcs[i], __start_text_f, __stop_text_f)) {
            return "F";
        }
        if (lies_in(pcs[i], __start_text_g, __stop_text_g)) {
            return "G";
        }
        if (lies_in(pcs[i], __start_text_born, __stop_text_born)) {
            return "B";
        }
    }
    return NULL;
}

static struct {
    unsigned records, rows, wrong, unlabelled, missing, born, uncreated, unseen;
    unsigned kind[WORKERS]; /* records of each worker that were judged */
} seen;

static void judge(const char *kind, const char *label)
{
    seen.wrong += label != NULL && strcmp(kind, label) != 0;
    seen.unlabelled += label == NULL;
    seen.born += *kind == 'B';
}

static void check_records(void)
{
    static pprof_thread_record records[ROOM];
    size_t n = 0;
    unsigned there = 0;
    check(pprof_thread_profile(records, ROOM, &n), "records");
    for (size_t i = 0; i < n; i++) {
        const char *kind = kind_of(records[i].stack.pc, records[i].stack.depth);
        for (unsigned k = 0; k < WORKERS; k++) {
            there += records[i].tid == workers[k].tid;
            seen.kind[k] += records[i].tid == workers[k].tid && kind != NULL;
        }
        if (kind != NULL) {
            judge(kind, pprof_label(records[i].labels, "kind"));
            seen.records++;
        }
    }
    seen.missing += WORKERS - there;
    pprof_thread_records_release(records, n);
}

static char text[TEXT_ROOM];
static size_t length;

static int append(void *context, const void *data, size_t size)
{
    (void)context;
    check(length + size < TEXT_ROOM, "the text's room");
    memcpy(text + length, data, size);
    length += size;
    text[length] = '\0';
    return 0;
}

static void write_profile(const char *name, int debug)
{
    length = 0;
    check(pprof_profile_write(pprof_lookup(name), (pprof_writer){append, NULL}, debug) == 0, name);
}

/* "1 @ 0x1 0x2\n# labels: {"kind":"F"}\n" */
static void check_text(void)
{
    const char *kind = NULL;
    write_profile("thread", 1);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char *at = strstr(line, " @ ");
        const char *label = strstr(line, "# labels: {\"kind\":\"");
        if (at != NULL || label != NULL || *line != '#') {
            if (kind != NULL) {
                char found[] = {label != NULL ? label[sizeof "# labels: {\"kind\":\"" - 1] : '\0',
                                0};
                judge(kind, label != NULL ? found : NULL);
                seen.rows++;
            }
            kind = NULL;
        }
        if (at != NULL) {
            uintptr_t pcs[PPROF_MAX_STACK];
            size_t depth = 0;
            char *next = at + 3;
            for (char *end = next; depth < PPROF_MAX_STACK; next = end) {
                pcs[depth] = strtoul(next, &end, 16);
                if (end == next) {
                    break;
                }
                depth++;
            }
            kind = kind_of(pcs, depth);
        }
    }
}

/* All threads but the first, which starts with `thread`, have been created by somebody. */
static void check_creations(void)
{
    unsigned threads = 0;
    unsigned created = 0;
    write_profile("thread", 2);
    for (const char *p = text; (p = strstr(p, "thread ")) != NULL; p++) {
        threads += p == text || p[-1] == '\n';
    }
    for (const char *p = text; (p = strstr(p, "\ncreated by ")) != NULL; p++) {
        created++;
    }
    seen.uncreated += threads - 1 - created;
    write_profile("threadcreate", 1);
    seen.unseen += strstr(text, "pprof_unseen_creation") != NULL;
}

static void write_file(unsigned long number)
{
    char name[sizeof "moments.99.pb.gz"];
    snprintf(name, sizeof name, "moments.%02lu.pb.gz", number % 100);
    FILE *file = fopen(name, "w");
    check(file != NULL, name);
    check(pprof_profile_write(pprof_lookup("thread"), pprof_writer_stdio(file), 0) == 0, name);
    check(fclose(file) == 0, name);
}

int main(int argc, char **argv)
{
    unsigned long profiles = argc > 1 ? strtoul(argv[1], NULL, 10) : PROFILES;
    pthread_t mother_thread;
    for (unsigned i = 0; i < WORKERS; i++) {
        check(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0, "pthread_create");
    }
    check(pthread_create(&mother_thread, NULL, mother, NULL) == 0, "pthread_create");
    for (unsigned i = 0; i < WORKERS; i++) {
        while (__atomic_load_n(&workers[i].tid, __ATOMIC_SEQ_CST) == 0) {
            usleep(1000);
        }
    }
    for (unsigned long i = 0; i < profiles; i++) {
        check_records();
        check_text();
        check_creations();
        if (i < FILES) {
            write_file(i);
        }
    }
    __atomic_store_n(&stop, true, __ATOMIC_SEQ_CST);
    for (unsigned i = 0; i < WORKERS; i++) {
        pthread_join(workers[i].thread, NULL);
    }
    pthread_join(mother_thread, NULL);
    printf("%u records, %u rows: %u wrong, %u unlabelled; %u born; missing %u; %u not created, %u "
           "profiles with an unseen creation\n",
           seen.records, seen.rows, seen.wrong, seen.unlabelled, seen.born, seen.missing,
           seen.uncreated, seen.unseen);
    for (unsigned i = 0; i < WORKERS; i++) {
        printf("runs %ld ns, sleeps %ld ns: %u records\n", workers[i].run_ns, workers[i].sleep_ns,
               seen.kind[i]);
        check(profiles < PROFILES || seen.kind[i] > 0, "no record of a worker was judged");
    }
    check(seen.wrong == 0 && seen.unlabelled == 0, "labels of another moment");
    check(seen.missing == 0, "a thread is missing");
    check(seen.uncreated == 0 && seen.unseen == 0, "a creation is missing");
    return 0;
}
