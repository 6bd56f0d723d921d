/* SPDX-License-Identifier: MIT
 *
 * first_thread_gone.c FILE: its first thread ends. The other one then writes the number of the
 * process and its own to FILE, and ends the program when it has been stopped and continued.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *wait_for_continuation(void *path)
{
    char byte[1];
    int number = 0;
    sigset_t set;
    FILE *file;
    sigemptyset(&set);
    sigaddset(&set, SIGCONT);
    while (readlink("/proc/self/exe", byte, 1) > 0)
        sched_yield();
    file = fopen(path, "we");
    if (file == NULL || fprintf(file, "%d %d\n", (int)getpid(), (int)gettid()) < 0 ||
        fclose(file) != 0)
        exit(1);
    sigwait(&set, &number);
    exit(0);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t other;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCONT);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (argc != 2 || pthread_create(&other, NULL, wait_for_continuation, argv[1]) != 0)
        return 1;
    pthread_exit(NULL);
}
