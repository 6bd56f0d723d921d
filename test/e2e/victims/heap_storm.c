/* SPDX-License-Identifier: MIT
 *
 * heap_storm.c: allocates and frees as fast as it can, and ends with nothing left.
 *
 *   storm THREADS BLOCKS   BLOCKS blocks, 1 to 2048 bytes, shared out to the threads; each goes
 *                          into a box of 4096 places and whoever draws its place next frees it.
 *                          Every sixteenth is resized first.
 *   churn BLOCKS           one after another, of the same size, the last 1000 of them alive
 *
 * Prints "blocks N", the mallocs and reallocs made, and "grown N", by how many KiB the resident
 * memory grew between the first tenth and the end.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { PLACES = 4096, RING = 1000, CHURN_BYTES = 64, MAX_THREADS = 64 };

static void *box[PLACES];
static uint64_t share, made;
static uint64_t finished_tenths;

static long resident_kib(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    char line[128];
    char *second = NULL;
    if (file == NULL || fgets(line, sizeof line, file) == NULL ||
        (second = strchr(line, ' ')) == NULL) {
        exit(1);
    }
    pages = strtol(second, NULL, 10);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void *allocate(size_t size)
{
    void *block = malloc(size);
    if (block == NULL) {
        exit(1);
    }
    return block;
}

static void *storm(void *argument)
{
    uint64_t state = (uintptr_t)argument * 0x9e3779b97f4a7c15u + 1;
    uint64_t calls = 0;
    for (uint64_t i = 0; i < share; i++) {
        if (i == share / 10) {
            __atomic_add_fetch(&finished_tenths, 1, __ATOMIC_RELEASE);
        }
        state = state * 6364136223846793005u + 1442695040888963407u;
        size_t size = 1 + (state >> 40) % 2048;
        unsigned char *block = allocate(size);
        calls++;
        block[0] = (unsigned char)size;
        if ((state >> 33) % 16 == 0) {
            block = realloc(block, size * 2);
            calls++;
            if (block == NULL || block[0] != (unsigned char)size) {
                exit(1);
            }
        }
        free(__atomic_exchange_n(&box[(state >> 20) % PLACES], block, __ATOMIC_ACQ_REL));
    }
    __atomic_add_fetch(&made, calls, __ATOMIC_RELAXED);
    return NULL;
}

static void run_storm(unsigned threads)
{
    pthread_t thread[MAX_THREADS];
    for (uintptr_t i = 0; i < threads; i++) {
        if (pthread_create(&thread[i], NULL, storm, (void *)i) != 0) {
            exit(1);
        }
    }
    while (__atomic_load_n(&finished_tenths, __ATOMIC_ACQUIRE) < threads) {
        usleep(1000);
    }
    long before = resident_kib();
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
    }
    long grown = resident_kib() - before;
    for (unsigned i = 0; i < PLACES; i++) {
        free(box[i]);
    }
    printf("blocks %llu\ngrown %ld\n", (unsigned long long)made, grown);
}

static void run_churn(uint64_t blocks)
{
    static void *ring[RING];
    long before = 0;
    for (uint64_t i = 0; i < blocks; i++) {
        if (i == blocks / 10) {
            before = resident_kib();
        }
        free(ring[i % RING]);
        ring[i % RING] = allocate(CHURN_BYTES);
    }
    long grown = resident_kib() - before;
    for (unsigned i = 0; i < RING; i++) {
        free(ring[i]);
    }
    printf("blocks %llu\ngrown %ld\n", (unsigned long long)blocks, grown);
}

int main(int argc, char **argv)
{
    /* The kernel makes one page of 2 MiB of a few small ones, when it likes. */
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    if (argc == 4 && strcmp(argv[1], "storm") == 0) {
        unsigned threads = (unsigned)strtoul(argv[2], NULL, 10);
        if (threads == 0 || threads > MAX_THREADS) {
            return 2;
        }
        share = strtoull(argv[3], NULL, 10) / threads;
        run_storm(threads);
        return 0;
    }
    if (argc == 3 && strcmp(argv[1], "churn") == 0) {
        run_churn(strtoull(argv[2], NULL, 10));
        return 0;
    }
    return 2;
}
