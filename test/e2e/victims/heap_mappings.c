/* SPDX-License-Identifier: MIT
 *
 * heap_mappings.c: maps memory directly and keeps a known part of it; each function by its name.
 * With the argument "fork" or "threads" it does it many times over, from several threads, and a
 * child of fork unmaps what it inherited.
 *
 * What is kept, in KiB: whole 8192, ends cut 4096 of 12288, hole 6144 of 8192, grown 16384,
 * replaced 3072 of 4096 and 1024, file 2048 (of a file), reserved 0, gone 0.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const size_t K = 1024;

static char *map(size_t kib, int protection, int flags, int fd)
{
    char *memory = mmap(NULL, kib * K, protection, MAP_PRIVATE | flags, fd, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    return memory;
}

static char *map_memory(size_t kib)
{
    return map(kib, PROT_READ | PROT_WRITE, MAP_ANONYMOUS, -1);
}

static void map_at(char *place, size_t kib)
{
    if (mmap(place, kib * K, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0) != place) {
        exit(1);
    }
}

static void keep_whole(void)
{
    memset(map_memory(8192), 1, 8192 * K);
}

static void cut_ends(void)
{
    char *memory = map_memory(12288);
    munmap(memory, 4096 * K);
    munmap(memory + 8192 * K, 4096 * K);
}

static void make_hole(void)
{
    char *memory = map_memory(8192);
    munmap(memory + 2048 * K, 2048 * K);
}

static void grow(void)
{
    char *memory = map_memory(4096);
    if (mremap(memory, 4096 * K, 16384 * K, MREMAP_MAYMOVE) == MAP_FAILED) {
        exit(1);
    }
}

static void replace(void)
{
    char *memory = map_memory(4096);
    map_at(memory + 1024 * K, 1024);
}

static void map_file(void)
{
    char name[] = "mapped.XXXXXX";
    int fd = mkstemp(name);
    if (fd < 0 || ftruncate(fd, (off_t)(2048 * K)) != 0) {
        exit(1);
    }
    map(2048, PROT_READ, 0, fd);
    close(fd);
    unlink(name);
}

static void reserve(void)
{
    map(1 << 20, PROT_NONE, MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

static void unmap_all(void)
{
    char *memory = map_memory(8192);
    munmap(memory, 1000 * 4096);
    munmap(memory + 1000 * 4096, 8192 * K - 1000 * 4096);
    /* Several at once, and what is not mapped between them. */
    char *both = map_memory(8192);
    munmap(both, 8192 * K);
    map_at(both, 2048);
    map_at(both + 4096 * K, 2048);
    munmap(both, 8192 * K);
}

static void *map_and_unmap(void *argument)
{
    for (unsigned i = 0; i < 3000; i++) {
        size_t pages = 1 + (i * 7 + (uintptr_t)argument) % 100;
        char *memory = map_memory(pages * 4);
        *memory = 1;
        size_t first = pages * (i % 3) / 3;
        munmap(memory + first * 4096, (pages - first) * 4096);
        if (first > 0) {
            munmap(memory, first * 4096);
        }
    }
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++) {
        pthread_create(&threads[i], NULL, map_and_unmap, (void *)i);
    }
    for (int i = 0; i < 50; i++) {
        pid_t child = fork();
        if (child == 0) {
            map_and_unmap(NULL);
            _exit(7);
        }
        int status = 0;
        if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7) {
            exit(1);
        }
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "threads") == 0) {
        run_threads();
        puts("ok");
        return 0;
    }
    keep_whole();
    cut_ends();
    make_hole();
    grow();
    replace();
    map_file();
    reserve();
    unmap_all();
    puts("ok");
    return 0;
}
