/* SPDX-License-Identifier: MIT
 *
 * deep_threads.c COUNT DEPTH: so many threads wait, each in so many calls of one function. Prints
 * "ready" when all do, and works until its standard input ends. Exits with 77 if the system does not
 * give it the threads.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int waiting;
static int is_over; /* never */
static int depth;
static volatile int deepest;

static int wait_here(void)
{
    pthread_mutex_lock(&lock);
    waiting++;
    pthread_cond_broadcast(&changed);
    while (!is_over) {
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
    return 1;
}

__attribute__((noinline)) static int a_function_that_calls_itself_very_often(int left)
{
    int found = left > 1 ? a_function_that_calls_itself_very_often(left - 1) : wait_here();
    deepest = found;
    return found + 1;
}

static void *go_down(void *unused)
{
    a_function_that_calls_itself_very_often(depth);
    return unused;
}

int main(int argc, char **argv)
{
    int count = argc > 2 ? (int)strtol(argv[1], NULL, 10) : 1;
    char byte;
    pthread_attr_t small;
    depth = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 * 1024);
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &small, go_down, NULL) != 0) {
            printf("%d threads cannot be had\n", count);
            return 77;
        }
    }
    pthread_mutex_lock(&lock);
    while (waiting < count) {
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
    printf("ready\n");
    fflush(stdout);
    ssize_t got = 0;
    while ((got = read(STDIN_FILENO, &byte, 1)) > 0) {
    }
    if (got < 0) {
        perror("deep_threads: read"); /* also EINTR: nobody interrupts it */
    }
    return got == 0 ? 7 : 1;
}
