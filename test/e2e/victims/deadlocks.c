/* SPDX-License-Identifier: MIT
 *
 * deadlocks: threads that wait for each other, and some that seem to, each named by its part. Prints
 * "ready" when all have begun.
 *
 *   first, second, third    a ring: a recursive mutex, one that checks errors, a normal one
 *   robust 1, robust 2      two robust mutexes
 *   joining, joined         waits for the end of the other, who wants its mutex
 *   reading, writing        wants to read what the other writes, and has the mutex that that one wants
 *   timed 1, timed 2        as `robust`, but both give up after an hour: no deadlock
 *   inheritor               wants a mutex with priority inheritance that the first thread holds
 *   stranger                wants a mutex that another process holds
 *   native                  wants a lock of another kind, which has other things beside its word
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 14, MUTEXES = 12, HOUR_S = 3600 };

/* What a thread holds, and what it then wants. */
typedef struct part {
    const char *name;
    unsigned holds, wants;
    void (*want)(const struct part *part);
} part;

static pthread_mutex_t mutexes[MUTEXES], *shared;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t all;
static pthread_t threads[THREADS];
static const part parts[THREADS];

enum {
    RECURSIVE,
    CHECKED,
    NORMAL,
    ROBUST,
    OTHER_ROBUST,
    JOINERS,
    READERS,
    TIMED,
    OTHER_TIMED,
    PI,
    NONE
};

static void want_mutex(const part *p)
{
    pthread_mutex_lock(&mutexes[p->wants]);
}

static void want_for_an_hour(const part *p)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += HOUR_S;
    pthread_mutex_timedlock(&mutexes[p->wants], &end);
}

static void want_end(const part *p)
{
    pthread_join(threads[p->wants], NULL);
}

static void want_to_read(const part *p)
{
    (void)p;
    pthread_rwlock_rdlock(&table);
}

static void want_what_is_shared(const part *p)
{
    (void)p;
    pthread_mutex_lock(shared);
}

/* Where a mutex of pthread has its holder, it has the id of a thread that never was. */
__attribute__((noinline)) static void native_mutex_lock(void)
{
    static unsigned lock[] = {2, 0, 0x3ffffff0};
    for (;;)
        syscall(SYS_futex, lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static void want_another_kind(const part *p)
{
    (void)p;
    native_mutex_lock();
}

static const part parts[THREADS] = {
    {"joined", NONE, JOINERS, want_mutex},
    {"joining", JOINERS, 0, want_end},
    {"first", RECURSIVE, CHECKED, want_mutex},
    {"second", CHECKED, NORMAL, want_mutex},
    {"third", NORMAL, RECURSIVE, want_mutex},
    {"robust 1", ROBUST, OTHER_ROBUST, want_mutex},
    {"robust 2", OTHER_ROBUST, ROBUST, want_mutex},
    {"reading", READERS, 0, want_to_read},
    {"writing", NONE, READERS, want_mutex},
    {"timed 1", TIMED, OTHER_TIMED, want_for_an_hour},
    {"timed 2", OTHER_TIMED, TIMED, want_for_an_hour},
    {"inheritor", NONE, PI, want_mutex},
    {"stranger", NONE, 0, want_what_is_shared},
    {"native", NONE, 0, want_another_kind},
};

static void *play(void *argument)
{
    const part *p = argument;
    prctl(PR_SET_NAME, p->name);
    if (p->holds != NONE)
        pthread_mutex_lock(&mutexes[p->holds]);
    if (p->want == want_mutex && p->wants == READERS)
        pthread_rwlock_wrlock(&table);
    pthread_barrier_wait(&all);
    p->want(p);
    return NULL;
}

static void init(pthread_mutex_t *mutex, int type, int robust, int protocol, int sharing)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutexattr_setrobust(&attributes, robust);
    pthread_mutexattr_setprotocol(&attributes, protocol);
    pthread_mutexattr_setpshared(&attributes, sharing);
    if (pthread_mutex_init(mutex, &attributes) != 0)
        exit(1);
}

static void init_all(void)
{
    for (unsigned i = 0; i < MUTEXES; i++)
        init(&mutexes[i],
             i == RECURSIVE ? PTHREAD_MUTEX_RECURSIVE
             : i == CHECKED ? PTHREAD_MUTEX_ERRORCHECK
                            : PTHREAD_MUTEX_NORMAL,
             i == ROBUST || i == OTHER_ROBUST ? PTHREAD_MUTEX_ROBUST : PTHREAD_MUTEX_STALLED,
             i == PI ? PTHREAD_PRIO_INHERIT : PTHREAD_PRIO_NONE, PTHREAD_PROCESS_PRIVATE);
    init(shared, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE,
         PTHREAD_PROCESS_SHARED);
}

/* Another process takes the shared mutex. */
static void lend_shared(void)
{
    int taken[2];
    char byte = 0;
    if (pipe(taken) != 0)
        exit(1);
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pthread_mutex_lock(shared);
        if (write(taken[1], &byte, 1) == 1)
            pause();
        _exit(0);
    }
    if (read(taken[0], &byte, 1) != 1)
        exit(1);
}

int main(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    init_all();
    lend_shared();
    pthread_mutex_lock(&mutexes[PI]);
    pthread_barrier_init(&all, NULL, THREADS + 1);
    for (unsigned i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, play, (void *)&parts[i]) != 0)
            return 1;
    pthread_barrier_wait(&all);
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}
