/* SPDX-License-Identifier: MIT
 *
 * profiles.c CASE [FILE]: the program's own profiles, one case a run. Exit status 0 if all of its
 * checks hold; else the line is printed.
 */
#include <pprof.h>

#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const void *value_of(uintptr_t number)
{
    return (const void *)number; /* NOLINT(performance-no-int-to-ptr): values are any word */
}

/* ---- writers ---- */

static char text[1 << 20];
static size_t text_length;

static int write_text(void *ctx, const void *data, size_t length)
{
    (void)ctx;
    if (text_length + length >= sizeof text) {
        return -ENOSPC;
    }
    memcpy(text + text_length, data, length);
    text_length += length;
    text[text_length] = '\0';
    return 0;
}

static const char *text_of(pprof_profile *profile)
{
    text_length = 0;
    CHECK_IS(pprof_profile_write(profile, (pprof_writer){write_text, NULL}, PPROF_DEBUG_BARE), 0);
    return text;
}

static long total_of(pprof_profile *profile)
{
    const char *total = strstr(text_of(profile), " profile: total ");
    return total != NULL ? strtol(total + strlen(" profile: total "), NULL, 10) : -1;
}

static int write_nothing(void *ctx, const void *data, size_t length)
{
    (void)ctx;
    (void)data;
    (void)length;
    return 0;
}

static void write_file(pprof_profile *profile, const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK_IS(pprof_profile_write(profile, pprof_writer_fd(fd), 0), 0);
    close(fd);
}

/* ---- cases ---- */

#define REFUSED(name, error)                                                                       \
    do {                                                                                           \
        errno = 0;                                                                                 \
        CHECK(pprof_new_profile(name) == NULL);                                                    \
        CHECK_IS(errno, error);                                                                    \
    } while (0)

static void names(void)
{
    static const char *const taken[] = {
        "allocs",       "block", "heap",       "mutex",       "thread",     "goroutine", "peak",
        "threadcreate", "fd",    "profile",    "cmdline",     "symbol",     "flame",     "growth",
        "contention",   "trace", "delta_heap", "delta_block", "delta_mutex"};
    static const char *const bad[] = {"",     " ",    "a b",   "a\tb", "a\n",
                                      "a\rb", "a\vb", "a\x1b", "a\x7f"};
    static const char *const good[] = {
        "a",   "import/path.conns",    "..",    "Profile", "heaps", "profile/x",
        "cpu", "\xc3\xa9\xe2\x82\xac", "a\xff", "%s"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        REFUSED(taken[i], EEXIST);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        REFUSED(bad[i], EINVAL);
    }
    REFUSED(NULL, EINVAL);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        CHECK(pprof_new_profile(good[i]) != NULL);
        REFUSED(good[i], EEXIST);
    }
    char name[2000];
    memset(name, 'n', sizeof name);
    name[1024] = '\0';
    REFUSED(name, ENAMETOOLONG);
    name[1023] = '\0';
    pprof_profile *longest = pprof_new_profile(name);
    CHECK(longest != NULL);
    name[0] = 'x'; /* it was copied */
    CHECK(pprof_lookup(name) == NULL);
    name[0] = 'n';
    CHECK(pprof_lookup(name) == longest && strcmp(pprof_profile_name(longest), name) == 0);
}

static bool is_listed(pprof_profile *const *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(pprof_profile_name(list[i]), name) == 0) {
            return true;
        }
    }
    return false;
}

static void registry(void)
{
    pprof_profile *list[64];
    size_t before = pprof_profiles(NULL, 0);
    CHECK(pprof_lookup("conns") == NULL && pprof_lookup(NULL) == NULL && pprof_lookup("") == NULL);
    pprof_profile *conns = pprof_new_profile("conns");
    pprof_profile *zebras = pprof_new_profile("zebras");
    pprof_profile *ants = pprof_new_profile("aaa.ants");
    CHECK(pprof_lookup("conns") == conns && pprof_lookup("zebras") == zebras);
    CHECK(pprof_lookup("aaa.ants") == ants && pprof_lookup("aaa") == NULL);
    CHECK(strcmp(pprof_profile_name(conns), "conns") == 0 && pprof_profile_name(NULL) == NULL);
    size_t count = pprof_profiles(list, 64);
    CHECK_IS(count, before + 3);
    for (size_t i = 1; i < count; i++) {
        CHECK(strcmp(pprof_profile_name(list[i - 1]), pprof_profile_name(list[i])) < 0);
        CHECK(pprof_lookup(pprof_profile_name(list[i])) == list[i]);
    }
    CHECK(is_listed(list, count, "conns") && is_listed(list, count, "heap"));
    CHECK(!is_listed(list, count, "goroutine") && !is_listed(list, count, "peak"));
    /* No more than there is room for, and the first ones. */
    pprof_profile *few[3] = {NULL, NULL, NULL};
    CHECK_IS(pprof_profiles(few, 2), count);
    CHECK(few[0] == list[0] && few[1] == list[1] && few[2] == NULL);
}

static void values(void)
{
    pprof_profile *conns = pprof_new_profile("conns");
    int a = 0;
    int b = 0;
    CHECK_IS(pprof_profile_add(conns, &a, 0), 0);
    CHECK_IS(pprof_profile_add(conns, &b, -1), 0);
    CHECK_IS(pprof_profile_add(conns, &a, 0), -EEXIST);
    CHECK_IS(pprof_profile_add(conns, NULL, 0), 0);
    CHECK_IS(pprof_profile_add(conns, NULL, 0), -EEXIST);
    CHECK_IS(pprof_profile_count(conns), 3);
    CHECK_IS(total_of(conns), 3);
    CHECK_IS(pprof_profile_remove(conns, &a), 0);
    CHECK_IS(pprof_profile_remove(conns, &a), 0);
    CHECK_IS(pprof_profile_remove(conns, NULL), 0);
    CHECK_IS(pprof_profile_count(conns), 1);
    CHECK_IS(total_of(conns), 1);
    CHECK_IS(pprof_profile_add(conns, &a, 0), 0);
    CHECK_IS(pprof_profile_count(conns), 2);
    /* Another profile has values of its own. */
    pprof_profile *others = pprof_new_profile("others");
    CHECK_IS(pprof_profile_add(others, &a, 0), 0);
    CHECK_IS(total_of(others), 1);

    CHECK_IS(pprof_profile_add(NULL, &a, 0), -EINVAL);
    CHECK_IS(pprof_profile_remove(NULL, &a), -EINVAL);
    CHECK_IS(pprof_profile_count(NULL), 0);
    pprof_profile *list[64];
    size_t count = pprof_profiles(list, 64);
    for (size_t i = 0; i < count; i++) {
        if (list[i] != conns && list[i] != others) {
            CHECK_IS(pprof_profile_add(list[i], &a, 0), -EPERM);
            CHECK_IS(pprof_profile_remove(list[i], &a), -EPERM);
        }
    }
    pprof_writer nowhere = {NULL, NULL};
    CHECK_IS(pprof_profile_write(conns, nowhere, 0), -EINVAL);
    CHECK_IS(pprof_profile_write(NULL, (pprof_writer){write_nothing, NULL}, 0), -EINVAL);
    CHECK_IS(pprof_profile_write(conns, (pprof_writer){write_nothing, NULL}, PPROF_DEBUG_BARE - 1),
             -EINVAL);
    pprof_profile *none = pprof_new_profile("none");
    CHECK_IS(total_of(none), 0);
}

/* ---- stacks ---- */

void open_one(pprof_profile *profile, uintptr_t number, int skip)
{
    CHECK_IS(pprof_profile_add(profile, value_of(number), skip), 0);
}

void open_some(pprof_profile *profile, uintptr_t from, uintptr_t count, int skip)
{
    for (uintptr_t i = 0; i < count; i++) {
        open_one(profile, from + i, skip);
    }
}

void open_deep(pprof_profile *profile, uintptr_t value, unsigned depth)
{
    if (depth == 0) {
        open_one(profile, value, 0);
    } else {
        open_deep(profile, value, depth - 1);
    }
    __asm__ volatile("" ::: "memory"); /* the call is not the last thing */
}

/* 30 with all frames, 20 without the first, 10 without any. */
static void stacks(const char *path)
{
    pprof_profile *conns = pprof_new_profile("example.conn");
    open_some(conns, 0, 30, 0);
    open_some(conns, 100, 20, 1);
    open_some(conns, 200, 9, 1000);
    open_some(conns, 300, 1, INT32_MAX);
    open_deep(conns, 400, 200);
    open_some(conns, 500, 50, 0);
    for (uintptr_t i = 500; i < 550; i++) {
        CHECK_IS(pprof_profile_remove(conns, value_of(i)), 0);
    }
    CHECK_IS(pprof_profile_count(conns), 61);
    write_file(conns, path);
}

/* ---- who else is at it ---- */

enum { THREADS = 10, ROUNDS = 3000, KEPT = 100 };

static pprof_profile *shared;
static bool stop;

static void *add_and_remove(void *argument)
{
    uintptr_t own = ((uintptr_t)argument + 1) << 24;
    for (uintptr_t i = 0; i < ROUNDS; i++) {
        CHECK_IS(pprof_profile_add(shared, value_of(own + i), 0), 0);
        if (i >= KEPT) {
            CHECK_IS(pprof_profile_remove(shared, value_of(own + i - KEPT)), 0);
        }
        if (i % 1000 == 0) {
            CHECK_IS(pprof_profile_write(shared, (pprof_writer){write_nothing, NULL}, 0), 0);
        }
    }
    return NULL;
}

static void *make_profiles(void *argument)
{
    unsigned *won = argument;
    char name[] = "race.0000";
    for (unsigned i = 0; i < 500; i++) {
        name[6] = (char)('0' + i / 100);
        name[7] = (char)('0' + i / 10 % 10);
        name[8] = (char)('0' + i % 10);
        *won += pprof_new_profile(name) != NULL;
    }
    return NULL;
}

static void threads(void)
{
    pthread_t thread[THREADS];
    unsigned won[THREADS] = {0};
    unsigned made = 0;
    shared = pprof_new_profile("shared");
    for (uintptr_t i = 0; i < THREADS; i++) {
        pthread_create(&thread[i], NULL, add_and_remove, (void *)i);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    CHECK_IS(pprof_profile_count(shared), THREADS * KEPT);
    CHECK_IS(total_of(shared), THREADS * KEPT);
    /* Each name is had by one. */
    for (uintptr_t i = 0; i < THREADS; i++) {
        pthread_create(&thread[i], NULL, make_profiles, &won[i]);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        made += won[i];
    }
    CHECK_IS(made, 500);
}

static int write_and_add(void *ctx, const void *data, size_t length)
{
    (void)data;
    (void)length;
    pprof_profile_add(ctx, value_of(77), 0);
    return pprof_profile_write(pprof_lookup("conns"), (pprof_writer){write_nothing, NULL}, 1);
}

/* A writer may use the profile that it writes. */
static void reentrant_writer(void)
{
    pprof_profile *conns = pprof_new_profile("conns");
    CHECK_IS(pprof_profile_add(conns, &failures, 0), 0);
    CHECK_IS(pprof_profile_write(conns, (pprof_writer){write_and_add, conns}, 0), 0);
    CHECK_IS(pprof_profile_count(conns), 2);
}

static int refuse(void *ctx, const void *data, size_t length)
{
    (void)data;
    (void)length;
    ++*(int *)ctx;
    return -EPIPE;
}

static void failing_writer(void)
{
    pprof_profile *conns = pprof_new_profile("conns");
    for (int debug = PPROF_DEBUG_BARE; debug <= 2; debug++) {
        int calls = 0;
        CHECK_IS(pprof_profile_write(conns, (pprof_writer){refuse, &calls}, debug), -EPIPE);
        CHECK_IS(calls, 1);
    }
}

static void *keep_changing(void *argument)
{
    uintptr_t own = ((uintptr_t)argument + 1) << 24;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        for (uintptr_t i = 0; i < 2000; i++) {
            pprof_profile_add(shared, value_of(own + i), 0);
        }
        for (uintptr_t i = 0; i < 2000; i++) {
            pprof_profile_remove(shared, value_of(own + i));
        }
    }
    return NULL;
}

/* A child has the values of its parent, and profiles that work. */
static void children(void)
{
    pthread_t thread[2];
    shared = pprof_new_profile("shared");
    open_some(shared, 0, 100, 0);
    for (uintptr_t i = 0; i < 2; i++) {
        pthread_create(&thread[i], NULL, keep_changing, (void *)i);
    }
    for (unsigned i = 0; i < 50; i++) {
        pid_t child = fork();
        if (child == 0) {
            for (uintptr_t k = 0; k < 100; k++) {
                CHECK_IS(pprof_profile_add(shared, value_of(k), 0), -EEXIST);
                CHECK_IS(pprof_profile_remove(shared, value_of(k)), 0);
            }
            CHECK_IS(total_of(shared), pprof_profile_count(shared));
            CHECK(pprof_new_profile("of.the.child") != NULL);
            _exit(failures != 0);
        }
        int status = 0;
        CHECK_IS(waitpid(child, &status, 0), child);
        CHECK_IS(status, 0);
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    pthread_join(thread[0], NULL);
    pthread_join(thread[1], NULL);
    CHECK_IS(pprof_profile_count(shared), 100);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"names", names},
                 {"registry", registry},
                 {"values", values},
                 {"threads", threads},
                 {"reentrant-writer", reentrant_writer},
                 {"failing-writer", failing_writer},
                 {"children", children}};
    if (argc == 3 && strcmp(argv[1], "stacks") == 0) {
        stacks(argv[2]);
        return failures != 0;
    }
    for (size_t i = 0; argc == 2 && i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            return failures != 0;
        }
    }
    fprintf(stderr, "there is no such case\n");
    return 2;
}
