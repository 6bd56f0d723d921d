/* SPDX-License-Identifier: MIT
 *
 * collector.c CASE [FLAG...]: a program with a small collector of its own: when is it run, and what
 * may it do? Prints what happens, a word each. The flags are those of pprof_parse_flags().
 */
#include <pprof.h>

#include "must.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OBJECTS = 100, SIZE = 1000 };

/* The words go out at once: a process may end in any way. */
static void say(const char *word)
{
    check(write(STDOUT_FILENO, word, strlen(word)) == (ssize_t)strlen(word), "write");
}

/* ---- a heap that is collected ---- */

static char objects[OBJECTS]
                   [SIZE]; /* as far as the profile goes: they are compared, never looked into */
static bool in_use[OBJECTS], is_root[OBJECTS];

static void make(bool roots)
{
    for (int i = 0; i < OBJECTS; i++) {
        if (!in_use[i]) {
            in_use[i] = true;
            is_root[i] = roots;
            pprof_heap_record_alloc(objects[i], SIZE);
        }
    }
}

void makes_garbage(void)
{
    make(false);
}

static void sweep(void)
{
    for (int i = 0; i < OBJECTS; i++) {
        if (in_use[i] && !is_root[i]) {
            in_use[i] = false;
            pprof_heap_record_sweep(objects[i]);
        }
    }
}

static void collect(void)
{
    say("collect ");
    pprof_heap_cycle_next();
    pprof_heap_cycle_flush();
    sweep();
    pprof_heap_cycle_post_sweep();
}

/* ---- profiles ---- */

static int count_bytes(void *ctx, const void *data, size_t length)
{
    (void)data;
    *(size_t *)ctx += length;
    return 0;
}

static void write_profile(const char *name, int debug)
{
    size_t length = 0;
    pprof_profile *profile = pprof_lookup(name);
    check(profile != NULL &&
              pprof_profile_write(profile, (pprof_writer){count_bytes, &length}, debug) == 0,
          name);
    check(length > 0, "there is a profile");
}

static int print_statistics(void *ctx, const void *data, size_t length)
{
    static char line[512];
    static size_t used;
    (void)ctx;
    for (const char *byte = data; byte < (const char *)data + length; byte++) {
        line[used < sizeof line - 1 ? used++ : used] = *byte;
        if (*byte == '\n') {
            line[used] = '\0';
            used = 0;
            if (strstr(line, "GC = ") != NULL && strstr(line, "NextGC") == NULL &&
                strstr(line, "LastGC") == NULL) {
                say(line);
            }
        }
    }
    return 0;
}

static void print_text(void)
{
    check(pprof_profile_write(pprof_lookup("heap"), (pprof_writer){print_statistics, NULL}, 1) == 0,
          "text");
}

/* Objects of makes_garbage: allocated and in use. */
static void print_records(void)
{
    static pprof_mem_record records[1000];
    char text[64];
    size_t n = 0;
    long long allocated = 0;
    long long left = 0;
    check(pprof_mem_profile(records, 1000, &n, true), "pprof_mem_profile");
    for (size_t i = 0; i < n; i++) {
        if (records[i].alloc_bytes == records[i].alloc_objects * SIZE) {
            allocated += records[i].alloc_objects;
            left += pprof_mem_record_inuse_objects(&records[i]);
        }
    }
    snprintf(text, sizeof text, "%lld-%lld ", allocated, left);
    say(text);
}

/* ---- cases ---- */

/* Who runs it: each call with its name before it. */
static void calls(void)
{
    static const struct {
        const char *profile;
        int debug;
    } all[] = {{"heap", 0},   {"heap", 1},   {"heap", 2},         {"heap", PPROF_DEBUG_BARE},
               {"allocs", 0}, {"allocs", 1}, {"allocs", -1},      {"block", 0},
               {"block", 1},  {"mutex", 1},  {"threadcreate", 0}, {"goroutine", 2}};
    pprof_set_collector(collect);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[64];
        snprintf(text, sizeof text, "\n%s %d: ", all[i].profile, all[i].debug);
        say(text);
        write_profile(all[i].profile, all[i].debug);
    }
    say("\nwrite_heap: ");
    size_t length = 0;
    check(pprof_write_heap_profile((pprof_writer){count_bytes, &length}) == 0, "write_heap");
    say("\nerrors: ");
    check(pprof_profile_write(pprof_lookup("heap"), (pprof_writer){NULL, NULL}, 0) == -EINVAL,
          "no writer");
    check(pprof_profile_write(pprof_lookup("heap"), (pprof_writer){count_bytes, &length}, -2) ==
              -EINVAL,
          "debug");
    say("\ncount: ");
    pprof_profile_count(pprof_lookup("heap"));
    print_records();
    say("\nnone: ");
    pprof_set_collector(NULL);
    write_profile("heap", 0);
    say("\n");
}

/* What is garbage is not in use in the profile that is written. */
static void garbage(void)
{
    pprof_set_collector(collect);
    makes_garbage();
    write_profile("heap", 0);
    print_records();
    makes_garbage();
    makes_garbage();
    write_profile("allocs", 1);
    print_records();
    print_text();
}

/* A collector that ends no cycles. */
static void sweeps(void)
{
    say("collect ");
    sweep();
}

static void without_cycles(void)
{
    print_text();
    pprof_set_collector(sweeps);
    makes_garbage();
    print_text();
    print_text();
    print_records();
    pprof_set_collector(NULL);
    print_text();
}

/* Cycles without a collector. */
static void cycles_only(void)
{
    print_text();
    pprof_heap_cycle_next();
    print_text();
}

/* It writes profiles itself, and those of the heap come back to it. */
static void writes_itself(void)
{
    say("collect ");
    write_profile("heap", 0);
    write_profile("heap", 1);
    check(pprof_write_heap_profile((pprof_writer){count_bytes, &(size_t){0}}) == 0, "write_heap");
    pprof_set_collector(NULL);
    write_profile("allocs", 0);
    pprof_set_collector(writes_itself);
    write_profile("allocs", 0);
}

static void recursion(void)
{
    pprof_set_collector(writes_itself);
    write_profile("heap", 0);
    write_profile("heap", 1);
}

/* It is left by a jump, against the rules: the next one runs again. */
static jmp_buf before;

static void jumps(void)
{
    say("collect ");
    longjmp(before, 1);
}

static void jump(void)
{
    pprof_set_collector(jumps);
    for (volatile int i = 0; i < 3; i++) {
        if (setjmp(before) == 0) {
            write_profile("heap", 0);
            say("written ");
        }
    }
}

/* It takes a lock, allocates, and changes errno; threads write at the same time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int runs;

static void locks(void)
{
    pthread_mutex_lock(&lock);
    void *volatile block = malloc(100000);
    free(block);
    runs++;
    pthread_mutex_unlock(&lock);
    errno = EXDEV;
}

static void *writes(void *unused)
{
    for (int i = 0; i < 20; i++) {
        errno = 0;
        write_profile(i % 2 == 0 ? "heap" : "allocs", i % 3 == 0);
        check(errno == 0, "errno is as before");
    }
    return unused;
}

static void threads(void)
{
    char text[32];
    pthread_t all[4];
    pprof_set_collector(locks);
    for (int i = 0; i < 4; i++) {
        check(pthread_create(&all[i], NULL, writes, NULL) == 0, "pthread_create");
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(all[i], NULL);
    }
    snprintf(text, sizeof text, "%d runs ", runs);
    say(text);
}

/* The collector runs while others wait. */
static pthread_barrier_t arrived, leave;

static void *stands(void *unused)
{
    pthread_barrier_wait(&arrived);
    pthread_barrier_wait(&leave);
    return unused;
}

static void among_threads(void)
{
    pthread_t all[3];
    pthread_barrier_init(&arrived, NULL, 4);
    pthread_barrier_init(&leave, NULL, 4);
    for (int i = 0; i < 3; i++) {
        check(pthread_create(&all[i], NULL, stands, NULL) == 0, "pthread_create");
    }
    pthread_barrier_wait(&arrived);
    pprof_set_collector(collect);
    write_profile("heap", 1);
    pthread_barrier_wait(&leave);
    for (int i = 0; i < 3; i++) {
        pthread_join(all[i], NULL);
    }
}

/* ---- the end ---- */

static void before_collector(void)
{
    say("first-atexit ");
}

static void after_collector(void)
{
    say("last-atexit ");
}

/* The order of the end: the handler that was registered last comes first. */
static void ends(void)
{
    atexit(before_collector);
    at_quick_exit(before_collector);
    pprof_set_collector(collect);
    pprof_set_collector(collect);
    atexit(after_collector);
    at_quick_exit(after_collector);
}

static void end_by_exit(void)
{
    ends();
    makes_garbage();
    exit(0);
}

static void end_by_quick_exit(void)
{
    ends();
    quick_exit(0);
}

static void end_at_once(void)
{
    ends();
    _exit(0);
}

static void end_by_signal(void)
{
    ends();
    raise(SIGTERM);
}

static void exit_in_handler(int signal)
{
    (void)signal;
    exit(0);
}

static void end_in_handler(void)
{
    ends();
    signal(SIGTERM, exit_in_handler);
    raise(SIGTERM);
}

static void end_without_collector(void)
{
    ends();
    pprof_set_collector(NULL);
    exit(0);
}

/* Another one is set later: once all the same. */
static void end_with_another(void)
{
    ends();
    pprof_set_collector(sweeps);
    exit(0);
}

static void end_in_children(void)
{
    ends();
    for (int again = 0; again < 2; again++) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            if (again == 1) {
                pprof_set_collector(collect);
            }
            exit(0);
        }
        check(waitpid(child, NULL, 0) == child, "waitpid");
        say("| ");
    }
    pprof_set_collector(NULL);
    exit(0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"calls", calls},
                 {"garbage", garbage},
                 {"without-cycles", without_cycles},
                 {"cycles-only", cycles_only},
                 {"recursion", recursion},
                 {"jump", jump},
                 {"threads", threads},
                 {"among-threads", among_threads},
                 {"exit", end_by_exit},
                 {"quick_exit", end_by_quick_exit},
                 {"_exit", end_at_once},
                 {"SIGTERM", end_by_signal},
                 {"handler", end_in_handler},
                 {"none", end_without_collector},
                 {"another", end_with_another},
                 {"children", end_in_children}};
    check(pprof_parse_flags(&argc, argv) == 0, "flags");
    pprof_set_mem_profile_rate(PPROF_RATE_ALL);
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(cases[i].name, argv[1]) == 0) {
            cases[i].run();
            return 0;
        }
    }
    return 2;
}
