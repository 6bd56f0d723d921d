/* SPDX-License-Identifier: MIT
 *
 * heap_jumps.c: a thread that allocates all the time, and a signal handler that interrupts it wherever it
 * is. For an allocator that does not mind (test_jumps.sh brings one).
 *
 * Usage: heap_jumps jump|fork COUNT
 *
 *   jump  the handler jumps out of it
 *   fork  the handler forks; the child goes on where the thread was, and must come to its end
 *
 * Afterwards the same thread, and another one, allocate AFTER blocks that stay (allocates_after) and as
 * many that do not (frees_after). Ends with 42.
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
#include <sys/wait.h>
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
    atomic_fetch_add(&interrupted, 1);
    if (!forks) {
        siglongjmp(out, signal);
    }
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

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = on_signal};
    pthread_t thread;
    pthread_t other;
    if (argc != 3) {
        return 1;
    }
    forks = strcmp(argv[1], "fork") == 0;
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&thread, NULL, is_interrupted, NULL);
    while (atomic_load(&tid) == 0) {
    }
    for (int i = 0; i < atoi(argv[2]); i++) {
        pthread_kill(thread, SIGUSR1);
        while (atomic_load(&interrupted) <= i) {
            syscall(SYS_sched_yield);
        }
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    pthread_create(&other, NULL, is_not, NULL);
    pthread_join(other, NULL);
    return STATUS;
}
