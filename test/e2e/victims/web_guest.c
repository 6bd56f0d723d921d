/* SPDX-License-Identifier: MIT
 *
 * web_guest.c: a program with a server in it that it does not know of. It works until its standard
 * input ends: a thread burns CPU time, two contend for a lock, the first allocates and keeps some.
 *
 *   web_guest             nothing more
 *   web_guest fork        reads a byte, forks, and prints what the child finds
 *   web_guest child       reads a byte, and forks a child that prints its number, and lives as long
 *   web_guest close       reads a byte, closes all descriptors from 3 on, and opens a file under
 *                         each number that was in use
 *   web_guest full        uses up all descriptors, reads a byte, and gives them back
 *   web_guest user        becomes another user
 *   web_guest exec FILE   reads a byte, and executes FILE
 *   web_guest threads     the first thread ends by pthread_exit, the others at the end of the input
 *   web_guest steady      keeps no memory
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_over, is_steady;
static volatile unsigned long turns;

static bool goes_on(void)
{
    return !__atomic_load_n(&is_over, __ATOMIC_ACQUIRE);
}

__attribute__((noinline)) static void burn_cpu(void)
{
    for (int i = 0; i < 100000; i++) {
        turns += (unsigned long)i;
    }
}

static void *burner(void *unused)
{
    while (goes_on()) {
        burn_cpu();
    }
    return unused;
}

__attribute__((noinline)) static void hold_lock(void)
{
    pthread_mutex_lock(&lock);
    usleep(2000);
    pthread_mutex_unlock(&lock);
}

static void *contender(void *unused)
{
    while (goes_on()) {
        hold_lock();
        /* Or it may have the lock again before the other one runs, which it has woken. */
        usleep(100);
    }
    return unused;
}

__attribute__((noinline)) static void *keep_memory(void)
{
    char *memory = malloc(65536);
    if (memory != NULL) {
        memory[0] = 1;
    }
    return memory;
}

__attribute__((noinline)) static void drop_memory(void)
{
    free(keep_memory());
}

static void *allocator(void *unused)
{
    static void *volatile kept;
    while (goes_on()) {
        kept = is_steady ? NULL : keep_memory();
        for (int i = 0; i < 10; i++) {
            drop_memory();
        }
        usleep(5000);
    }
    return kept != NULL ? unused : NULL;
}

static void wait_for_byte(void)
{
    char byte;
    while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR) {
    }
}

/* ---- what programs do ---- */

static int count_descriptors(void)
{
    int count = 0;
    for (int fd = 3; fd < 1024; fd++) {
        count += fcntl(fd, F_GETFD) >= 0;
    }
    return count;
}

static void fork_child(void)
{
    int before = count_descriptors();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        printf("child: %d descriptors fewer\n", before - count_descriptors());
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

/* The child works on when its parent's threads are not there: it waits for the end of the input. */
static void keep_child(void)
{
    char byte;
    fflush(stdout);
    if (fork() == 0) {
        printf("%d\n", (int)getpid());
        fflush(stdout);
        while (read(STDIN_FILENO, &byte, 1) > 0) {
        }
        _exit(0);
    }
}

/* Sockets that listen here are the program's own: nothing may accept from them. */
static void close_all(void)
{
    bool was_open[1024] = {false};
    for (int fd = 3; fd < 1024; fd++) {
        was_open[fd] = close(fd) == 0;
    }
    int own = socket(AF_INET, SOCK_STREAM, 0);
    listen(own, 5);
    for (int fd = 3; fd < 1024; fd++) {
        if (was_open[fd] && fd != own) {
            dup2(own, fd);
        }
    }
    printf("closed\n");
    fflush(stdout);
}

static void fill(void)
{
    const struct rlimit few = {300, 300};
    setrlimit(RLIMIT_NOFILE, &few);
    int last = 0;
    while ((last = dup(STDIN_FILENO)) >= 0) {
    }
    printf("full\n");
    fflush(stdout);
    wait_for_byte();
    for (int fd = 3; fd < 200; fd++) {
        close(fd);
    }
    printf("given back\n");
    fflush(stdout);
}

static void become(void)
{
    if (setgid(65534) != 0 || setuid(65534) != 0) {
        printf("cannot become another user\n");
    } else {
        printf("user %d\n", (int)getuid());
    }
    fflush(stdout);
}

static void act(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "fork") == 0) {
        wait_for_byte();
        fork_child();
    } else if (strcmp(what, "child") == 0) {
        wait_for_byte();
        keep_child();
    } else if (strcmp(what, "close") == 0) {
        wait_for_byte();
        close_all();
    } else if (strcmp(what, "full") == 0) {
        fill();
    } else if (strcmp(what, "user") == 0) {
        become();
    } else if (strcmp(what, "exec") == 0 && argc > 2) {
        wait_for_byte();
        execv(argv[2], argv + 2);
        perror(argv[2]);
    }
}

static void *wait_for_end(void *unused)
{
    char bytes[64];
    ssize_t got = 0;
    while ((got = read(STDIN_FILENO, bytes, sizeof bytes)) > 0 || (got < 0 && errno == EINTR)) {
    }
    __atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
    return unused;
}

int main(int argc, char **argv)
{
    is_steady = argc > 1 && strcmp(argv[1], "steady") == 0;
    pthread_t thread[5];
    void *(*const work[])(void *) = {burner, contender, contender, allocator};
    for (unsigned i = 0; i < 4; i++) {
        pthread_create(&thread[i], NULL, work[i], NULL);
    }
    act(argc, argv);
    if (argc > 1 && strcmp(argv[1], "threads") == 0) {
        pthread_create(&thread[4], NULL, wait_for_end, NULL);
        pthread_exit(NULL);
    }
    wait_for_end(NULL);
    for (unsigned i = 0; i < 4; i++) {
        pthread_join(thread[i], NULL);
    }
    return 7;
}
