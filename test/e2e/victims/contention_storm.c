/* SPDX-License-Identifier: MIT
 *
 * contention_storm.c: waits that never come back, beside threads that fight for locks as one does.
 *
 * Usage: contention_storm jump|cancel|vfork SECONDS
 *        contention_storm library SECONDS LIBRARY plain|deep
 *
 *   jump     signals come all the time; their handler takes a lock of its own and jumps out of the
 *            wait, or out of whatever the thread was at
 *   cancel   threads wait with asynchronous cancellation, and are cancelled
 *   vfork    the child of a vfork waits, and is killed: it was running in its parent's memory
 *   library  locks are taken here and released by functions of a library that was loaded late,
 *            which may be bound to libc directly; and the other way round
 *
 * What they wait for is held all the time, so that nobody is left with a lock that it does not know
 * of. Ends with 42 if the fighters have counted right.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef RTLD_DEEPBIND /* musl has none */
#define RTLD_DEEPBIND 0
#endif

enum { FIGHTERS = 3, VICTIMS = 2, MUTEXES = 4 };

static pthread_mutex_t fought_for[MUTEXES] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                              PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static long counts[MUTEXES];
static bool stop;

static int (*other_lock)(pthread_mutex_t *) = pthread_mutex_lock;
static int (*other_unlock)(pthread_mutex_t *) = pthread_mutex_unlock;

static bool goes_on(void)
{
    return !__atomic_load_n(&stop, __ATOMIC_ACQUIRE);
}

/* Every other time by way of the library, if there is one. */
static void *fights(void *turns)
{
    for (unsigned i = 0; goes_on(); i++) {
        pthread_mutex_t *mutex = &fought_for[i % MUTEXES];
        (i % 2 == 0 ? pthread_mutex_lock : other_lock)(mutex);
        counts[i % MUTEXES]++;
        for (unsigned k = 0; k < 200; k++) {
            __asm__ volatile("");
        }
        (i % 3 == 0 ? pthread_mutex_unlock : other_unlock)(mutex);
        ++*(long *)turns;
    }
    return NULL;
}

/* ---- jump ---- */

static _Thread_local sigjmp_buf out;
static _Thread_local volatile sig_atomic_t may_jump;
static _Thread_local pthread_mutex_t *own;

static void jump_out(int signal)
{
    (void)signal;
    if (may_jump) {
        may_jump = 0;
        pthread_mutex_lock(own);
        pthread_mutex_unlock(own);
        siglongjmp(out, 1);
    }
}

static void *waits_and_jumps(void *jumps)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    own = &mutex;
    while (goes_on()) {
        if (sigsetjmp(out, 1) == 0) {
            may_jump = 1;
            pthread_mutex_lock(&held);
            abort();
        }
        ++*(long *)jumps;
    }
    return NULL;
}

static bool jump_for(const struct timespec *end)
{
    pthread_t threads[VICTIMS];
    long jumps[VICTIMS] = {0};
    struct timespec now;
    const struct timespec pause = {.tv_nsec = 50000};
    signal(SIGUSR1, jump_out);
    for (int i = 0; i < VICTIMS; i++) {
        pthread_create(&threads[i], NULL, waits_and_jumps, &jumps[i]);
    }
    do {
        for (int i = 0; i < VICTIMS; i++) {
            pthread_kill(threads[i], SIGUSR1);
        }
        nanosleep(&pause, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec < end->tv_sec);
    __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
    for (int i = 0; i < VICTIMS; i++) {
        /* It may have begun to wait since. */
        while (pthread_tryjoin_np(threads[i], NULL) != 0) {
            pthread_kill(threads[i], SIGUSR1);
            sched_yield();
        }
    }
    return jumps[0] > 0 && jumps[1] > 0;
}

/* ---- cancel ---- */

static void *waits_for_cancellation(void *ready)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    __atomic_store_n((bool *)ready, true, __ATOMIC_RELEASE);
    pthread_mutex_lock(&held);
    abort();
}

/* Until the thread sleeps: cancelled elsewhere it might hold a lock of libc. */
static void await_sleep(const bool *ready, unsigned spins)
{
    while (!__atomic_load_n(ready, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
    const struct timespec a_while = {.tv_nsec = 1000L * (long)spins};
    nanosleep(&a_while, NULL);
}

static bool cancel_for(const struct timespec *end)
{
    struct timespec now;
    unsigned count = 0;
    do {
        pthread_t thread;
        void *result = NULL;
        bool ready = false;
        if (pthread_create(&thread, NULL, waits_for_cancellation, &ready) != 0) {
            return false;
        }
        await_sleep(&ready, 100 + count++ % 400);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        if (result != PTHREAD_CANCELED) {
            return false;
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec < end->tv_sec);
    return true;
}

/* ---- vfork ---- */

static pid_t child;

static void *kills_children(void *kills)
{
    while (goes_on()) {
        pid_t pid = __atomic_exchange_n(&child, 0, __ATOMIC_ACQ_REL);
        if (pid == 0) {
            sched_yield();
            continue;
        }
        const struct timespec a_while = {.tv_nsec = 200000};
        nanosleep(&a_while, NULL);
        kill(pid, SIGKILL);
        ++*(long *)kills;
    }
    return NULL;
}

static __attribute__((noinline, noreturn)) void waits_as_child(void)
{
    __atomic_store_n(&child, getpid(), __ATOMIC_RELEASE);
    pthread_mutex_lock(&held);
    _exit(1);
}

static bool vfork_for(const struct timespec *end)
{
    pthread_t killer;
    long kills = 0;
    struct timespec now;
    pthread_create(&killer, NULL, kills_children, &kills);
    do {
        int status = 0;
        pid_t pid = vfork();
        if (pid == 0) {
            waits_as_child();
        }
        if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status)) {
            return false;
        }
        /* This thread's own waits go on. */
        pthread_mutex_lock(&fought_for[0]);
        pthread_mutex_unlock(&fought_for[0]);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec < end->tv_sec);
    __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
    pthread_join(killer, NULL);
    return kills > 0;
}

/* ---- library ---- */

static bool load(const char *path, int flags)
{
    void *library = dlopen(path, RTLD_NOW | flags);
    return library != NULL && (*(void **)&other_lock = dlsym(library, "other_lock")) != NULL &&
           (*(void **)&other_unlock = dlsym(library, "other_unlock")) != NULL;
}

static bool wait_for(const struct timespec *end)
{
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, end, NULL);
    return true;
}

typedef struct holder {
    bool (*storm)(const struct timespec *);
    struct timespec end;
    bool good;
} holder;

/* The storm's thread ends before the process does, and holds what the others wait for. */
static void *runs_storm(void *context)
{
    holder *h = context;
    h->good = h->storm(&h->end);
    return NULL;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        bool (*storm)(const struct timespec *);
    } storms[] = {
        {"jump", jump_for}, {"cancel", cancel_for}, {"vfork", vfork_for}, {"library", wait_for}};
    pthread_t threads[FIGHTERS];
    pthread_t thread;
    long turns[FIGHTERS] = {0};
    holder h = {.storm = NULL};
    for (size_t i = 0; argc >= 3 && i < sizeof storms / sizeof *storms; i++) {
        if (strcmp(argv[1], storms[i].name) == 0) {
            h.storm = storms[i].storm;
        }
    }
    if (h.storm == NULL ||
        (argc == 5 && !load(argv[3], strcmp(argv[4], "deep") == 0 ? RTLD_DEEPBIND : 0))) {
        return 1;
    }
    clock_gettime(CLOCK_MONOTONIC, &h.end);
    h.end.tv_sec += atoi(argv[2]);
    pthread_mutex_lock(&held);
    for (int i = 0; i < FIGHTERS; i++) {
        pthread_create(&threads[i], NULL, fights, &turns[i]);
    }
    pthread_create(&thread, NULL, runs_storm, &h);
    pthread_join(thread, NULL);
    __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
    long sum = 0;
    for (int i = 0; i < FIGHTERS; i++) {
        pthread_join(threads[i], NULL);
        sum += turns[i];
    }
    for (int i = 0; i < MUTEXES; i++) {
        sum -= counts[i];
    }
    pthread_mutex_unlock(&held);
    return h.good && sum == 0 ? 42 : 2;
}
