/* SPDX-License-Identifier: MIT
 *
 * borrowed.c: a program that knows when one of its threads is made to load a library: it brings its own malloc, and notices
 * a call of it on a thread that waits. At this moment something happens to the thread:
 *
 *   jump WAIT       a signal, whose handler jumps out of the wait
 *   cancel WAIT     another thread cancels it
 *   interrupt WAIT  a signal without SA_RESTART: the wait ends with EINTR
 *   mask WAIT       the same, of a process whose other threads block the signal
 *   identity WAIT   another thread changes the user of all threads
 *   touch WAIT      malloc gives a page without rights, which a handler of SIGSEGV makes writable
 *
 *   WAIT: read poll ppoll epoll nanosleep cond
 *
 * It says "ready"; "borrowed" at that moment; what becomes of the wait: "jumped", "cancelled", "EINTR" or "it returned", which
 * a byte makes it do in the last two ways. Then it uses malloc and the loader on two threads, says "over", and ends with status 7.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STATUS = 7, PAGE = 64 * 1024 /* the largest there is */, PATIENCE_S = 2, LONG_S = 1000 };

static const char *way, *wait_name;
static int silent[2], waiting_epoll;
static pthread_t waiter;
static sigjmp_buf before_wait;
static volatile bool waits; /* the thread is in the call */
static volatile sig_atomic_t inside;
static int borrowed, answered, ended; /* futexes */
static _Alignas(PAGE) char forbidden[PAGE];

/* Nobody borrows a thread that waits like this, without a function of libc: it may hold any lock. */
static void wait_for(int *word, long seconds)
{
    const struct timespec time = {.tv_sec = seconds};
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == 0 &&
           (syscall(SYS_futex, word, FUTEX_WAIT, 0, &time, NULL, 0) == 0 || errno != ETIMEDOUT)) {
    }
}

static void wake(int *word)
{
    __atomic_store_n(word, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void say(const char *words)
{
    char line[64];
    size_t length = strlen(words);
    memcpy(line, words, length);
    line[length] = '\n';
    if (write(STDOUT_FILENO, line, length + 1) < 0) {
        _exit(1);
    }
}

/* ---- the allocator ---- */

static _Alignas(16) char memory[64 << 20];
static size_t used;

static bool is_way(const char *name)
{
    return strcmp(way, name) == 0;
}

static bool has_other(void)
{
    return is_way("cancel") || is_way("mask") || is_way("identity");
}

/* Runs on the thread that waits. */
static void *happen(void)
{
    waits = false;
    say("borrowed");
    wake(&borrowed);
    if (has_other()) {
        wait_for(&answered, PATIENCE_S); /* the other thread may need this one */
    } else if (is_way("touch")) {
        mprotect(forbidden, PAGE, PROT_NONE);
        return forbidden;
    } else {
        inside = 1;
        pthread_kill(waiter, SIGUSR1);
        inside = 0;
    }
    return NULL;
}

void *malloc(size_t size)
{
    void *given = waits && pthread_equal(pthread_self(), waiter) ? happen() : NULL;
    if (given != NULL && size <= PAGE) {
        return given;
    }
    size_t at = __atomic_fetch_add(&used, ((size + 15) & ~(size_t)15) + 16, __ATOMIC_RELAXED);
    memcpy(memory + at, &size, sizeof size);
    return at + size + 16 <= sizeof memory ? memory + at + 16 : NULL;
}

void free(void *block)
{
    (void)block;
}

void *calloc(size_t count, size_t size)
{
    return malloc(count * size); /* never used before */
}

void *realloc(void *block, size_t size)
{
    void *larger = malloc(size);
    size_t old = 0;
    if (block != NULL) {
        memcpy(&old, (char *)block - 16, sizeof old);
        memcpy(larger, block, old < size ? old : size);
    }
    return larger;
}

/* ---- signals ---- */

static void on_signal(int signal)
{
    (void)signal;
    if (inside) {
        say("a handler ran in the middle of the call");
    }
    if (is_way("jump")) {
        siglongjmp(before_wait, 1);
    }
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    if ((char *)info->si_addr < forbidden || (char *)info->si_addr >= forbidden + PAGE ||
        mprotect(forbidden, PAGE, PROT_READ | PROT_WRITE) != 0) {
        _exit(1);
    }
}

/* ---- waits ---- */

static int wait_for_long(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    struct timespec time = {.tv_sec = LONG_S};
    struct pollfd polled = {.fd = silent[0], .events = POLLIN};
    struct epoll_event event;
    char byte;
    switch (wait_name[0] == 'p' ? wait_name[1] : wait_name[0]) {
    case 'r':
        return (int)read(silent[0], &byte, 1);
    case 'o':
        return poll(&polled, 1, LONG_S * 1000);
    case 'p':
        return ppoll(&polled, 1, &time, NULL);
    case 'e':
        return epoll_wait(waiting_epoll, &event, 1, LONG_S * 1000);
    case 'n':
        return clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL) == EINTR ? (errno = EINTR, -1) : 0;
    default:
        pthread_mutex_lock(&mutex);
        return pthread_cond_wait(&condition, &mutex);
    }
}

static void end(void *unused)
{
    (void)unused;
    wake(&ended);
}

static void *wait_and_say(void *unused)
{
    pthread_cleanup_push(end, unused);
    if (sigsetjmp(before_wait, 1) == 0) {
        waits = true;
        int result = wait_for_long();
        say(result == -1 && errno == EINTR ? "EINTR" : "it returned");
    } else {
        say("jumped");
    }
    pthread_cleanup_pop(1);
    return NULL;
}

/* ---- all ---- */

static void do_to_waiter(void)
{
    sigset_t usr1;
    wait_for(&borrowed, LONG_S);
    if (is_way("cancel")) {
        pthread_cancel(waiter);
    } else if (is_way("mask")) {
        sigemptyset(&usr1);
        sigaddset(&usr1, SIGUSR1);
        pthread_sigmask(SIG_BLOCK, &usr1, NULL);
        kill(getpid(), SIGUSR1);
    } else if (setuid(getuid()) != 0) {
        _exit(1);
    }
    wake(&answered);
}

static void *use_all(void *unused)
{
    for (int i = 0; i < 100; i++) {
        void *handle = dlopen("libgcc_s.so.1", RTLD_NOW);
        if (handle == NULL || dlsym(handle, "_Unwind_Backtrace") == NULL || dlclose(handle) != 0) {
            _exit(1);
        }
    }
    return unused;
}

int main(int argc, char **argv)
{
    struct epoll_event readable = {.events = EPOLLIN};
    struct sigaction action = {.sa_handler = on_signal};
    struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    pthread_t other;
    void *result = NULL;
    if (argc != 3 || pipe(silent) != 0) {
        return 2;
    }
    way = argv[1];
    wait_name = argv[2];
    waiting_epoll = epoll_create1(EPOLL_CLOEXEC);
    epoll_ctl(waiting_epoll, EPOLL_CTL_ADD, silent[0], &readable);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGSEGV, &fault, NULL);
    pthread_create(&waiter, NULL, wait_and_say, NULL);
    say("ready");
    if (has_other()) {
        do_to_waiter();
    }
    if (is_way("identity") || is_way("touch")) {
        wait_for(&borrowed, LONG_S);
        use_all(NULL); /* after the call, or never */
        if (write(silent[1], "", 1) != 1) {
            return 1;
        }
    }
    wait_for(&ended, LONG_S);
    pthread_join(waiter, &result);
    if (result == PTHREAD_CANCELED) {
        say("cancelled");
    }
    pthread_create(&other, NULL, use_all, NULL);
    use_all(NULL);
    pthread_join(other, NULL);
    say("over");
    _exit(STATUS);
}
