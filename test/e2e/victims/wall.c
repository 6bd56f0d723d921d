/* SPDX-License-Identifier: MIT
 *
 * wall.c: threads that run, read, wait for a lock and sleep, and measure where their time goes.
 *
 *   wall THREADS MS WAIT_US   THREADS threads for MS milliseconds; waits take from one to four times
 *                             WAIT_US, and a thread runs half as long as it waits
 *   wall born COUNT           COUNT threads, ten at a time, that run for 3 ms each
 *
 * Prints "NAME MICROSECONDS" of each function, by the wall clock, of all threads together; "running",
 * by their CPU clocks; and "all": the time that the threads lived.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
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
    const struct timespec end = time_of(clock_ns(CLOCK_REALTIME) + ns);
    if (pthread_mutex_timedlock(&held, &end) == 0) {
        abort();
    }
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

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "born") == 0) {
        for (int left = atoi(argv[2]); left > 0; left -= 10) {
            run_all(10, wall_born);
        }
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
