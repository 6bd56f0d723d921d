/* SPDX-License-Identifier: MIT
 *
 * guest.c: threads that share a lock, blocks, descriptors and time; correct, so that no sanitizer
 * has anything to say. Knows nothing of the library. Exits with 42.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 2000, SIZE = 64, BURN_MS = 50 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned long total;

static void burn(void)
{
    volatile unsigned sink = 0;
    struct timespec start;
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    do {
        for (unsigned i = 0; i < 10000; i++) {
            sink += i;
        }
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 <
             BURN_MS);
}

static void *work(void *argument)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        size_t size = SIZE + i % SIZE;
        unsigned char *block = malloc(size);
        memset(block, 1, size);
        block = realloc(block, 2 * size);
        pthread_mutex_lock(&mutex);
        total += block[size - 1];
        pthread_mutex_unlock(&mutex);
        free(block);
    }
    burn();
    return argument;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, work, NULL);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    int fd = open("/dev/null", O_WRONLY);
    if (fd < 0 || close(fd) != 0) {
        return 1;
    }
    printf("total %lu\n", total);
    return 42;
}
