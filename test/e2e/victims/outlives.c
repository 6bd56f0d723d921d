/* SPDX-License-Identifier: MIT
 *
 * outlives.c: a program that goes on after its profile's duration, and ends badly.
 *
 *   outlives FILE HOW   works in works_early() until FILE exists ("-": until it has one
 *                       thread), then in works_late(); ends by the signal HOW; 0: exits; "leave":
 *                       first by pthread_exit() in the first thread, and nothing else
 *
 * It counts the calls that a signal has interrupted, and exits with that number.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void *volatile kept;
static int interrupted;

static void burn(long ms)
{
    static volatile uint64_t sum;
    struct timespec now, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    end.tv_nsec += ms * 1000000;
    do {
        for (int i = 0; i < 10000; i++)
            sum += (uint64_t)i * sum;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - end.tv_sec) * 1000000000 + now.tv_nsec < end.tv_nsec);
}

static void pause_a_little(void)
{
    const struct timespec little = {0, 20000000};
    if (nanosleep(&little, NULL) != 0 && errno == EINTR)
        interrupted++;
}

__attribute__((noinline)) static void works_early(void)
{
    burn(20);
    kept = malloc(50000);
    pause_a_little();
}

__attribute__((noinline)) static void works_late(void)
{
    burn(200);
    kept = malloc(60000);
    pause_a_little();
}

static int goes_on(const char *file)
{
    struct stat tasks;
    if (strcmp(file, "-") != 0)
        return access(file, F_OK) != 0;
    return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > 3;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    if (strcmp(argv[2], "leave") == 0) {
        works_late();
        pthread_exit(NULL);
    }
    while (goes_on(argv[1]))
        works_early();
    works_late();
    if (atoi(argv[2]) != 0)
        raise(atoi(argv[2]));
    return interrupted;
}
