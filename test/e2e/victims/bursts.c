/* SPDX-License-Identifier: MIT
 *
 * bursts.c: works when it is told to, and waits otherwise. For each byte of standard input two
 * threads use CPU time, in proportion 70 to 30, and a line says how much that was. Ends with status 7
 * at the end of the input.
 */
#include "burn.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

static double hog_seventy(void)
{
    return burn_ms(210);
}

static double hog_thirty(void)
{
    return burn_ms(90);
}

struct worker {
    double (*burst)(void);
    double used;
    int go[2], done[2];
};

static void *work(void *argument)
{
    struct worker *w = argument;
    char byte;
    while (read(w->go[0], &byte, 1) == 1) {
        w->used = w->burst();
        if (write(w->done[1], &byte, 1) != 1) {
            break;
        }
    }
    return NULL;
}

static int start(struct worker *w)
{
    pthread_t thread;
    if (pipe(w->go) != 0 || pipe(w->done) != 0 || pthread_create(&thread, NULL, work, w) != 0) {
        return -1;
    }
    return pthread_detach(thread);
}

static double all_work(struct worker *workers, unsigned count)
{
    double used = 0;
    char byte = 0;
    for (unsigned i = 0; i < count; i++) {
        if (write(workers[i].go[1], "x", 1) != 1) {
            return -1;
        }
    }
    for (unsigned i = 0; i < count; i++) {
        if (read(workers[i].done[0], &byte, 1) != 1) {
            return -1;
        }
        used += workers[i].used;
    }
    return used;
}

int main(void)
{
    struct worker workers[] = {{.burst = hog_seventy}, {.burst = hog_thirty}};
    char byte;
    ssize_t got;
    for (unsigned i = 0; i < 2; i++) {
        if (start(&workers[i]) != 0) {
            return 1;
        }
    }
    while ((got = read(STDIN_FILENO, &byte, 1)) > 0 || (got < 0 && errno == EINTR)) {
        if (got > 0) {
            report("used", all_work(workers, 2));
            fflush(stdout);
        }
    }
    return 7;
}
