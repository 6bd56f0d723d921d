/* SPDX-License-Identifier: MIT
 *
 * heap_jumps.c: a thread that allocates all the time, and a signal handler that interrupts it
 * wherever it is. For an allocator that does not mind (test_jumps.sh brings one).
 *
 * Usage: heap_jumps jump|fork|cancel COUNT
 *
 *   jump  the handler jumps out of it
 *   fork  the handler forks; the child goes on where the thread was, and must come to its end
 *   cancel  no handler: as many threads are cancelled, wherever they are
 *
 * Afterwards the same thread, and another one, allocate AFTER blocks that stay (allocates_after)
 * and as many that do not (frees_after). Ends with 42.
 *
 * Flags: -pthread
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STATUS = 42, AFTER = 1000, DEPTHS = 6, IN_CHILD = 2000 };

static atomic_int tid, interrupted;
static atomic_bool over, is_child;
static bool forks;
static sigjmp_buf out;
static void *volatile kept;

static __attribute__((noinline)) void allocates_after(void)
{
    for (int i = 0; i < AFTER; i++) {
        kept = malloc(100);
    }
}

static __attribute__((noinline)) void frees_after(void)
{
    for (int i = 0; i < AFTER; i++) {
        kept = malloc(100);
        free(kept);
    }
}

static __attribute__((noinline)) int allocates(int depth)
{
    if (depth > 0) {
        return allocates(depth - 1) + 1;
    }
    void *block = malloc(24);
    kept = block;
    block = realloc(block, 200);
    kept = block;
    free(block);
    return 0;
}

static void on_signal(int signal)
{
    if (!forks) {
        if (atomic_load(&over)) {
            return;
        }
        atomic_fetch_add(&interrupted, 1);
        siglongjmp(out, signal);
    }
    atomic_fetch_add(&interrupted, 1);
    pid_t child = fork();
    if (child == 0) {
        atomic_store(&is_child, true);
        return;
    }
    int status = -1;
    waitpid(child, &status, 0);
    if (status != 0) {
        syscall(SYS_exit_group, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : 1);
    }
}

static void go_on_in_child(void)
{
    for (int i = 0; i < IN_CHILD; i++) {
        allocates(i % DEPTHS);
    }
    _exit(0);
}

static void *is_interrupted(void *unused)
{
    sigsetjmp(out, 1);
    atomic_store(&tid, (int)syscall(SYS_gettid));
    for (unsigned i = 0; !atomic_load(&over); i++) {
        allocates((int)(i % DEPTHS));
        if (atomic_load(&is_child)) {
            go_on_in_child();
        }
    }
    allocates_after();
    frees_after();
    return unused;
}

static void *is_not(void *unused)
{
    allocates_after();
    frees_after();
    return unused;
}

static void send_signals(long period_us)
{
    const struct itimerval period = {.it_interval.tv_usec = period_us,
                                     .it_value.tv_usec = period_us};
    setitimer(ITIMER_REAL, &period, NULL);
}

/* The kernel sends them to the only thread that is open to them, while it runs. */
static void jump_out(int count)
{
    enum { PERIOD_US = 50 };
    const struct timespec little = {.tv_nsec = 1000000};
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, NULL);
    send_signals(PERIOD_US);
    while (atomic_load(&interrupted) < count) {
        nanosleep(&little, NULL);
    }
    atomic_store(&over, true);
    send_signals(0);
}

/* One at a time. */
static void fork_there(pthread_t thread, int count)
{
    for (int i = 0; i < count; i++) {
        pthread_kill(thread, SIGALRM);
        while (atomic_load(&interrupted) <= i) {
            syscall(SYS_sched_yield);
        }
    }
    atomic_store(&over, true);
}

static void *is_cancelled(void *unused)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (unsigned i = 0;; i++) {
        allocates((int)(i % DEPTHS));
        if (i == 10) {
            atomic_fetch_add(&interrupted, 1);
        }
    }
    return unused;
}

static void cancel_threads(int count)
{
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, is_cancelled, NULL);
        while (atomic_load(&interrupted) <= i) {
            syscall(SYS_sched_yield);
        }
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    atomic_store(&interrupted, 0);
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = on_signal};
    pthread_t thread;
    pthread_t other;
    if (argc != 3) {
        return 1;
    }
    int count = atoi(argv[2]);
    forks = strcmp(argv[1], "fork") == 0;
    if (strcmp(argv[1], "cancel") == 0) {
        cancel_threads(count);
        count = 0;
    }
    sigaction(SIGALRM, &action, NULL);
    pthread_create(&thread, NULL, is_interrupted, NULL);
    while (atomic_load(&tid) == 0) {
    }
    if (forks) {
        fork_there(thread, count);
    } else {
        jump_out(count);
    }
    pthread_join(thread, NULL);
    pthread_create(&other, NULL, is_not, NULL);
    pthread_join(other, NULL);
    return STATUS;
}
