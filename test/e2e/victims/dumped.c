/* SPDX-License-Identifier: MIT
 *
 * dumped: threads that wait for locks, for each other and for nothing, each named by what it does, and
 * one that runs. Prints "ready" when all have begun. At SIGTERM prints how often a call of its threads
 * was interrupted, and ends.
 *
 *   left, right   each holds a lock and wants the other's          deadlock
 *   behind        wants the lock that `left` holds
 *   itself        wants a lock that it holds                       deadlock
 *   orphan        wants a lock whose holder has ended
 *   reader        wants to read what the first thread writes
 *   joiner        waits for the end of `behind`
 *   waiter        waits for a condition
 *   sleeper       sleeps 20 ms again and again
 *   runner        runs, 10 calls deep
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifdef __GLIBC__
#define SAYS_HOLDER PTHREAD_MUTEX_INITIALIZER
#define CHECKED     PTHREAD_MUTEX_INITIALIZER
#else /* musl's do, if they are robust or check errors */
#define SAYS_HOLDER                                                                                \
    {                                                                                              \
        {                                                                                          \
            {                                                                                      \
                4                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
#define CHECKED                                                                                    \
    {                                                                                              \
        {                                                                                          \
            {                                                                                      \
                PTHREAD_MUTEX_ERRORCHECK                                                           \
            }                                                                                      \
        }                                                                                          \
    }
#endif
static pthread_mutex_t lefts = SAYS_HOLDER, rights = SAYS_HOLDER, own = SAYS_HOLDER,
                       left_over = CHECKED, conditions = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t both;
static pthread_t behinds;
static volatile unsigned long turns;
static unsigned begun, interrupted;

static void begin(const char *name)
{
    prctl(PR_SET_NAME, name);
    __atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST);
}

static void *left(void *unused)
{
    begin("left");
    pthread_mutex_lock(&lefts);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&rights);
    return unused;
}

static void *right(void *unused)
{
    begin("right");
    pthread_mutex_lock(&rights);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&lefts);
    return unused;
}

static void *behind(void *unused)
{
    begin("behind");
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&lefts);
    return unused;
}

static void *itself(void *unused)
{
    begin("itself");
    pthread_mutex_lock(&own);
    pthread_mutex_lock(&own);
    return unused;
}

static void *ends_with_lock(void *unused)
{
    pthread_mutex_lock(&left_over);
    return unused;
}

static void *orphan(void *unused)
{
    begin("orphan");
    pthread_mutex_lock(&left_over);
    return unused;
}

static void *reader(void *unused)
{
    begin("reader");
    pthread_rwlock_rdlock(&table);
    return unused;
}

static void *joiner(void *unused)
{
    begin("joiner");
    pthread_join(behinds, NULL);
    return unused;
}

static void *waiter(void *unused)
{
    begin("waiter");
    pthread_mutex_lock(&conditions);
    for (;;)
        pthread_cond_wait(&never, &conditions);
    return unused;
}

static void *sleeper(void *unused)
{
    begin("sleeper");
    for (;;)
        if (poll(NULL, 0, 20) < 0 && errno == EINTR)
            __atomic_add_fetch(&interrupted, 1, __ATOMIC_SEQ_CST);
    return unused;
}

static __attribute__((noinline)) unsigned long go_deeper(int calls)
{
    if (calls > 0)
        return go_deeper(calls - 1) + turns;
    while (turns + 1 != 0)
        turns++;
    return turns;
}

static void *runner(void *unused)
{
    begin("runner");
    go_deeper(10);
    return unused;
}

static void finish(int signal)
{
    char digit = (char)('0' + (interrupted < 9 ? interrupted : 9));
    (void)signal;
    _exit(write(STDOUT_FILENO, "interrupted ", 12) == 12 && write(STDOUT_FILENO, &digit, 1) == 1 &&
                  write(STDOUT_FILENO, "\n", 1) == 1
              ? 0
              : 1);
}

int main(void)
{
    static void *(*const bodies[])(void *) = {left,   right,  itself,  orphan, reader,
                                              joiner, waiter, sleeper, runner};
    enum { THREADS = sizeof bodies / sizeof *bodies };
    sigset_t term;
    pthread_t thread;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    signal(SIGTERM, finish);
    pthread_sigmask(SIG_BLOCK, &term, NULL);
    pthread_barrier_init(&both, NULL, 3);
    pthread_rwlock_wrlock(&table);
    if (pthread_create(&thread, NULL, ends_with_lock, NULL) != 0 ||
        pthread_join(thread, NULL) != 0 || pthread_create(&behinds, NULL, behind, NULL) != 0)
        return 1;
    for (unsigned i = 0; i < THREADS; i++)
        if (pthread_create(&thread, NULL, bodies[i], NULL) != 0)
            return 1;
    while (__atomic_load_n(&begun, __ATOMIC_SEQ_CST) < THREADS + 1)
        usleep(1000);
    puts("ready");
    fflush(stdout);
    pthread_sigmask(SIG_UNBLOCK, &term, NULL);
    for (;;)
        pause();
}
