/* SPDX-License-Identifier: MIT
 *
 * contention.c FOLDER: some waits, then every form of the block and mutex profiles; prints what is
 * wrong with the records, nothing if all is well.
 */
#include <pprof.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WAITERS = 4, ROUNDS = 5 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *waits(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void holds(void)
{
    const struct timespec a_while = {.tv_nsec = 5000000};
    pthread_t threads[WAITERS];
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < WAITERS; i++)
        pthread_create(&threads[i], NULL, waits, NULL);
    nanosleep(&a_while, NULL);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < WAITERS; i++)
        pthread_join(threads[i], NULL);
}

static void write_form(const char *folder, const char *profile, int debug, const char *suffix)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%s", folder, profile, suffix);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0) {
        printf("%s: not opened\n", path);
        return;
    }
    int error = pprof_profile_write(pprof_lookup(profile), pprof_writer_fd(fd), debug);
    if (error != 0)
        printf("%s: error %d\n", path, error);
    close(fd);
}

typedef bool records_function(pprof_block_record *, size_t, size_t *);

static void check_records(const char *name, records_function *read)
{
    size_t n = 0;
    size_t again = 0;
    if (read(NULL, 0, &n) || n == 0)
        printf("%s: no records, or true without room\n", name);
    if (pprof_profile_count(pprof_lookup(name)) != n)
        printf("%s: the count is not that of the records\n", name);
    pprof_block_record *records = calloc(n, sizeof *records);
    if (read(records, n - 1, &again) || again != n || records[0].count != 0)
        printf("%s: not enough room was enough\n", name);
    if (!read(records, n, &again) || again != n)
        printf("%s: enough room was not enough\n", name);
    for (size_t i = 0; i < n; i++) {
        if (records[i].count < 1 || records[i].cycles < 0 || records[i].stack.depth == 0)
            printf("%s: record %zu is empty\n", name, i);
        if (i > 0 && records[i].cycles > records[i - 1].cycles)
            printf("%s: record %zu is not in order\n", name, i);
    }
    free(records);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    pprof_set_block_profile_rate(1);
    pprof_set_mutex_profile_fraction(1);
    for (int i = 0; i < ROUNDS; i++)
        holds();
    if (pprof_set_block_profile_rate(0) != 1 || pprof_set_mutex_profile_fraction(-1) != 1 ||
        pprof_set_mutex_profile_fraction(0) != 1 || pprof_set_mutex_profile_fraction(-1) != 0)
        printf("a rate was not what it had been set to\n");
    check_records("block", pprof_block_profile);
    check_records("mutex", pprof_mutex_profile);
    for (int i = 0; i < 2; i++) {
        const char *profile = i == 0 ? "block" : "mutex";
        write_form(argv[1], profile, 0, "pb.gz");
        write_form(argv[1], profile, 1, "txt");
        write_form(argv[1], profile, PPROF_DEBUG_BARE, "bare");
    }
    return 0;
}
