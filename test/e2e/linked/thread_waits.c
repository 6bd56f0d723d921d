/* SPDX-License-Identifier: MIT
 *
 * thread_waits.c PROFILES [closed]: a thousand threads wait, in eleven ways. Profiles of threads are
 * taken; no wait may end by that, none may say EINTR, no read may come short, and the stacks are to
 * be whole.
 *
 * Each wait is entered through two functions, and leaves on record what they will return to. Most
 * threads wait for ever; some wake up all the time, so that a look may meet them anywhere. One
 * reads and one asks for random numbers in calls that take long, in the kernel. One waits for its
 * vfork's child, which no signal could wake.
 *
 * closed: the process has changed its user, so that /proc says where no thread of it waits. Then
 * the threads are listed, by their start routine at least.
 *
 * Flags: -O2
 */
#include "must.h"
#include <pprof.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    KINDS = 11,
    QUIET = 87, /* of each kind */
    RESTLESS = 4,
    WAITERS = KINDS * (QUIET + RESTLESS),
    OTHERS = 3,
    THREADS = 1 + WAITERS + OTHERS,
    READ_BYTES = 100,
    PART_BYTES = 30, /* have come when the profiles are taken */
    LONG_BYTES = 8 << 20,
    NAP_MS = 10,
    STACK_BYTES = 128 * 1024,
    NOBODY = 65534
};

typedef struct waiter {
    pthread_t thread;
    unsigned kind;
    bool quiet;
    bool wants_all; /* has got a part of it, and waits for the rest */
    int fds[2];
    pid_t tid;
    uintptr_t returns_to[2]; /* of the functions above the wait */
} waiter;

static waiter waiters[WAITERS + OTHERS];
static pprof_thread_record records[THREADS];
static unsigned begun;
static unsigned interrupted; /* waits that said EINTR */
static unsigned ended;       /* waits of quiet threads that are over */
static unsigned short_reads;
static int epoll_fd, listener, deep[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static pthread_rwlock_t written = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t is_read = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static unsigned futex_word;

static void count(unsigned *what)
{
    __atomic_add_fetch(what, 1, __ATOMIC_SEQ_CST);
}

static unsigned see(const unsigned *what)
{
    return __atomic_load_n(what, __ATOMIC_SEQ_CST);
}

static struct timespec in_a_nap(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += NAP_MS * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

/* ---- the eleven ways; 0 or errno ---- */

#define WAY __attribute__((noinline)) static int

#define KEEP_RETURN_ADDRESS(w, i)                                                                  \
    (w)->returns_to[i] = (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0))

static int error_of(long result)
{
    return result < 0 ? errno : 0;
}

WAY way_epoll(const waiter *w)
{
    struct epoll_event event;
    return error_of(epoll_wait(epoll_fd, &event, 1, w->quiet ? -1 : NAP_MS));
}

WAY way_poll(const waiter *w)
{
    return error_of(poll(NULL, 0, w->quiet ? -1 : NAP_MS));
}

WAY way_sleep(const waiter *w)
{
    const struct timespec nap = {.tv_sec = w->quiet ? 3600 : 0, .tv_nsec = NAP_MS * 1000000};
    return error_of(nanosleep(&nap, NULL));
}

WAY way_read(const waiter *w)
{
    char buffer[READ_BYTES];
    ssize_t got = w->wants_all ? recv(w->fds[0], buffer, sizeof buffer, MSG_WAITALL)
                               : read(w->fds[0], buffer, sizeof buffer);
    int error = error_of(got);
    if (w->quiet && got >= 0 && got < READ_BYTES) {
        count(&short_reads);
    }
    return error;
}

WAY way_accept(const waiter *w)
{
    int fd = accept(w->quiet ? listener : w->fds[0], NULL, NULL);
    int error = error_of(fd);
    if (fd >= 0) {
        close(fd);
    }
    return error;
}

WAY way_cond(const waiter *w)
{
    const struct timespec until = in_a_nap();
    pthread_mutex_lock(&mutex);
    int error =
        w->quiet ? pthread_cond_wait(&cond, &mutex) : pthread_cond_timedwait(&cond, &mutex, &until);
    pthread_mutex_unlock(&mutex);
    return error;
}

WAY way_sem(const waiter *w)
{
    const struct timespec until = in_a_nap();
    return error_of(w->quiet ? sem_wait(&semaphore) : sem_timedwait(&semaphore, &until));
}

WAY way_futex(const waiter *w)
{
    const struct timespec nap = {.tv_nsec = NAP_MS * 1000000};
    return error_of(
        syscall(SYS_futex, &futex_word, FUTEX_WAIT, 0, w->quiet ? NULL : &nap, NULL, 0));
}

WAY way_reader(const waiter *w)
{
    const struct timespec until = in_a_nap();
    return w->quiet ? pthread_rwlock_rdlock(&written)
                    : pthread_rwlock_timedrdlock(&written, &until);
}

WAY way_writer(const waiter *w)
{
    const struct timespec until = in_a_nap();
    return w->quiet ? pthread_rwlock_wrlock(&is_read)
                    : pthread_rwlock_timedwrlock(&is_read, &until);
}

WAY way_timed_lock(const waiter *w)
{
    struct timespec until = in_a_nap();
    until.tv_sec += w->quiet ? 3600 : 0;
    return pthread_mutex_timedlock(&held, &until);
}

static int (*const ways[KINDS])(const waiter *) = {way_epoll,  way_poll,   way_sleep,     way_read,
                                                   way_accept, way_cond,   way_sem,       way_futex,
                                                   way_reader, way_writer, way_timed_lock};

/* ---- waiters ---- */

/* The first of the two functions above; an array in it whose size nobody knows, as in much real
 * code. */
WAY waits(waiter *w)
{
    KEEP_RETURN_ADDRESS(w, 0);
    char room[w->kind + 1];
    memset(room, 0, sizeof room);
    int error = ways[w->kind](w);
    __asm__ volatile("" ::"r"(room) : "memory");
    return error;
}

__attribute__((noinline)) static void goes_on(waiter *w)
{
    KEEP_RETURN_ADDRESS(w, 1);
    int error;
    do {
        error = waits(w);
        if (error == EINTR) {
            count(&interrupted);
        }
    } while (!w->quiet || error == EINTR);
    count(&ended);
}

static void *waiter_main(void *argument)
{
    waiter *w = argument;
    w->tid = gettid();
    count(&begun);
    goes_on(w);
    return NULL;
}

/* ---- those that are in the kernel otherwise ---- */

static void *reads_long(void *argument)
{
    waiter *w = argument;
    char *buffer = malloc(LONG_BYTES);
    int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    check(buffer != NULL && fd >= 0, "/dev/zero");
    w->tid = gettid();
    count(&begun);
    for (;;) {
        ssize_t got = read(fd, buffer, LONG_BYTES);
        if (got != LONG_BYTES) {
            count(got < 0 ? &interrupted : &short_reads);
        }
        poll(NULL, 0, 1);
    }
    return NULL;
}

static void *asks_long(void *argument)
{
    enum { RANDOM_BYTES = 1 << 20 };
    waiter *w = argument;
    char *buffer = malloc(RANDOM_BYTES);
    check(buffer != NULL, "malloc");
    w->tid = gettid();
    count(&begun);
    for (;;) {
        ssize_t got = getrandom(buffer, RANDOM_BYTES, 0);
        if (got != RANDOM_BYTES) {
            count(got < 0 ? &interrupted : &short_reads);
        }
        poll(NULL, 0, 1);
    }
    return NULL;
}

static void *waits_deeply(void *argument)
{
    waiter *w = argument;
    w->tid = gettid();
    count(&begun);
    pid_t child = vfork();
    if (child == 0) {
        char byte;
        close(deep[1]); /* so that it ends with us, at the latest */
        while (read(deep[0], &byte, 1) < 0) {
        }
        _exit(0);
    }
    waitpid(child, NULL, 0); /* where vfork() is fork(): with musl on aarch64 */
    return NULL;
}

/* ---- the program ---- */

static void start(waiter *w, void *(*routine)(void *))
{
    pthread_attr_t attributes;
    check(pthread_attr_init(&attributes) == 0 &&
              pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 &&
              pthread_create(&w->thread, &attributes, routine, w) == 0,
          "pthread_create");
    pthread_attr_destroy(&attributes);
}

static const char bytes[READ_BYTES];

static void prepare(waiter *w)
{
    const struct timeval nap = {.tv_usec = NAP_MS * 1000};
    w->fds[0] = w->fds[1] = -1;
    if (ways[w->kind] == way_read) {
        check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, w->fds) == 0, "socketpair");
        w->wants_all = w->quiet && (w - waiters) / KINDS % 2 == 0;
    } else if (ways[w->kind] == way_accept && !w->quiet) {
        w->fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        check(w->fds[0] >= 0 && listen(w->fds[0], 1) == 0, "listen");
    }
    if (w->wants_all) {
        check(write(w->fds[1], bytes, PART_BYTES) == PART_BYTES, "a part");
    }
    if (w->fds[0] >= 0 && !w->quiet) {
        check(setsockopt(w->fds[0], SOL_SOCKET, SO_RCVTIMEO, &nap, sizeof nap) == 0, "SO_RCVTIMEO");
    }
}

static void start_all(void)
{
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    check(epoll_fd >= 0 && listener >= 0 && listen(listener, 1) == 0, "descriptors");
    check(pipe2(deep, O_CLOEXEC) == 0 && sem_init(&semaphore, 0, 0) == 0, "pipe");
    check(pthread_rwlock_wrlock(&written) == 0 && pthread_rwlock_rdlock(&is_read) == 0 &&
              pthread_mutex_lock(&held) == 0,
          "locks");
    for (unsigned i = 0; i < WAITERS; i++) {
        waiters[i].kind = i % KINDS;
        waiters[i].quiet = i < KINDS * QUIET;
        prepare(&waiters[i]);
        start(&waiters[i], waiter_main);
    }
    start(&waiters[WAITERS], reads_long);
    start(&waiters[WAITERS + 1], asks_long);
    start(&waiters[WAITERS + 2], waits_deeply);
}

/* That they wait is seen from their CPU clocks, which stand still; here it is enough that they are
 * about to. */
static void wait_for_all(void)
{
    while (see(&begun) < WAITERS + OTHERS) {
        poll(NULL, 0, NAP_MS);
    }
    poll(NULL, 0, 20 * NAP_MS);
}

/* So that the readers' whole reads can be seen. */
static void release_readers(void)
{
    unsigned readers = 0;
    for (unsigned i = 0; i < WAITERS; i++) {
        const waiter *w = &waiters[i];
        if (ways[w->kind] == way_read && w->quiet) {
            ssize_t length = w->wants_all ? READ_BYTES - PART_BYTES : READ_BYTES;
            check(write(w->fds[1], bytes, (size_t)length) == length, "the rest");
            readers++;
        }
    }
    while (see(&ended) < readers) {
        poll(NULL, 0, NAP_MS);
    }
}

/* ---- what a profile says ---- */

static const pprof_thread_record *find_record(pid_t tid, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (records[i].tid == tid) {
            return &records[i];
        }
    }
    return NULL;
}

static bool has_pc(const pprof_stack *stack, uintptr_t low, uintptr_t high)
{
    for (uint32_t i = 0; i < stack->depth; i++) {
        if (stack->pc[i] > low && stack->pc[i] <= high) {
            return true;
        }
    }
    return false;
}

/* The wait, both functions above it, the start routine and what libc has below it. */
static bool is_whole(const waiter *w, const pprof_stack *stack)
{
    uint32_t i = 0;
    while (i < stack->depth && stack->pc[i] != w->returns_to[0]) {
        i++;
    }
#ifdef __GLIBC__
    enum { BELOW = 2 }; /* start_thread, clone3 */
#else
    enum { BELOW = 1 }; /* musl's start, which ends the thread */
#endif
    return i > 0 && i + 1 + BELOW < stack->depth && stack->pc[i + 1] == w->returns_to[1];
}

static bool is_listed(const pprof_stack *stack)
{
    enum { ROUTINE_BYTES = 512 };
    uintptr_t main = (uintptr_t)waiter_main;
    return has_pc(stack, main, main + ROUTINE_BYTES);
}

typedef struct tally {
    unsigned seen, whole;
    unsigned whole_of_kind[KINDS];
} tally;

static void take_profile(bool closed, tally *t)
{
    size_t n = 0;
    bool taken = pprof_thread_profile(records, THREADS, &n);
    check(see(&interrupted) == 0, "a wait was interrupted");
    check(see(&ended) == 0, "a wait has ended");
    check(taken && n == THREADS, "all threads");
    for (unsigned i = 0; i < WAITERS + OTHERS; i++) {
        const pprof_thread_record *r = find_record(waiters[i].tid, n);
        check(r != NULL && r->stack.depth > 0, "a thread is missing");
        if (i >= WAITERS) {
            continue;
        }
        t->seen++;
        if (is_whole(&waiters[i], &r->stack)) {
            t->whole++;
            t->whole_of_kind[waiters[i].kind] += waiters[i].quiet;
        } else {
            check(!closed || is_listed(&r->stack),
                  "a closed thread is listed by its start routine");
        }
    }
    pprof_thread_records_release(records, n);
}

static void close_proc(void)
{
    check(getuid() == 0 ? setuid(NOBODY) == 0 : prctl(PR_SET_DUMPABLE, 0) == 0, "setuid");
}

int main(int argc, char **argv)
{
    enum { PERCENT = 100, ENOUGH = 95 };
    check(argc >= 2, "usage: thread_waits PROFILES [closed]");
    bool closed = argc > 2;
    unsigned profiles = (unsigned)atoi(argv[1]);
    tally t = {.seen = 0};
    setvbuf(stdout, NULL, _IONBF, 0);
    if (closed) { /* before there are threads, since libc makes all of them take part in it */
        close_proc();
    }
    start_all();
    wait_for_all();
    for (unsigned i = 0; i < profiles; i++) {
        take_profile(closed, &t);
    }
    printf("%u of %u stacks whole\n", t.whole, t.seen);
    release_readers();
    check(see(&interrupted) == 0, "a wait was interrupted");
    check(see(&short_reads) == 0, "a read came short");
    for (unsigned kind = 0; kind < KINDS && !closed; kind++) {
        unsigned seen = QUIET * profiles;
        printf("%u of %u of kind %u\n", t.whole_of_kind[kind], seen, kind);
        check(t.whole_of_kind[kind] * PERCENT >= seen * ENOUGH, "enough whole stacks of each kind");
    }
    check(closed || t.whole * PERCENT >= t.seen * ENOUGH, "enough whole stacks");
    _exit(0); /* nobody waits for those who wait */
}
