/* SPDX-License-Identifier: MIT
 *
 * otel.c CASE: labels, for a reader that looks from outside (test/e2e/otel/).
 *
 *   shown    labels of many shapes, each until a line arrives at standard input, then in a new thread
 *   steps    labels come and go between a line of standard input and SIGSTOP
 *   storm    three threads change their labels until standard input ends
 *   kept     three threads change between the same sets
 *   keys     300 keys, made by four threads
 *   adds     a new key comes between a line and SIGSTOP
 *   grows    after a line, 250 keys, one after the other
 *   forks    children of fork and of a bare clone make labels with new keys; prints what is wrong
 */
#include <pprof.h>

#include "must.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void say_and_wait(void *word)
{
    char line[16];
    printf("%s %ld\n", (const char *)word, syscall(SYS_gettid));
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL) {
        exit(0);
    }
}

static void *wait_in_thread(void *word)
{
    say_and_wait(word);
    return NULL;
}

/* ---- shown ---- */

static void show(const char *const *pairs, size_t count, const char *word)
{
    pprof_do(pairs, count, say_and_wait, (void *)(uintptr_t)word);
}

static void inner(void *unused)
{
    static const char *const more[] = {"path", "/index.html", "tenant", "b"};
    (void)unused;
    show(more, 2, "inherits");
    say_and_wait("back");
}

static void show_long(void)
{
    char a[300];
    char b[300];
    char c[300];
    memset(a, 'a', sizeof a - 1);
    memset(b, 'b', sizeof b - 1);
    memset(c, 'c', sizeof c - 1);
    a[299] = b[299] = c[299] = '\0';
    memcpy(a + 254, "\xc3\xa9", 2); /* an e with an accent, half of which would fit */
    const char *const pairs[] = {"a", a, "b", b, "c", c, "d", "short"};
    show(pairs, 4, "long");
}

static void shown(void)
{
    static const char *const tenant[] = {"tenant", "a"};
    static const char *const ids[] = {"trace_id", "4bf92f3577b34da6a3ce929d0e0e4736",
                                      "span_id",  "00f067aa0ba902b7",
                                      "tenant",   "a"};
    static const char *const half[] = {"trace_id", "4bf92f3577b34da6a3ce929d0e0e4736", "span_id",
                                       "0000000000000000"};
    static const char *const odd[] = {"empty",      "",         "no text",
                                      "x\xff\xc3y", "\xc3\xa9", "\xe2\x82\xac"};
    pthread_t thread;
    say_and_wait("none");
    show(tenant, 1, "one");
    pprof_do(tenant, 1, inner, NULL);
    show(ids, 3, "ids");
    show(half, 2, "half");
    show(odd, 3, "odd");
    show_long();
    pprof_labels *labels = pprof_labels_new(NULL, tenant, 1);
    pprof_labels_unref(pprof_set_thread_labels(labels));
    check(pthread_create(&thread, NULL, wait_in_thread, "thread") == 0, "a thread");
    pthread_join(thread, NULL);
    pprof_labels_unref(labels);
    say_and_wait("set");
    pprof_labels_unref(pprof_set_thread_labels(NULL));
    say_and_wait("unset");
}

/* ---- steps ---- */

static void nothing(void *unused)
{
    (void)unused;
}

static void do_inner(void *pairs)
{
    pprof_do(pairs, 1, nothing, NULL);
}

static void change(void)
{
    static const char *const a[] = {"step", "1"};
    static const char *const b[] = {"step", "12"};
    static const char *const c[] = {"step", "123"};
    pprof_do(a, 1, do_inner, (void *)(uintptr_t)b);
    pprof_labels_unref(pprof_set_thread_labels(pprof_labels_new(NULL, c, 1)));
    pprof_labels_unref(pprof_set_thread_labels(NULL));
}

static void steps(void)
{
    change(); /* the next time, pieces of memory are used again, and no key is new */
    say_and_wait("steps");
    change();
    raise(SIGSTOP);
}

/* ---- storm ---- */

enum { STORM_THREADS = 3, KEPT = 16 };
static bool storm_over;

/* A set of 1 to 3 labels that all have the same value, whose first byte is their number. */
static pprof_labels *make_set(unsigned number)
{
    static const char *const keys[] = {"first", "second", "third"};
    const char *pairs[6];
    char value[64];
    unsigned count = number % 3 + 1;
    size_t length = number % 40 + 2;
    memset(value, 'a' + (int)(number % 23), length);
    value[0] = (char)('0' + count);
    value[length] = '\0';
    for (unsigned i = 0; i < count; i++) {
        pairs[2 * i] = keys[i];
        pairs[2 * i + 1] = value;
    }
    return pprof_labels_new(NULL, pairs, count);
}

static void *change_all_the_time(void *seed)
{
    unsigned number = (unsigned)(uintptr_t)seed;
    while (!__atomic_load_n(&storm_over, __ATOMIC_RELAXED)) {
        pprof_labels *labels = make_set(number += 7);
        pprof_labels_unref(pprof_set_thread_labels(labels));
        pprof_labels_unref(labels);
        if (number % 5 == 0) {
            pprof_labels_unref(pprof_set_thread_labels(NULL));
        }
    }
    return NULL;
}

static pprof_labels *kept[KEPT];

static void *change_kept(void *seed)
{
    for (size_t i = (size_t)seed; !__atomic_load_n(&storm_over, __ATOMIC_RELAXED); i++) {
        pprof_labels_unref(pprof_set_thread_labels(kept[i % KEPT]));
    }
    return NULL;
}

static void storm(void *(*work)(void *seed))
{
    pthread_t threads[STORM_THREADS];
    for (unsigned i = 0; i < KEPT; i++) {
        kept[i] = make_set(i);
    }
    for (size_t i = 0; i < STORM_THREADS; i++) {
        check(pthread_create(&threads[i], NULL, work, (void *)i) == 0, "a thread");
    }
    say_and_wait("storms");
    __atomic_store_n(&storm_over, true, __ATOMIC_RELAXED);
    for (size_t i = 0; i < STORM_THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    say_and_wait("over");
}

/* ---- keys ---- */

enum { KEYS = 300, KEY_THREADS = 4 };

static int new_key(const char *key)
{
    const char *const pairs[] = {key, "1"};
    pprof_do(pairs, 1, nothing, NULL);
    return 0;
}

/* All threads make the same keys, each from another one on. */
static void *make_keys(void *first)
{
    for (unsigned i = 0; i < KEYS; i++) {
        char key[16];
        snprintf(key, sizeof key, "key-%u", (unsigned)((i + (size_t)first) % KEYS));
        const char *const pairs[] = {key, "1"};
        pprof_labels_unref(pprof_labels_new(NULL, pairs, 1));
    }
    return NULL;
}

static void keys(void)
{
    pthread_t threads[KEY_THREADS];
    static const char *const last[] = {"one key too many", "1"};
    for (size_t i = 0; i < KEY_THREADS; i++) {
        check(pthread_create(&threads[i], NULL, make_keys, (void *)(i * 3)) == 0, "a thread");
    }
    for (size_t i = 0; i < KEY_THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    show(last, 1, "keys");
}

static void adds(void)
{
    new_key("old");
    say_and_wait("adds");
    new_key("new");
    raise(SIGSTOP);
}

static void grows(void)
{
    enum { GROWS_TO = 250 };
    const struct timespec pause = {.tv_nsec = 500000};
    say_and_wait("waits");
    for (unsigned i = 0; i < GROWS_TO; i++) {
        char key[16];
        snprintf(key, sizeof key, "key-%u", i);
        new_key(key);
        nanosleep(&pause, NULL); /* a reader may look */
    }
    say_and_wait("over");
}

/* ---- forks ---- */

static void expect_success(pid_t child)
{
    int status = 1;
    check(child > 0 && waitpid(child, &status, 0) == child && status == 0, "a child");
}

static void forks(void)
{
    static const char *const tenant[] = {"tenant", "a"};
    pprof_set_thread_labels(pprof_labels_new(NULL, tenant, 1));
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0);
    if (child == 0) {
        _exit(new_key("after clone"));
    }
    expect_success(child);
    child = fork();
    if (child == 0) {
        new_key("after fork");
        say_and_wait("child");
        exit(0);
    }
    expect_success(child);
    say_and_wait("parent");
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "shown") == 0) {
        shown();
    } else if (strcmp(what, "steps") == 0) {
        steps();
    } else if (strcmp(what, "storm") == 0) {
        storm(change_all_the_time);
    } else if (strcmp(what, "kept") == 0) {
        storm(change_kept);
    } else if (strcmp(what, "keys") == 0) {
        keys();
    } else if (strcmp(what, "adds") == 0) {
        adds();
    } else if (strcmp(what, "grows") == 0) {
        grows();
    } else if (strcmp(what, "forks") == 0) {
        forks();
    } else {
        fprintf(stderr, "usage: otel shown|steps|storm|kept|keys|adds|grows|forks\n");
        return 2;
    }
    return 0;
}
