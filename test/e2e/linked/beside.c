/* SPDX-License-Identifier: MIT
 *
 * beside.c CASE [FILE]: cases that Go has, too (e2e/go/beside.go). Both print the same.
 */
#include <pprof.h>

#include "must.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static const void *value_of(uintptr_t number)
{
    return (const void *)number; /* NOLINT(performance-no-int-to-ptr): values are any word */
}

/* ---- count ---- */

static pprof_profile *profile;
static bool over;

static void *replace(void *unused)
{
    enum { REPLACEMENTS = 200000 };
    for (uintptr_t i = 1; i <= REPLACEMENTS; i++) {
        check(pprof_profile_add(profile, value_of(i), 0) == 0, "add");
        check(pprof_profile_remove(profile, value_of(i - 1)) == 0, "remove");
    }
    __atomic_store_n(&over, true, __ATOMIC_RELEASE);
    return unused;
}

/* A profile in which the next value comes before the one before it goes. */
static void count(void)
{
    pthread_t thread;
    long outside = 0;
    profile = pprof_new_profile("example.count");
    check(pprof_profile_add(profile, value_of(0), 0) == 0, "add");
    check(pthread_create(&thread, NULL, replace, NULL) == 0, "pthread_create");
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
        size_t n = pprof_profile_count(profile);
        outside += n < 1 || n > 2;
    }
    pthread_join(thread, NULL);
    printf("counts that are neither 1 nor 2: %ld\n", outside);
    printf("at the end: %zu\n", pprof_profile_count(profile));
}

/* ---- texts ---- */

enum { TEXT_BYTES = 1 << 20, LINES = 1000 };

static char text[TEXT_BYTES];
static size_t text_length;

static int write_text(void *ctx, const void *data, size_t length)
{
    (void)ctx;
    check(text_length + length < sizeof text, "room for the text");
    memcpy(text + text_length, data, length);
    text_length += length;
    return 0;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Prints the lines that begin with `prefix`, sorted. */
static void print_lines(pprof_profile *of, const char *prefix)
{
    const char *lines[LINES];
    size_t count = 0;
    text_length = 0;
    check(pprof_profile_write(of, (pprof_writer){write_text, NULL}, 1) == 0, "text");
    text[text_length] = '\0';
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        if (strncmp(line, prefix, strlen(prefix)) == 0 && count < LINES) {
            lines[count++] = line;
        }
    }
    qsort(lines, count, sizeof *lines, by_text);
    for (size_t i = 0; i < count; i++) {
        puts(lines[i]);
    }
}

static void write_file(pprof_profile *of, const char *path, int debug)
{
    FILE *file = fopen(path, "w");
    check(file != NULL && pprof_profile_write(of, pprof_writer_stdio(file), debug) == 0, "file");
    check(fclose(file) == 0, "fclose");
}

/* ---- labels ---- */

static const char *file_path;
static sem_t ready, may_end;

static void wait_in_set(void *unused)
{
    (void)unused;
    sem_post(&ready);
    while (sem_wait(&may_end) != 0) {
    }
}

typedef struct set {
    const char *key_values[4];
    size_t pairs;
} set;

static void *have_labels(void *argument)
{
    const set *mine = argument;
    pprof_do(mine->key_values, mine->pairs, wait_in_set, NULL);
    return NULL;
}

/* Sets of labels, some of whose values are empty; the profile of threads goes to the file. */
static void labels(void)
{
    static set sets[] = {{{"empty", ""}, 1},
                         {{"empty", "", "k", "v"}, 2},
                         {{"a", "1", "z", ""}, 2},
                         {{"quo\"te", "tab\t"}, 1},
                         {{"twice", "1", "twice", ""}, 2}};
    enum { SETS = sizeof sets / sizeof *sets };
    pthread_t threads[SETS];
    sem_init(&ready, 0, 0);
    sem_init(&may_end, 0, 0);
    for (size_t i = 0; i < SETS; i++) {
        check(pthread_create(&threads[i], NULL, have_labels, &sets[i]) == 0, "pthread_create");
    }
    for (size_t i = 0; i < SETS; i++) {
        while (sem_wait(&ready) != 0) {
        }
    }
    print_lines(pprof_lookup("goroutine"), "# labels: ");
    write_file(pprof_lookup("goroutine"), file_path, 0);
    for (size_t i = 0; i < SETS; i++) {
        sem_post(&may_end);
    }
    for (size_t i = 0; i < SETS; i++) {
        pthread_join(threads[i], NULL);
    }
}

/* ---- large sets ---- */

enum { LONG = 20000, MANY = 10000, NAME = 16 };

static char as[LONG + 1], bs[LONG + 1];
static char names[MANY][NAME];

static void *print_all_labels(void *unused)
{
    pprof_labels_unref(pprof_set_thread_labels(NULL));
    print_lines(pprof_lookup("goroutine"), "# labels: ");
    return unused;
}

/* From a thread without any: Go 1.19 shows none of the caller. */
static void print_labels(void *unused)
{
    pthread_t thread;
    check(pthread_create(&thread, NULL, print_all_labels, unused) == 0, "pthread_create");
    pthread_join(thread, NULL);
}

/* A long value in the place of another one, and many labels more. */
static void add_labels(void *unused)
{
    static const char *many[2 * MANY];
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], NAME, "key%d", i * 7 % MANY);
        many[2 * i] = names[i];
        many[2 * i + 1] = "v";
    }
    pprof_do((const char *const[]){"k", bs}, 1, print_labels, unused);
    pprof_do(many, MANY, print_labels, unused);
    pprof_do((const char *const[]){"k", bs, "k", "short"}, 2, print_labels, unused);
}

static void large(void)
{
    memset(as, 'A', LONG);
    memset(bs, 'B', LONG);
    pprof_do((const char *const[]){"k", as, "o", "x"}, 2, add_labels, NULL);
}

/* ---- rates ---- */

/* Nobody posts. Returns how many waits have been recorded by now. */
static long long wait_a_moment(void)
{
    pprof_block_record records[100];
    sem_t never;
    struct timespec end;
    size_t n = 0;
    long long count = 0;
    check(sem_init(&never, 0, 0) == 0 && clock_gettime(CLOCK_REALTIME, &end) == 0, "sem_init");
    end.tv_nsec += 1000000;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    check(sem_timedwait(&never, &end) != 0 && errno == ETIMEDOUT, "sem_timedwait");
    check(pprof_block_profile(records, 100, &n), "pprof_block_profile");
    for (size_t i = 0; i < n; i++) {
        count += records[i].count;
    }
    return count;
}

static void print_rate(const char *what, int64_t rate)
{
    printf("%s: %lld\n", what, (long long)rate);
}

/* A wait while all are recorded, one while none is. */
static void rates(void)
{
    pprof_set_block_profile_rate(PPROF_RATE_ALL);
    print_rate("recorded at rate 1", wait_a_moment());
    /* What Go lacks: to read it. */
    check(pprof_set_block_profile_rate(PPROF_RATE_READ) == PPROF_RATE_ALL, "the rate is read");
    check(pprof_set_block_profile_rate(-7) == PPROF_RATE_ALL, "the rate is read");
    check(pprof_set_block_profile_rate(PPROF_RATE_OFF) == PPROF_RATE_ALL, "it was left as it was");
    print_rate("recorded in all, when off", wait_a_moment());
    check(pprof_set_block_profile_rate(0) == PPROF_RATE_OFF, "it was off");
    print_rate("recorded in all, at rate 0", wait_a_moment());
    print_rate("fraction before 3", pprof_set_mutex_profile_fraction(3));
    print_rate("fraction read", pprof_set_mutex_profile_fraction(PPROF_RATE_READ));
    print_rate("fraction read again", pprof_set_mutex_profile_fraction(-5));
    print_rate("fraction before it is off", pprof_set_mutex_profile_fraction(PPROF_RATE_OFF));
    print_rate("fraction when off", pprof_set_mutex_profile_fraction(PPROF_RATE_READ));
}

/* ---- collector ---- */

enum { GARBAGE = 1000, KEPT = 10, GARBAGE_SIZE = 3456 };

static char objects[GARBAGE + KEPT][16]; /* they are compared, never looked into */
static bool is_there[GARBAGE + KEPT];

/* What is dead, and what was kept until now. */
static void make_garbage(void)
{
    for (size_t i = 0; i < GARBAGE + KEPT; i++) {
        if (i >= GARBAGE && is_there[i]) {
            pprof_heap_record_sweep(
                objects[i]); /* found dead by a collection that nobody told of */
        }
        is_there[i] = true;
        pprof_heap_record_alloc(objects[i], GARBAGE_SIZE);
    }
}

static void collect(void)
{
    pprof_heap_cycle_next();
    pprof_heap_cycle_flush();
    for (size_t i = 0; i < GARBAGE; i++) {
        is_there[i] = false;
        pprof_heap_record_sweep(objects[i]);
    }
    pprof_heap_cycle_post_sweep();
}

/* Garbage, and a collection before the heap is written: by itself, where there is a collector. */
static void collector(void)
{
    static pprof_mem_record records[10000];
    pprof_set_mem_profile_rate(PPROF_RATE_ALL);
    pprof_set_collector(collect);
    for (int i = 0; i < 3; i++) {
        size_t n = 0;
        long long allocated = 0;
        long long in_use = 0;
        make_garbage();
        print_lines(pprof_lookup("heap"), "# NumForcedGC");
        check(pprof_mem_profile(records, 10000, &n, true), "pprof_mem_profile");
        for (size_t k = 0; k < n; k++) {
            if (records[k].alloc_bytes == records[k].alloc_objects * GARBAGE_SIZE) {
                allocated += records[k].alloc_objects;
                in_use += pprof_mem_record_inuse_objects(&records[k]);
            }
        }
        printf("%lld allocated, %lld in use\n", allocated, in_use);
    }
}

/* ---- allocs ---- */

enum { BLOCKS = 1000, BLOCK_BYTES = 1024 };

static void *volatile last;

__attribute__((noinline)) void site_direct(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        last = malloc(BLOCK_BYTES);
    }
}

__attribute__((noinline)) void site_zeroed(void)
{
    for (int i = 0; i < 2 * BLOCKS; i++) {
        last = calloc(1, BLOCK_BYTES);
    }
}

__attribute__((noinline)) void site_grown(void)
{
    for (int i = 0; i < 3 * BLOCKS; i++) {
        last = realloc(NULL, BLOCK_BYTES);
    }
}

__attribute__((noinline)) void site_helper(void)
{
    last = malloc(BLOCK_BYTES);
    __asm__ volatile(""); /* malloc is not its last call */
}

__attribute__((noinline)) void site_helped(void)
{
    for (int i = 0; i < 4 * BLOCKS; i++) {
        site_helper();
    }
}

/* Blocks of different functions; all that was allocated goes to the file, and as text to the one
 * beside it. */
static void allocs(void)
{
    char text_path[4096];
    check(snprintf(text_path, sizeof text_path, "%s.txt", file_path) < (int)sizeof text_path,
          "path");
    pprof_set_mem_profile_rate(PPROF_RATE_ALL);
    site_direct();
    site_zeroed();
    site_grown();
    site_helped();
    write_file(pprof_lookup("allocs"), file_path, 0);
    write_file(pprof_lookup("allocs"), text_path, 1);
}

/* ---- kept ---- */

/* The header of a heap of which nothing that was recorded is dead. */
static void kept(void)
{
    long long in_use = 0;
    long long allocated = 0;
    pprof_set_mem_profile_rate(PPROF_RATE_ALL);
    pprof_heap_record_alloc(objects[0], GARBAGE_SIZE);
    pprof_set_mem_profile_rate(PPROF_RATE_OFF);
    text_length = 0;
    check(pprof_profile_write(pprof_lookup("heap"), (pprof_writer){write_text, NULL}, 1) == 0,
          "text");
    text[text_length] = '\0';
    check(sscanf(text, "heap profile: %*d: %lld [%*d: %lld]", &in_use, &allocated) == 2, "header");
    printf("bytes in use: %s, allocated: %lld more\n", in_use >= GARBAGE_SIZE ? "some" : "none",
           allocated - in_use);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"allocs", allocs}, {"collector", collector}, {"count", count}, {"kept", kept},
                 {"labels", labels}, {"large", large},         {"rates", rates}};
    file_path = argc > 2 ? argv[2] : "/dev/null";
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(cases[i].name, argv[1]) == 0) {
            cases[i].run();
            return 0;
        }
    }
    return 2;
}
