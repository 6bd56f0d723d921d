/* SPDX-License-Identifier: MIT
 *
 * old_conditions.c: conditions as programs of before glibc 2.3.2 have them: a pointer, to what the
 * old
 * functions allocate. Usage: old_conditions old|now|LIBRARY
 *
 * old asks for the old version, now for the one that is linked to by default. A LIBRARY has
 * functions wait_plainly, timedwait_plainly and signal_plainly, which call libc's without any
 * version: libc gives such callers the old ones, too.
 *
 * Two threads take turns a hundred times, one wait runs out of time, and one thread is cancelled
 * while it waits. Ends with 0 if all went as it should.
 *
 * Libc: glibc
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The version of what glibc has had from the architecture's beginning. */
#if defined(__x86_64__)
#define FIRST_GLIBC "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define FIRST_GLIBC "GLIBC_2.17"
#endif

enum { TURNS = 100, BYTES_OF_OLD = sizeof(void *) };

extern int old_wait(pthread_cond_t *, pthread_mutex_t *);
extern int old_timedwait(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
extern int old_signal(pthread_cond_t *);
__asm__(".symver old_wait, pthread_cond_wait@" FIRST_GLIBC);
__asm__(".symver old_timedwait, pthread_cond_timedwait@" FIRST_GLIBC);
__asm__(".symver old_signal, pthread_cond_signal@" FIRST_GLIBC);

typedef struct functions {
    int (*wait)(pthread_cond_t *, pthread_mutex_t *);
    int (*timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    int (*signal)(pthread_cond_t *);
} functions;

static functions use;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition;
static int turn;

static void await_turn(int mine)
{
    while (turn % 2 != mine) {
        use.wait(&condition, &mutex);
    }
}

static void *takes_turns(void *mine)
{
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < TURNS; i++) {
        await_turn(*(int *)mine);
        turn++;
        use.signal(&condition);
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void unlock(void *unused)
{
    (void)unused;
    pthread_mutex_unlock(&mutex);
}

static void *is_cancelled(void *waits)
{
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, NULL);
    *(int *)waits = 1;
    for (;;) {
        use.wait(&condition, &mutex);
    }
    pthread_cleanup_pop(0);
    return NULL;
}

static int cancel_one(void)
{
    pthread_t thread;
    void *result = NULL;
    int waits = 0;
    int seen = 0;
    pthread_create(&thread, NULL, is_cancelled, &waits);
    while (!seen) {
        pthread_mutex_lock(&mutex);
        seen = waits;
        pthread_mutex_unlock(&mutex);
    }
    pthread_cancel(thread);
    pthread_join(thread, &result);
    return result == PTHREAD_CANCELED;
}

static functions choose(const char *which)
{
    if (strcmp(which, "now") == 0) {
        return (functions){pthread_cond_wait, pthread_cond_timedwait, pthread_cond_signal};
    }
    if (strcmp(which, "old") == 0) {
        return (functions){old_wait, old_timedwait, old_signal};
    }
    void *library = dlopen(which, RTLD_NOW);
    functions plain = {NULL};
    if (library == NULL || (*(void **)&plain.wait = dlsym(library, "wait_plainly")) == NULL ||
        (*(void **)&plain.timedwait = dlsym(library, "timedwait_plainly")) == NULL ||
        (*(void **)&plain.signal = dlsym(library, "signal_plainly")) == NULL) {
        exit(3);
    }
    return plain;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    int numbers[2] = {0, 1};
    const struct timespec past = {.tv_sec = 1};
    static const char nothing[sizeof condition - BYTES_OF_OLD];
    if (argc != 2) {
        return 4;
    }
    use = choose(argv[1]);
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, takes_turns, &numbers[i]);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_mutex_lock(&mutex);
    int timed_out = use.timedwait(&condition, &mutex, &past) == ETIMEDOUT;
    pthread_mutex_unlock(&mutex);
    if (turn != 2 * TURNS || !timed_out || !cancel_one()) {
        return 1;
    }
    /* The old functions must not have written behind their pointer. */
    int untouched = memcmp((const char *)&condition + BYTES_OF_OLD, nothing, sizeof nothing) == 0;
    return strcmp(argv[1], "now") == 0 || untouched ? 0 : 2;
}
