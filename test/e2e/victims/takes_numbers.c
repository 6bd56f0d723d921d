/* SPDX-License-Identifier: MIT
 *
 * takes_numbers.c: see takes_numbers.h. Other threads work meanwhile, take locks, allocate, and create
 * threads.
 *
 * Usage: takes_numbers run FILE ROUNDS    prints what has happened in so many rounds; 1 if it should not
 *        takes_numbers run FILE ROUNDS LAST   the same, with numbers up to LAST
 *        takes_numbers exit FILE ROUNDS   exits after so many rounds, while another thread goes on with them
 *        takes_numbers eof FILE           closes its output, and goes on until FILE exists
 *        takes_numbers bind ROUNDS        listens at a port, again and again; prints how often it could not. Begins
 *                                         when there is a profile in profiles/.
 */
#include "takes_numbers.h"

#include <glob.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { WORKERS = 3 };

static atomic_bool is_over;
static atomic_bool creates_threads = true;
static atomic_long rounds_seen;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *end_at_once(void *unused)
{
    return unused;
}

static void *work(void *unused)
{
    for (unsigned i = 0; !is_over; i++) {
        pthread_mutex_lock(&mutex);
        for (volatile int spin = 0; spin < 20000; spin++) {
        }
        free(malloc(1000 + i % 5000));
        pthread_mutex_unlock(&mutex);
        pthread_t short_lived;
        if (creates_threads && i % 16 == 0 &&
            pthread_create(&short_lived, NULL, end_at_once, NULL) == 0) {
            pthread_join(short_lived, NULL);
        }
    }
    return unused;
}

static int run(const char *path, long rounds, unsigned last)
{
    taken t = {.last = last};
    while (t.rounds < rounds) {
        take_numbers(&t, path);
    }
    return tell_taken(&t);
}

static void *take_until_end(void *path)
{
    taken t = {0};
    while (!is_over) {
        take_numbers(&t, path);
        rounds_seen = t.rounds;
    }
    return NULL;
}

static _Noreturn void leave(char *path, long rounds)
{
    pthread_t taker;
    pthread_create(&taker, NULL, take_until_end, path);
    while (rounds_seen < rounds) {
        usleep(1000);
    }
    exit(0);
}

/* Without FILE it does not go on for ever, and makes a file of that name with ".late". */
static int close_output(const char *path)
{
    enum { MOST_MS = 60000 };
    char late[PATH_MAX];
    int waited_ms = 0;
    close(STDOUT_FILENO);
    while (access(path, F_OK) != 0 && waited_ms++ < MOST_MS) {
        usleep(1000);
    }
    snprintf(late, sizeof late, "%s.late", path);
    return waited_ms > MOST_MS ? make_own_file(late) : 0;
}

/* Until the library's thread has written a profile: by then it has a table of its own. */
static void wait_for_profile(void)
{
    glob_t found;
    while (glob("profiles/*.pb.gz", 0, NULL, &found) == GLOB_NOMATCH) {
        usleep(1000);
    }
    globfree(&found);
}

/* At an address of this process: another one may take a port as soon as it is free. Without short-lived threads: while there
 * are such the library may list all, and the kernel copies the descriptors for that (docs/DESCRIPTORS.md). */
static int bind_again(long rounds)
{
    creates_threads = false;
    long failed = 0;
    in_addr_t address =
        (INADDR_LOOPBACK & 0xff000000) | 0x400000 | ((in_addr_t)getpid() & 0x3fffff);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(address)};
    socklen_t length = sizeof at;
    wait_for_profile();
    for (long i = 0; i < rounds; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        failed += bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, 1) != 0;
        getsockname(fd, (struct sockaddr *)&at, &length);
        close(fd);
    }
    printf("%ld failed\n", failed);
    return failed != 0;
}

int main(int argc, char **argv)
{
    pthread_t workers[WORKERS];
    const char *what = argc > 2 ? argv[1] : "";
    long rounds = argc > 3 ? atol(argv[3]) : 0;
    if (argc < 3 || (rounds > 0 && make_own_file(argv[2]) != 0)) {
        return 2;
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_create(&workers[i], NULL, work, NULL);
    }
    if (strcmp(what, "exit") == 0) {
        leave(argv[2], rounds);
    }
    int status = strcmp(what, "run") == 0
                     ? run(argv[2], rounds, argc > 4 ? (unsigned)atol(argv[4]) : 0)
                 : strcmp(what, "eof") == 0 ? close_output(argv[2])
                                            : bind_again(atol(argv[2]));
    is_over = true;
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(workers[i], NULL);
    }
    return status;
}
