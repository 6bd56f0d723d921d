/* SPDX-License-Identifier: MIT
 *
 * heap_text.c DIRECTORY RATE [SECOND_RATE]: allocates at a few named places, then writes the heap
 * profile there in every form: heap.pb.gz, heap.txt, allocs.txt, bare.txt; and early.txt, before
 * any of it was freed.
 */
#include <pprof.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SMALL = 20000, BIG = 40, GARBAGE = 50000, KEPT_MAX = 100000 };

void *volatile kept[KEPT_MAX];
static int kept_count;

void alloc_small(int count)
{
    for (int i = 0; i < count; i++) {
        kept[kept_count++] = malloc(100);
    }
}

void alloc_big(int count)
{
    for (int i = 0; i < count; i++) {
        kept[kept_count++] = malloc(1 << 20);
    }
}

void garbage(int count)
{
    for (int i = 0; i < count; i++) {
        kept[kept_count] = malloc(2000);
        free(kept[kept_count]);
    }
}

static void *in_thread(void *unused)
{
    alloc_small(1000);
    return unused;
}

static int write_form(const char *directory, const char *file, const char *profile, int debug)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, file);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int error = pprof_profile_write(pprof_lookup(profile), pprof_writer_fd(fd), debug);
    close(fd);
    return error;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        return 2;
    }
    pprof_set_mem_profile_rate(atoll(argv[2]));
    alloc_small(SMALL);
    alloc_big(BIG);
    if (write_form(argv[1], "early.txt", "heap", 1) != 0) {
        return 1;
    }
    garbage(GARBAGE);
    pthread_t thread;
    if (pthread_create(&thread, NULL, in_thread, NULL) != 0 || pthread_join(thread, NULL) != 0) {
        return 1;
    }
    if (argc > 3) {
        pprof_set_mem_profile_rate(atoll(argv[3]));
        alloc_small(SMALL);
        garbage(GARBAGE);
    }
    pprof_set_mem_profile_rate(0);
    return write_form(argv[1], "heap.pb.gz", "heap", 0) != 0 ||
           write_form(argv[1], "heap.txt", "heap", 1) != 0 ||
           write_form(argv[1], "allocs.txt", "allocs", 1) != 0 ||
           write_form(argv[1], "bare.txt", "heap", PPROF_DEBUG_BARE) != 0;
}
