/* SPDX-License-Identifier: MIT
 *
 * stuck WHO: one thread runs in an endless loop, one waits in poll, the first one waits in pause
 * or, with "running", has left SIGTERM and SIGINT to the one that runs.
 */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile unsigned long turns;

static void *spins(void *unused)
{
    (void)unused;
    for (;;)
        turns++;
    return NULL;
}

static void *waits(void *unused)
{
    poll(NULL, 0, -1);
    return unused;
}

static void waits_for_ever(void)
{
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    pthread_t thread;
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    if (argc < 2)
        return 2;
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    if (pthread_create(&thread, NULL, waits, NULL) != 0)
        return 1;
    if (strcmp(argv[1], "running") == 0)
        pthread_sigmask(SIG_UNBLOCK, &ends, NULL);
    if (pthread_create(&thread, NULL, spins, NULL) != 0)
        return 1;
    pthread_sigmask(strcmp(argv[1], "running") == 0 ? SIG_BLOCK : SIG_UNBLOCK, &ends, NULL);
    while (turns == 0)
        sched_yield();
    if (write(STDOUT_FILENO, "ready\n", 6) != 6)
        return 1;
    waits_for_ever();
    return 0;
}
