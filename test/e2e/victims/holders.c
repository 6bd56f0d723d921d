/* SPDX-License-Identifier: MIT
 *
 * holders.c: memory of known sizes, held in every way; says what it holds, and waits for a line.
 *
 *   holders FILE [huge]   FILE: 4 MiB, to be mapped
 *
 * It says lines "WHAT KIB": what is in memory by its own account. Each of a hundred threads has an
 * arena: it allocates blocks, frees two of three, and touches a part of its stack.
 * Flags: -fno-inline -fno-optimize-sibling-calls
 */
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    THREADS = 100,
    BLOCKS = 600,
    BLOCK = 1000,
    KEPT = 3,
    STACK_TOUCHED = 192 << 10,
    LARGE = 16 << 20,
    UNTOUCHED = 64 << 20,
    MAPPED = 24 << 20,
    SHARED = 8 << 20,
    FILE_BYTES = 4 << 20,
    VARIABLES = 2 << 20,
    KIB = 1024
};

static pthread_barrier_t ready, over;
static char *blocks[THREADS][BLOCKS];
static char *volatile large, *volatile untouched,
                                 *volatile mapped; /* else they could be left out */
static char variables[VARIABLES];

__attribute__((noinline)) static char *make_block(void)
{
    char *block = malloc(BLOCK);
    memset(block, 1, BLOCK);
    return block;
}

__attribute__((noinline)) static void touch_stack(void)
{
    volatile char stack[STACK_TOUCHED];
    for (int i = 0; i < STACK_TOUCHED; i += KIB) {
        stack[i] = 1;
    }
    __asm__ volatile("" ::"m"(stack));
}

static void *run(void *of_blocks)
{
    char **list = of_blocks;
    for (int i = 0; i < BLOCKS; i++) {
        list[i] = make_block();
    }
    pthread_barrier_wait(&ready); /* no thread takes an arena that another one has given back */
    for (int i = 0; i < BLOCKS; i++) {
        if (i % KEPT != 0) {
            free(list[i]);
        }
    }
    touch_stack();
    pthread_barrier_wait(&ready);
    pthread_barrier_wait(&over);
    return NULL;
}

__attribute__((noinline)) static void make_large(void)
{
    large = malloc(LARGE);
    memset(large, 1, LARGE);
}

__attribute__((noinline)) static void make_untouched(void)
{
    untouched = calloc(1, UNTOUCHED);
}

/* Half of it is touched. */
__attribute__((noinline)) static void map_memory(int flags)
{
    mapped = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (mapped == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    memset(mapped, 1, MAPPED / 2);
}

__attribute__((noinline)) static void map_shared(void)
{
    int fd = memfd_create("pool", 0);
    if (fd < 0 || ftruncate(fd, SHARED) != 0) {
        perror("memfd");
        exit(1);
    }
    char *shared = mmap(NULL, SHARED, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    memset(shared, 1, SHARED);
    close(fd);
}

__attribute__((noinline)) static void map_file(const char *path)
{
    int fd = open(path, O_RDONLY);
    const char *file = mmap(NULL, FILE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
    volatile char seen = 0;
    if (file == MAP_FAILED) {
        perror(path);
        exit(1);
    }
    for (int i = 0; i < FILE_BYTES; i += KIB) {
        seen = file[i];
    }
    (void)seen;
    close(fd);
}

/* A child that shares all of it, until the end. */
static pid_t fork_child(const int pipe_ends[2])
{
    pid_t child = fork();
    if (child == 0) {
        char byte;
        close(pipe_ends[1]);
        _exit(read(pipe_ends[0], &byte, 1) == 0 ? 0 : 1);
    }
    close(pipe_ends[0]);
    return child;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    int pipe_ends[2];
    char line[16];
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* what is not touched is not there */
    if (argc < 2 || pipe(pipe_ends) != 0) {
        return 1;
    }
#ifdef M_ARENA_MAX
    mallopt(M_ARENA_MAX, 2 * THREADS);
#endif
    pthread_barrier_init(&ready, NULL, THREADS + 1);
    pthread_barrier_init(&over, NULL, THREADS + 1);
    memset(variables, 1, sizeof variables);
    make_large();
    make_untouched();
    map_memory(argc > 2 ? MAP_HUGETLB : 0);
    map_shared();
    map_file(argv[1]);
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&thread[i], NULL, run, blocks[i]);
    }
    pthread_barrier_wait(&ready);
    pthread_barrier_wait(&ready);
    pid_t child = fork_child(pipe_ends);
    printf("blocks %d\nlarge %d\nmapped %d\nshared %d\nfile %d\nvariables %d\nstacks %d\npid "
           "%d\nready\n",
           THREADS * (BLOCKS / KEPT) * BLOCK / KIB, LARGE / KIB, MAPPED / 2 / KIB, SHARED / KIB,
           FILE_BYTES / KIB, VARIABLES / KIB, THREADS * STACK_TOUCHED / KIB, getpid());
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL) {
        line[0] = '\0';
    }
    close(pipe_ends[1]);
    waitpid(child, NULL, 0);
    pthread_barrier_wait(&over);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    return 0;
}
