/* SPDX-License-Identifier: MIT
 *
 * jumps.c: threads that wait and never return from it: a signal handler jumps out of the wait.
 * Afterwards the thread ends in one of the ways there are. Every way out of every wait is tried,
 * with the handler on the thread's stack and on an alternate one; a line is printed for each. A
 * handler that ends the thread where it is, in the middle of the wait, is among them.
 *
 * Flags: -pthread
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STATUS = 42, SPARE_STACK = 64 * 1024 };

enum way { RETURNS, EXITS, IS_CANCELLED, EXITS_BELOW, EXITS_INSIDE, WAYS };
static const char *const ways[WAYS] = {"returns", "exits", "is cancelled", "exits further down",
                                       "exits inside"};

struct trial {
    pthread_mutex_t mutex, free_mutex;
    pthread_cond_t condition;
    pthread_rwlock_t rwlock;
    pthread_barrier_t barrier;
    sem_t semaphore;
    pthread_t sleeper;
    void (*wait)(struct trial *);
    enum way way;
    bool on_spare_stack;
    atomic_int tid, jumped;
};

static __thread sigjmp_buf out;
static __thread bool exits_inside;

static void jump_out(int signal)
{
    if (exits_inside) {
        pthread_exit((void *)3);
    }
    siglongjmp(out, signal);
}

/* ---- what is waited for, for ever ---- */

static void wait_for_condition(struct trial *t)
{
    pthread_mutex_lock(&t->free_mutex);
    pthread_cond_wait(&t->condition, &t->free_mutex);
}

static void wait_for_condition_with_limit(struct trial *t)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 3600;
    pthread_mutex_lock(&t->free_mutex);
    pthread_cond_timedwait(&t->condition, &t->free_mutex, &until);
}

static void wait_for_semaphore(struct trial *t)
{
    while (sem_wait(&t->semaphore) != 0) {
    }
}

static void wait_for_thread(struct trial *t)
{
    pthread_join(t->sleeper, NULL);
}

static void wait_for_mutex(struct trial *t)
{
    pthread_mutex_lock(&t->mutex);
}

static void wait_as_reader(struct trial *t)
{
    pthread_rwlock_rdlock(&t->rwlock);
}

static void wait_as_writer(struct trial *t)
{
    pthread_rwlock_wrlock(&t->rwlock);
}

static void wait_for_others(struct trial *t)
{
    pthread_barrier_wait(&t->barrier);
}

static const struct {
    const char *name;
    void (*wait)(struct trial *);
} waits[] = {
    {"condition", wait_for_condition}, {"condition with limit", wait_for_condition_with_limit},
    {"semaphore", wait_for_semaphore}, {"thread", wait_for_thread},
    {"mutex", wait_for_mutex},         {"reader", wait_as_reader},
    {"writer", wait_as_writer},        {"barrier", wait_for_others},
};

/* ---- the thread that waits ---- */

static void *sleep_for_ever(void *unused)
{
    for (;;) {
        pause();
    }
    return unused;
}

static void use_spare_stack(void)
{
    stack_t spare = {.ss_sp = malloc(SPARE_STACK), .ss_size = SPARE_STACK};
    sigaltstack(&spare, NULL);
}

/* The frames of the wait that was left are written over. */
static __attribute__((noinline)) void exit_below(void)
{
    volatile char room[4096];
    for (size_t i = 0; i < sizeof room; i++) {
        room[i] = 0x55;
    }
    pthread_exit((void *)(uintptr_t)room[17]);
}

static __attribute__((noinline)) void wait_for_ever(struct trial *t)
{
    if (sigsetjmp(out, 1) == 0) {
        atomic_store(&t->tid, (int)syscall(SYS_gettid));
        t->wait(t);
    }
}

static void *wait_and_end(void *argument)
{
    struct trial *t = argument;
    if (t->on_spare_stack) {
        use_spare_stack();
    }
    exits_inside = t->way == EXITS_INSIDE;
    wait_for_ever(t);
    atomic_store(&t->jumped, 1);
    switch (t->way) {
    case EXITS:
        pthread_exit((void *)1);
        break;
    case EXITS_BELOW:
        exit_below();
        break;
    case IS_CANCELLED:
        sleep_for_ever(NULL);
        break;
    default:
        break;
    }
    return (void *)2;
}

/* ---- the one that interrupts it ---- */

/* Whether it sleeps in the kernel, in a futex. */
static bool is_waiting(int tid)
{
    char path[64];
    char text[64] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", tid);
    int fd = open(path, O_RDONLY);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    close(fd);
    return length > 0 && atoi(text) == SYS_futex && strncmp(text, "running", 7) != 0;
}

static void pause_a_little(void)
{
    const struct timespec little = {.tv_nsec = 1000000};
    nanosleep(&little, NULL);
}

static void set_up(struct trial *t)
{
    pthread_mutex_init(&t->mutex, NULL);
    pthread_mutex_init(&t->free_mutex, NULL);
    pthread_cond_init(&t->condition, NULL);
    pthread_rwlock_init(&t->rwlock, NULL);
    pthread_barrier_init(&t->barrier, NULL, 2);
    sem_init(&t->semaphore, 0, 0);
    pthread_create(&t->sleeper, NULL, sleep_for_ever, NULL);
    pthread_mutex_lock(&t->mutex);
    pthread_rwlock_wrlock(&t->rwlock);
}

static uintptr_t try(unsigned wait, enum way way, bool on_spare_stack)
{
    struct trial *t = calloc(1, sizeof *t); /* never freed: the sleeper is still waited for */
    pthread_t thread;
    void *result = NULL;
    set_up(t);
    t->wait = waits[wait].wait;
    t->way = way;
    t->on_spare_stack = on_spare_stack;
    pthread_create(&thread, NULL, wait_and_end, t);
    while (atomic_load(&t->tid) == 0 || !is_waiting(atomic_load(&t->tid))) {
        pause_a_little();
    }
    pthread_kill(thread, on_spare_stack ? SIGUSR2 : SIGUSR1);
    while (atomic_load(&t->jumped) == 0 && way != EXITS_INSIDE) {
        pause_a_little();
    }
    if (way == IS_CANCELLED) {
        pthread_cancel(thread);
    }
    pthread_join(thread, &result);
    return (uintptr_t)result;
}

int main(void)
{
    struct sigaction action = {.sa_handler = jump_out};
    sigaction(SIGUSR1, &action, NULL);
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR2, &action, NULL);
    for (unsigned i = 0; i < sizeof waits / sizeof *waits; i++) {
        for (enum way way = 0; way < WAYS; way++) {
            for (int spare = 0; spare < 2; spare++) {
                uintptr_t result = try(i, way, spare != 0);
                printf("%s, %s, %d: %zx\n", waits[i].name, ways[way], spare, result);
                fflush(stdout);
            }
        }
    }
    return STATUS;
}
