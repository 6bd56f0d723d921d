/* SPDX-License-Identifier: MIT
 *
 * fractions.c FILE FRACTION...: sets one fraction of the mutex profile after the other, and makes
 * threads wait for a lock under each, until that was recorded ("+5": sets it only). Prints the
 * comments of the profile's text as they are then, and writes profile.proto to the file.
 */
#include <pprof.h>

#include "must.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_there;

static void *waits(void *unused)
{
    atomic_store(&is_there, true);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

void holds(void)
{
    pthread_t thread;
    atomic_store(&is_there, false);
    pthread_mutex_lock(&mutex);
    check(pthread_create(&thread, NULL, waits, NULL) == 0, "pthread_create");
    while (!atomic_load(&is_there)) {
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL); /* else it is tried again */
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
}

static int64_t releases(void)
{
    pprof_block_record records[100];
    size_t n = 0;
    int64_t count = 0;
    check(pprof_mutex_profile(records, 100, &n), "pprof_mutex_profile");
    for (size_t i = 0; i < n; i++) {
        if (records[i].stack.depth > 1) { /* else pprof_unseen_holder, which has no fraction */
            count += records[i].count;
        }
    }
    return count;
}

static int print_comments(void *ctx, const void *data, size_t length)
{
    static char line[512];
    static size_t used;
    (void)ctx;
    for (const char *byte = data; byte < (const char *)data + length; byte++) {
        line[used < sizeof line - 1 ? used++ : used] = *byte;
        if (*byte == '\n') {
            line[used] = '\0';
            used = 0;
            if (strncmp(line, "# ", 2) == 0) {
                fputs(line, stdout);
            }
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    check(argc > 2, "usage: fractions FILE FRACTION...");
    for (int i = 2; i < argc; i++) {
        int64_t before = releases();
        int64_t fraction = strtoll(argv[i], NULL, 10);
        pprof_set_mutex_profile_fraction(fraction);
        while (*argv[i] != '+' && fraction > 0 && releases() == before) {
            holds();
        }
    }
    FILE *file = fopen(argv[1], "w");
    check(file != NULL, argv[1]);
    check(pprof_profile_write(pprof_lookup("mutex"), pprof_writer_stdio(file), 0) == 0, "write");
    check(fclose(file) == 0, "fclose");
    check(pprof_profile_write(pprof_lookup("mutex"), (pprof_writer){print_comments, NULL}, 1) == 0,
          "write");
    return 0;
}
