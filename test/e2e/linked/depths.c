/* SPDX-License-Identifier: MIT
 *
 * depths.c DIRECTORY: does something for each profile at the end of a deep recursion, and writes
 * NAME.pb.gz.
 */
#include "../victims/burn.h"
#include <pprof.h>

#include "must.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { LEVELS = 1200, BLOCK_BYTES = 1000, BURN_MS = 300 };

static const char *directory;
static void *volatile block;
static sem_t never;

static pprof_writer file_of(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.pb.gz", directory, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    check(fd >= 0, "open");
    return pprof_writer_fd(fd);
}

static void write_profile(const char *name)
{
    check(pprof_profile_write(pprof_lookup(name), file_of(name), 0) == 0, name);
}

static void *wait_for_nothing(void *unused)
{
    while (sem_wait(&never) != 0) {
    }
    return unused;
}

static void wait_a_moment(void)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += (end.tv_nsec + 1000000) / 1000000000;
    end.tv_nsec = (end.tv_nsec + 1000000) % 1000000000;
    check(sem_timedwait(&never, &end) != 0, "sem_timedwait");
}

static void do_everything(void)
{
    pthread_t thread;
    block = malloc(BLOCK_BYTES);
    check(pprof_profile_add(pprof_lookup("own"), &never, 0) == 0, "add");
    wait_a_moment();
    check(pthread_create(&thread, NULL, wait_for_nothing, NULL) == 0, "pthread_create");
    check(pprof_start_cpu_profile(file_of("cpu")) == 0, "cpu");
    burn_ms(BURN_MS);
    check(pprof_stop_cpu_profile() == 0, "cpu");
    write_profile("thread");
    write_profile("threadcreate");
    sem_post(&never);
    pthread_join(thread, NULL);
}

static int descend(int levels)
{
    if (levels == 0) {
        do_everything();
        return 0;
    }
    return descend(levels - 1) + 1;
}

int main(int argc, char **argv)
{
    check(argc > 1 && sem_init(&never, 0, 0) == 0, "a directory");
    directory = argv[1];
    pprof_set_mem_profile_rate(PPROF_RATE_ALL);
    pprof_set_block_profile_rate(PPROF_RATE_ALL);
    check(pprof_new_profile("own") != NULL, "own");
    check(descend(LEVELS) == LEVELS, "all levels");
    write_profile("own");
    write_profile("block");
    write_profile("heap");
    return 0;
}
