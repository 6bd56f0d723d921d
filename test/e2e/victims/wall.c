/* SPDX-License-Identifier: MIT
 *
 * wall.c: threads that run, read, wait for a lock and sleep, and measure where their time goes.
 *
 *   wall THREADS MS WAIT_US   THREADS threads for MS milliseconds; waits take from one to four times
 *                             WAIT_US, and a thread runs half as long as it waits
 *   wall born COUNT           COUNT threads, ten at a time, that run for 3 ms each
 *   wall states MS            a thread for each call of a list, which waits in it
 *
 * Prints "NAME MICROSECONDS" of each function, by the wall clock, of all threads together; "running",
 * by their CPU clocks; and "all": the time that the threads lived.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { READER, LOCKER, SLEEPER, HOG_LONG, HOG_SHORT, KINDS };

static const char *const names[KINDS] = {"wall_reader", "wall_locker", "wall_sleeper",
                                         "wall_hog_long", "wall_hog_short"};

static int64_t spent_ns[KINDS];
static int64_t running_ns, all_ns;
static int64_t wait_ns, deadline_ns;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static struct timespec time_of(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

__attribute__((noinline)) void wall_reader(int fd, int64_t ns)
{
    const struct itimerspec once = {.it_value = time_of(ns)};
    uint64_t expired = 0;
    if (timerfd_settime(fd, 0, &once, NULL) != 0 ||
        read(fd, &expired, sizeof expired) != (ssize_t)sizeof expired) {
        abort();
    }
}

__attribute__((noinline)) void wall_locker(int64_t ns)
{
#if defined(__aarch64__) && defined(__GLIBC__) /* its function has no frame (docs/LIMITS.md) */
    static int word;
    const struct timespec pause = time_of(ns);
    if (syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &pause, NULL, 0) == 0) {
        abort();
    }
#else
    const struct timespec end = time_of(clock_ns(CLOCK_REALTIME) + ns);
    if (pthread_mutex_timedlock(&held, &end) == 0) {
        abort();
    }
#endif
}

__attribute__((noinline)) void wall_sleeper(int64_t ns)
{
    const struct timespec pause = time_of(ns);
    if (nanosleep(&pause, NULL) != 0) {
        abort();
    }
}

static void run_for(int64_t ns)
{
    int64_t end_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns) {
    }
}

__attribute__((noinline)) void wall_hog_long(int64_t ns)
{
    run_for(ns);
    __asm__ volatile("");
}

__attribute__((noinline)) void wall_hog_short(int64_t ns)
{
    run_for(ns);
    __asm__ volatile("");
}

static int64_t note(int kind, int64_t since_ns)
{
    int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    __atomic_add_fetch(&spent_ns[kind], now_ns - since_ns, __ATOMIC_RELAXED);
    return now_ns;
}

static void *wall_worker(void *unused)
{
    (void)unused;
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    int64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
    int64_t now_ns = begin_ns;
    while (now_ns < deadline_ns) {
        wall_reader(fd, 3 * wait_ns);
        now_ns = note(READER, now_ns);
        wall_hog_long(2 * wait_ns);
        now_ns = note(HOG_LONG, now_ns);
        wall_locker(2 * wait_ns);
        now_ns = note(LOCKER, now_ns);
        wall_hog_short(wait_ns);
        now_ns = note(HOG_SHORT, now_ns);
        wall_sleeper(wait_ns);
        now_ns = note(SLEEPER, now_ns);
    }
    close(fd);
    __atomic_add_fetch(&all_ns, now_ns - begin_ns, __ATOMIC_RELAXED);
    __atomic_add_fetch(&running_ns, clock_ns(CLOCK_THREAD_CPUTIME_ID), __ATOMIC_RELAXED);
    return NULL;
}

static void *wall_born(void *unused)
{
    (void)unused;
    int64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
    wall_hog_short(3000000);
    __atomic_add_fetch(&all_ns, note(HOG_SHORT, begin_ns) - begin_ns, __ATOMIC_RELAXED);
    __atomic_add_fetch(&running_ns, clock_ns(CLOCK_THREAD_CPUTIME_ID), __ATOMIC_RELAXED);
    return NULL;
}

static void run_all(int count, void *(*routine)(void *))
{
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    for (int i = 0; i < count; i++) {
        if (threads == NULL || pthread_create(&threads[i], NULL, routine, NULL) != 0) {
            abort();
        }
    }
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
    free(threads);
}

/* ---- a thread for each call: the state is the word after wall_in_ ---- */

enum { BYTES = 1 << 20, MOST_CHILDREN = 4 };

static char bytes[BYTES];
static const struct iovec all = {bytes, BYTES};
static pid_t children[MOST_CHILDREN];
static int child_count;

static void note_child(pid_t child)
{
    children[__atomic_fetch_add(&child_count, 1, __ATOMIC_RELAXED)] = child;
}

static pid_t start_child(void)
{
    pid_t child = fork();
    if (child == 0) {
        for (;;) {
            pause();
        }
    }
    note_child(child);
    return child;
}

/* The child has this memory until it is killed; or a copy, where vfork() is fork(): with musl on aarch64. */
static pid_t start_guest(void)
{
    static volatile pid_t guest;
    pid_t child = vfork();
    if (child == 0) {
        const struct timespec long_time = {1000, 0};
        guest = getpid();
        note_child(guest);
        syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &long_time, NULL);
        _exit(0);
    }
    if (child > 0 && guest != child) {
        note_child(child);
        waitpid(child, NULL, 0);
    }
    return child;
}

typedef struct ends {
    int of_pipe[2], of_socket[2];
} ends;

static ends open_ends(void)
{
    ends e;
    if (pipe(e.of_pipe) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, e.of_socket) != 0) {
        abort();
    }
    return e;
}

/* vmsplice waits for room only if there is none. */
static long fill(int fd)
{
    fcntl(fd, F_SETFL, O_NONBLOCK);
    while (write(fd, bytes, BYTES) > 0) {
    }
    return fcntl(fd, F_SETFL, 0);
}

#define WAIT_IN(name, call)                                                                        \
    __attribute__((noinline)) static void *wall_in_##name(void *unused)                            \
    {                                                                                              \
        const ends e = open_ends();                                                                \
        if ((long)(call) == -1) {                                                                  \
            perror(#name);                                                                         \
        }                                                                                          \
        (void)e;                                                                                   \
        return unused;                                                                             \
    }

WAIT_IN(io_read, read(e.of_pipe[0], bytes, 1))
WAIT_IN(io_write, write(e.of_pipe[1], bytes, BYTES))
WAIT_IN(io_preadv2, syscall(SYS_preadv2, e.of_pipe[0], &all, 1L, -1L, -1L, 0L))
WAIT_IN(io_vmsplice, fill(e.of_pipe[1]) + vmsplice(e.of_pipe[1], &all, 1, 0))
WAIT_IN(net_read, read(e.of_socket[0], bytes, 1))
WAIT_IN(net_recv, recv(e.of_socket[0], bytes, 1, 0))
WAIT_IN(poll_poll, poll(NULL, 0, 1000000)) /* without an end it would not begin again */
WAIT_IN(poll_epoll, epoll_wait(epoll_create1(0), &(struct epoll_event){0}, 1, -1))
WAIT_IN(sleep_nanosleep, nanosleep(&(struct timespec){1000, 0}, NULL))
WAIT_IN(child_waitpid, waitpid(start_child(), NULL, 0))
WAIT_IN(child_vfork, start_guest())
WAIT_IN(lock_mutex, pthread_mutex_lock(&held))
WAIT_IN(other_sigsuspend, sigsuspend(&(sigset_t){0})) /* pause() is ppoll on newer architectures */

static void wait_in_all(int64_t ns)
{
    void *(*const routines[])(void *) = {
        wall_in_io_read,         wall_in_io_write,        wall_in_io_preadv2,
        wall_in_io_vmsplice,     wall_in_net_read,        wall_in_net_recv,
        wall_in_poll_poll,       wall_in_poll_epoll,      wall_in_child_vfork,
        wall_in_child_waitpid,   wall_in_sleep_nanosleep, wall_in_lock_mutex,
        wall_in_other_sigsuspend};
    pthread_mutex_lock(&held);
    for (size_t i = 0; i < sizeof routines / sizeof *routines; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, routines[i], NULL) != 0) {
            abort();
        }
    }
    wall_sleeper(ns);
    while (child_count > 0) {
        kill(children[--child_count], SIGKILL);
    }
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "born") == 0) {
        for (int left = atoi(argv[2]); left > 0; left -= 10) {
            run_all(10, wall_born);
        }
    } else if (argc == 3 && strcmp(argv[1], "states") == 0) {
        wait_in_all(atoll(argv[2]) * 1000000);
        return 0;
    } else if (argc == 4) {
        deadline_ns = clock_ns(CLOCK_MONOTONIC) + atoll(argv[2]) * 1000000;
        wait_ns = atoll(argv[3]) * 1000;
        pthread_mutex_lock(&held);
        run_all(atoi(argv[1]), wall_worker);
    } else {
        return 2;
    }
    for (int i = 0; i < KINDS; i++) {
        printf("%s %lld\n", names[i], (long long)spent_ns[i] / 1000);
    }
    printf("running %lld\nall %lld\n", (long long)running_ns / 1000, (long long)all_ns / 1000);
    return 0;
}
