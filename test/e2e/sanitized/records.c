/* SPDX-License-Identifier: MIT
 *
 * records.c CASE: what a program that is built with a sanitizer does with arrays that the library
 * fills in; built by test_sanitizers.sh.
 *
 *   read    has them filled in, and decides on each word of them: nothing is wrong
 *   short   says that there is more room than there is
 *   freed   has an array filled in that it has freed
 *   race    two threads have one array filled in
 */
#include <pprof.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 4 };

static uintptr_t shared[FRAMES];
static pthread_barrier_t both;

/* A decision on each word, which MemorySanitizer looks at. */
static void look_at(const void *data, size_t size)
{
    const volatile uintptr_t *words = data;
    for (size_t i = 0; i < size / sizeof *words; i++) {
        if (words[i] == 0x123456789)
            puts("a rare word");
    }
}

/* One contention, for the records. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *waits(void *unused)
{
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void contend(void)
{
    pthread_t thread;
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, waits, NULL);
    pthread_barrier_wait(&both);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL); /* a block event by itself */
}

static int read_all(void)
{
    uintptr_t pcs[64];
    size_t n = 0;
    pprof_set_block_profile_rate(1);
    contend();
    pprof_set_block_profile_rate(0);
    pprof_block_profile(NULL, 0, &n);
    pprof_block_record *records = malloc((n + 1) * sizeof *records);
    if (!pprof_block_profile(records, n, &n))
        return 1;
    look_at(records, n * sizeof *records);
    free(records);
    pprof_mem_profile(NULL, 0, &n, true);
    pprof_mem_record *memory = malloc((n + 50) * sizeof *memory);
    if (!pprof_mem_profile(memory, n + 50, &n, true))
        return 1;
    look_at(memory, n * sizeof *memory);
    free(memory);
    look_at(pcs, pprof_callers(0, pcs, 64) * sizeof *pcs);
    return 0;
}

static size_t callers_into(uintptr_t *pcs, size_t room)
{
    return room == 0 ? pprof_callers(0, pcs, FRAMES) : callers_into(pcs, room - 1) + 1;
}

static void *fill_shared(void *unused)
{
    pthread_barrier_wait(&both);
    callers_into(shared, FRAMES);
    return unused;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    uintptr_t *array = malloc(2 * sizeof *array);
    pthread_barrier_init(&both, NULL, 2);
    if (strcmp(what, "read") == 0)
        return read_all();
    if (strcmp(what, "short") == 0) {
        callers_into(array, FRAMES);
    } else if (strcmp(what, "freed") == 0) {
        free(array);
        callers_into(array, FRAMES);
    } else if (strcmp(what, "race") == 0) {
        pthread_t threads[2];
        for (int i = 0; i < 2; i++)
            pthread_create(&threads[i], NULL, fill_shared, NULL);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
    }
    return 0;
}
