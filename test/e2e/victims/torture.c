/* SPDX-License-Identifier: MIT
 *
 * torture.c: a program that does a little of everything that the library looks at: threads, locks, memory,
 * mappings, descriptors, a library that is loaded and unloaded, a child. It prints what it found.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 300, BLOCK = 3000, MAPPING = 1 << 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long total;
static void *volatile kept;

static unsigned long use_memory(unsigned n)
{
    unsigned char *block = malloc(BLOCK + n);
    if (block == NULL) {
        return 0;
    }
    memset(block, (int)n, BLOCK + n);
    block = realloc(block, 2 * BLOCK);
    unsigned long sum = block != NULL ? block[n] : 0;
    free(block);
    return sum;
}

static void *work(void *argument)
{
    unsigned n = (unsigned)(size_t)argument;
    for (unsigned i = 0; i < ROUNDS; i++) {
        unsigned long sum = 0;
        for (unsigned k = 0; k < 20; k++) {
            sum += use_memory(i % 200 + n);
        }
        pthread_mutex_lock(&lock);
        total += sum;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static long use_descriptors(void)
{
    char line[64] = "";
    int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
    long got = read(fd, line, sizeof line);
    int copy = dup(fd);
    close(fd);
    return close(copy) == 0 ? got : -1;
}

static int use_child(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        _exit((int)(use_memory(5) & 7));
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
    pthread_t threads[THREADS];
    unsigned started = 0;
    while (started < THREADS &&
           pthread_create(&threads[started], NULL, work, (void *)(size_t)started) == 0) {
        started++;
    }
    char *mapping = mmap(NULL, MAPPING, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mapping[MAPPING / 2] = 7;
    void *library = dlopen("libm.so.6", RTLD_NOW);
    long read_bytes = use_descriptors();
    for (unsigned i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
    kept = malloc(100000);
    printf("%u threads, %lu, %d, %ld bytes, library %d, child %d\n", started, total,
           mapping[MAPPING / 2], read_bytes, library != NULL, use_child());
    munmap(mapping, MAPPING);
    return library != NULL && dlclose(library) == 0 ? 7 : 1;
}
