/* SPDX-License-Identifier: MIT
 *
 * heap.c: a program that is linked to libpprof and asks for its heap profile itself.
 *
 * usage: heap rate                 prints the rate that it was started with
 *        heap write HEAP ALLOCS    samples every block from here on, writes both profiles
 *        heap errors               what the calls answer to nonsense; exits with 0 if it is right
 *        heap concurrent N         writes N snapshots to nowhere while threads allocate
 */
#include "pprof.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *volatile sink;
static void *volatile blocks[100];

void kept_blocks(void);
void freed_blocks(void);

void kept_blocks(void)
{
    for (int i = 0; i < 100; i++) {
        blocks[i] = malloc(1000);
    }
}

void freed_blocks(void)
{
    for (int i = 0; i < 100; i++) {
        sink = malloc(5000);
        free(sink);
    }
}

static int write_to(const char *path, const char *name)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int error = pprof_profile_write(pprof_lookup(name), pprof_writer_fd(fd), 0);
    close(fd);
    return error;
}

static int write_both(const char *heap, const char *allocs)
{
    pprof_set_mem_profile_rate(1);
    kept_blocks();
    freed_blocks();
    int error = write_to(heap, "heap");
    return error != 0 ? error : write_to(allocs, "allocs");
}

/* ---- errors ---- */

static int calls;

static int refuse(void *ctx, const void *data, size_t length)
{
    (void)ctx;
    (void)data;
    (void)length;
    calls++;
    return -EXDEV;
}

static int failures;

static void expect(bool good, const char *what)
{
    if (!good) {
        printf("wrong: %s\n", what);
        failures++;
    }
}

static void errors(void)
{
    pprof_writer refusing = {refuse, NULL};
    pprof_writer none = {NULL, NULL};
    pprof_profile *heap = pprof_lookup("heap");
    expect(heap != NULL && pprof_lookup("heap") == heap, "lookup of heap");
    expect(strcmp(pprof_profile_name(heap), "heap") == 0, "name of heap");
    expect(strcmp(pprof_profile_name(pprof_lookup("allocs")), "allocs") == 0, "name of allocs");
    expect(pprof_lookup("no such profile") == NULL && pprof_lookup(NULL) == NULL, "lookup of none");
    expect(pprof_profile_write(NULL, refusing, 0) == -EINVAL, "no profile");
    expect(pprof_profile_write(heap, none, 0) == -EINVAL, "no writer");
    expect(pprof_write_heap_profile(refusing) == -EXDEV && calls == 1, "a writer that fails");
    expect(pprof_set_mem_profile_rate(100) == 524288, "the rate before");
    expect(pprof_set_mem_profile_rate(-1) == 100, "a negative rate reads");
    expect(pprof_set_mem_profile_rate(0) == 100 && pprof_set_mem_profile_rate(0) == 0, "rate 0");
    expect(pprof_configure("heap:4k") == 0 && pprof_set_mem_profile_rate(-5) == 4096, "configured");
    expect(pprof_configure("heap:x") == -EINVAL, "a bad value");
}

/* ---- snapshots while the program goes on ---- */

static bool stop;

static void *allocate(void *unused)
{
    for (size_t i = 1; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
        void *block = malloc(i % 5000);
        block = realloc(block, i % 700 + 1);
        free(block);
    }
    return unused;
}

static int count(void *ctx, const void *data, size_t length)
{
    (void)data;
    *(size_t *)ctx += length;
    return 0;
}

static int concurrent(int snapshots)
{
    pthread_t threads[3];
    size_t written = 0;
    pprof_set_mem_profile_rate(100);
    for (int i = 0; i < 3; i++) {
        pthread_create(&threads[i], NULL, allocate, NULL);
    }
    int error = 0;
    for (int i = 0; i < snapshots && error == 0; i++) {
        error = pprof_write_heap_profile((pprof_writer){count, &written});
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    return error == 0 && written > 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "rate") == 0) {
        printf("%lld\n", (long long)pprof_set_mem_profile_rate(-1));
        return 0;
    }
    if (strcmp(what, "write") == 0) {
        return write_both(argv[2], argv[3]) == 0 ? 0 : 1;
    }
    if (strcmp(what, "errors") == 0) {
        errors();
        return failures > 0;
    }
    if (strcmp(what, "concurrent") == 0) {
        return concurrent(atoi(argv[2]));
    }
    return 2;
}
