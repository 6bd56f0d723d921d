/* SPDX-License-Identifier: MIT
 *
 * interruptions.c: system calls that a signal could shorten or end, beside threads and children
 * that keep every processor busy. Prints a line for each that did not do what it does without
 * signals.
 */
#include "burn.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    BLOCK = 1 << 20,
    BLOCKS = 150,
};

static atomic_int stop;
static int troubles;

static void complain(const char *what, long result)
{
    printf("%s: result %ld, errno %d\n", what, result, errno);
    troubles++;
}

/* ---- much data in large pieces: the calls themselves take many milliseconds of CPU time ---- */

static void *write_all_blocks(void *fd)
{
    char *block = calloc(1, BLOCK);
    for (int i = 0; i < BLOCKS; i++) {
        memset(block, i, BLOCK);
        ssize_t written = write(*(int *)fd, block, BLOCK);
        if (written != BLOCK) {
            complain("write of a block", written);
        }
    }
    free(block);
    return NULL;
}

static void read_all(int fd)
{
    char *block = malloc(BLOCK);
    long left = (long)BLOCK * BLOCKS;
    while (left > 0) {
        ssize_t got = read(fd, block, BLOCK);
        if (got <= 0) {
            complain("read", got);
            break;
        }
        left -= got;
    }
    free(block);
}

static void transfer(int from, int to)
{
    pthread_t writer;
    pthread_create(&writer, NULL, write_all_blocks, &to);
    read_all(from);
    pthread_join(writer, NULL);
}

static void through_a_file(void)
{
    char name[] = "blockXXXXXX";
    int fd = mkstemp(name);
    unlink(name);
    char *block = malloc(BLOCK);
    memset(block, 'x', BLOCK);
    for (int i = 0; i < BLOCKS; i++) {
        if (pwrite(fd, block, BLOCK, 0) != BLOCK || pread(fd, block, BLOCK, 0) != BLOCK) {
            complain("pwrite or pread", i);
        }
    }
    free(block);
    close(fd);
}

/* ---- threads that wait: they use no CPU time, so no timer of theirs expires ---- */

static void *wait_in_calls(void *unused)
{
    sem_t never;
    int idle[2];
    char byte;
    sem_init(&never, 0, 0);
    if (pipe(idle) != 0) {
        abort();
    }
    while (!atomic_load(&stop)) {
        const struct timespec pause = {.tv_nsec = 5 * 1000 * 1000};
        struct timespec until;
        struct pollfd ready = {.fd = idle[0], .events = POLLIN};
        struct timeval limit = {.tv_usec = 5000};
        fd_set readers;
        if (nanosleep(&pause, NULL) != 0) {
            complain("nanosleep", -1);
        }
        int result = poll(&ready, 1, 5);
        if (result != 0) {
            complain("poll", result);
        }
        FD_ZERO(&readers);
        FD_SET(idle[0], &readers);
        result = select(idle[0] + 1, &readers, NULL, NULL, &limit);
        if (result != 0) {
            complain("select", result);
        }
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 5 * 1000 * 1000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (sem_timedwait(&never, &until) != -1 || errno != ETIMEDOUT) {
            complain("sem_timedwait", 0);
        }
    }
    close(idle[1]);
    if (read(idle[0], &byte, 1) != 0) {
        complain("read at the end of a pipe", 0);
    }
    close(idle[0]);
    return unused;
}

static void *burn_until_stop(void *unused)
{
    while (!atomic_load(&stop)) {
        errno = 4321;
        work_a_little();
        if (errno != 4321) {
            complain("errno", errno);
        }
    }
    return unused;
}

static void wait_for_child(void)
{
    pid_t child = fork();
    int status = 0;
    if (child == 0) {
        burn_ms(100);
        _exit(3);
    }
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 3) {
        complain("waitpid", status);
    }
}

int main(void)
{
    pthread_t waiting;
    pthread_t burning;
    int pair[2];
    pthread_create(&waiting, NULL, wait_in_calls, NULL);
    pthread_create(&burning, NULL, burn_until_stop, NULL);
    if (pipe(pair) != 0) {
        return 2;
    }
    transfer(pair[0], pair[1]);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
        return 2;
    }
    transfer(pair[0], pair[1]);
    through_a_file();
    wait_for_child();
    atomic_store(&stop, 1);
    pthread_join(waiting, NULL);
    pthread_join(burning, NULL);
    puts("done");
    return troubles != 0;
}
