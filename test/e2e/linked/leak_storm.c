/* SPDX-License-Identifier: MIT
 *
 * leak_storm.c: searches for leaks while the program does its worst. Nothing is ever lost, except at one
 * place, which each search has to find.
 *
 * usage: leak_storm SEARCHES THREADS...    a thread for each name
 *
 *   move      moves the only pointers to blocks between places: variables, a mapping, a block, its stack
 *   rebuild   copies the only pointers to blocks into a new array, and frees the old one
 *   churn     allocates, links and frees blocks
 *   map       maps, protects, gives up and unmaps memory, some of it full of pointers
 *   fork      forks
 *   load      loads and unloads a library
 *   start     starts threads with the only pointer to a block as argument
 *   strange   memory that may not be touched: guard pages, PROT_NONE, given up, memfd_secret, a
 *             userfaultfd that nobody serves, a device's; and huge pages with the only pointers to blocks
 *
 * Prints "search N: M sites" where that is not 1. The exit status is 0 if all searches found the one
 * place, no absent page was touched, and, without threads, the program has not grown by more than 1 %,
 * not even during a search.
 */
#include "pprof.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PLACES = 64, BLOCKS = 16, ABSENT = 64 << 20, PAGE = 4096, HUGE_PAGE = 2 << 20 };

static atomic_bool over;

static uint64_t random_of(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* ---- threads ---- */

static void *_Atomic variables[16 * PLACES];
static atomic_int movers;

static void move(void)
{
    int mine = atomic_fetch_add(&movers, 1) % 16;
    void *_Atomic on_stack[PLACES] = {NULL};
    void *_Atomic *in_block = calloc(PLACES, sizeof *in_block);
    void *_Atomic *in_mapping = mmap(NULL, PLACES * sizeof *in_mapping, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *_Atomic *places[] = {&variables[mine * PLACES], on_stack, in_block, in_mapping};
    uint64_t state = 88172645463325252u + (uint64_t)mine;
    for (int i = 0; i < BLOCKS; i++) {
        places[i % 4][i] = malloc(100);
    }
    while (!over) {
        void *_Atomic *from = &places[random_of(&state) % 4][random_of(&state) % PLACES];
        void *_Atomic *to = &places[random_of(&state) % 4][random_of(&state) % PLACES];
        void *moved = atomic_load_explicit(from, memory_order_relaxed);
        if (moved != NULL && atomic_load_explicit(to, memory_order_relaxed) == NULL) {
            atomic_store_explicit(to, moved, memory_order_relaxed);
            atomic_store_explicit(from, NULL, memory_order_relaxed);
        }
    }
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < PLACES; i++) {
            free(places[k][i]);
        }
    }
    free((void *)in_block);
}

static void rebuild(void)
{
    void **array = malloc(BLOCKS * sizeof *array);
    for (int i = 0; i < BLOCKS; i++) {
        array[i] = malloc(100);
    }
    for (uint64_t turn = 0; !over; turn++) {
        size_t more = turn % 100;
        void **copy = malloc((BLOCKS + more) * sizeof *copy);
        memcpy(copy, array, BLOCKS * sizeof *copy);
        memset(array, 0, BLOCKS * sizeof *copy);
        free(array);
        array = copy;
    }
    for (int i = 0; i < BLOCKS; i++) {
        free(array[i]);
    }
    free(array);
}

static void churn(void)
{
    typedef struct item {
        struct item *next;
        char rest[];
    } item;
    uint64_t state = 88172645463325252u ^ (uint64_t)pthread_self();
    item *head = NULL;
    int count = 0;
    while (!over || head != NULL) {
        if (!over && (count < 100 || (count < 1000 && random_of(&state) % 2))) {
            item *i = malloc(sizeof *i + random_of(&state) % 2000);
            i->next = head;
            head = i;
            count++;
        } else {
            item *i = head;
            head = i->next;
            free(i);
            count--;
        }
    }
}

static void map(void)
{
    uint64_t state = 88172645463325252u ^ (uint64_t)pthread_self();
    while (!over) {
        size_t size = PAGE * (1 + random_of(&state) % 256);
        char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED) {
            continue;
        }
        memset(at, (int)size, size);
        switch (random_of(&state) % 4) {
        case 0:
            mprotect(at, size, PROT_NONE);
            break;
        case 1:
            madvise(at, size, MADV_DONTNEED);
            break;
        case 2:
            mprotect(at + size / 2 / PAGE * PAGE, PAGE, PROT_NONE);
            break;
        default:
            break;
        }
        munmap(at, size);
    }
}

static void forks(void)
{
    while (!over) {
        pid_t child = fork();
        if (child == 0) {
            _exit(0);
        }
        int status = 0;
        while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
    }
}

static void load(void)
{
    while (!over) {
        void *library = dlopen("libutil.so.1", RTLD_NOW);
        library = library != NULL ? library : dlopen("libm.so.6", RTLD_NOW);
        if (library != NULL) {
            dlclose(library);
        }
    }
}

static void *started(void *block)
{
    struct timespec pause = {.tv_nsec = 1000000};
    nanosleep(&pause, NULL);
    free(block);
    return NULL;
}

static void start(void)
{
    while (!over) {
        pthread_t thread;
        void *block = malloc(200);
        if (pthread_create(&thread, NULL, started, block) == 0) {
            block = NULL;
            pthread_join(thread, NULL);
        }
        free(block);
    }
}

/* ---- memory that may not be touched ---- */

static char *absent, *absent_huge;
static int faults = -1;
void *past_its_end;
char *resident;
void **huge, **reserved_huge;

/* The kernel puts no page there by itself: it would make one of 2 MiB of absent pages and their neighbours. */
static char *map_memory(size_t size, int flags)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (at == MAP_FAILED) {
        return NULL;
    }
    madvise(at, size, MADV_NOHUGEPAGE);
    return at;
}

static void make_absent(void)
{
    absent = map_memory(ABSENT, 0);
    memset(absent, 1, ABSENT / 2);
    madvise(absent, ABSENT / 2, MADV_DONTNEED);
    absent_huge = map_memory(ABSENT, 0);
    madvise(absent_huge, ABSENT, MADV_HUGEPAGE);
    char *none = map_memory(1 << 20, 0);
    memset(none, 1, 1 << 20);
    mprotect(none, 1 << 20, PROT_NONE);
    char *guarded = map_memory(64 * PAGE, 0);
    for (int i = 0; i < 64; i += 2) {
        mprotect(guarded + i * PAGE, PAGE, PROT_NONE);
        guarded[(i + 1) * PAGE] = 1;
    }
    int file = open("/proc/self/exe", O_RDONLY);
    if (file >= 0) { /* its end is SIGBUS */
        past_its_end = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
        close(file);
    }
}

static void keep_blocks_in(void **memory)
{
    for (int i = 0; i < 2 * PLACES; i++) {
        memory[31 * i] = malloc(100);
    }
}

/* Transparent ones, and those of the system's pool, if it has any. */
static void make_huge(void)
{
    char *at = map_memory(2 * HUGE_PAGE, 0);
    madvise(at, 2 * HUGE_PAGE, MADV_HUGEPAGE);
    huge = (void **)(((uintptr_t)at + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
    keep_blocks_in(huge);
    reserved_huge = (void **)map_memory(HUGE_PAGE, MAP_HUGETLB);
    if (reserved_huge != NULL) {
        keep_blocks_in(reserved_huge);
        printf("hugetlb\n");
    }
}

static void make_secret(void)
{
#ifdef SYS_memfd_secret
    int secret = (int)syscall(SYS_memfd_secret, 0);
    if (secret >= 0 && ftruncate(secret, 1 << 20) == 0) {
        char *at = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, secret, 0);
        if (at != MAP_FAILED) {
            memset(at, 1, 1 << 20);
            printf("memfd_secret\n");
        }
    }
#endif
}

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1 /* Linux 5.11 */
#endif

/* Where it is permitted, the kernel's own faults wait, too: a search that touches the memory hangs. */
static void make_faults(void)
{
    faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
    bool all = faults >= 0;
    faults = all ? faults : (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    struct uffdio_api api = {.api = UFFD_API};
    if (faults >= 0 && ioctl(faults, UFFDIO_API, &api) == 0) {
        void *at = map_memory(1 << 20, 0);
        struct uffdio_register wanted = {.range = {(uintptr_t)at, 1 << 20},
                                         .mode = UFFDIO_REGISTER_MODE_MISSING};
        if (ioctl(faults, UFFDIO_REGISTER, &wanted) == 0) {
            printf("userfaultfd%s\n", all ? "" : ", of the program's own faults");
        }
    }
}

/* The ring of a perf event. */
static void make_device(void)
{
    struct perf_event_attr dummy = {.type = PERF_TYPE_SOFTWARE,
                                    .size = sizeof dummy,
                                    .config = PERF_COUNT_SW_DUMMY,
                                    .exclude_kernel = 1,
                                    .exclude_hv = 1};
    int event = (int)syscall(SYS_perf_event_open, &dummy, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (event >= 0 &&
        mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0) != MAP_FAILED) {
        printf("perf event\n");
    }
}

static void make_strange(void)
{
    resident = map_memory(2 * ABSENT, 0);
    memset(resident, 1, 2 * ABSENT);
    make_absent();
    make_huge();
    make_secret();
    make_faults();
    make_device();
}

static bool is_there(const char *memory)
{
    static unsigned char there[ABSENT / PAGE];
    mincore((void *)memory, ABSENT, there);
    return memchr(there, 1, sizeof there) != NULL;
}

static bool any_page_is_there(void)
{
    struct pollfd fault = {.fd = faults, .events = POLLIN};
    return is_there(absent) || is_there(absent_huge) || poll(&fault, 1, 0) > 0;
}

/* ---- searches ---- */

static int take(void *context, const void *data, size_t length)
{
    (void)context;
    (void)data;
    (void)length;
    return 0;
}

/* From /proc/self/status: VmRSS or VmHWM. */
static long kib(const char *key)
{
    char line[256];
    long value = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, key, strlen(key)) == 0) {
            value = strtol(line + strlen(key) + 1, NULL, 10);
        }
    }
    fclose(status);
    return value;
}

/* VmHWM begins again. */
static void forget_peak(void)
{
    int file = open("/proc/self/clear_refs", O_WRONLY);
    if (file < 0 || write(file, "5", 1) != 1) {
        printf("the peak of the resident memory cannot be reset\n");
    }
    close(file);
}

typedef struct work {
    const char *name;
    void (*run)(void);
} work;

static const work works[] = {{"move", move},  {"rebuild", rebuild}, {"churn", churn}, {"map", map},
                             {"fork", forks}, {"load", load},       {"start", start}};

static void *run(void *of_work)
{
    ((const work *)of_work)->run();
    return NULL;
}

/* Several blocks: one might stay in a register. */
static void lose(volatile int times)
{
    while (times-- > 0) {
        void *volatile block = malloc(12345);
        memset(block, 1, 12345);
        block = NULL;
    }
}

int main(int argc, char **argv)
{
    pthread_t threads[64];
    int count = 0;
    bool strange = false;
    int searches = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    pprof_set_mem_profile_rate(1);
    lose(8);
    for (int i = 2; i < argc && count < 64; i++) {
        if (strcmp(argv[i], "strange") == 0) {
            make_strange();
            strange = true;
            continue;
        }
        for (size_t k = 0; k < sizeof works / sizeof *works; k++) {
            if (strcmp(argv[i], works[k].name) == 0) {
                pthread_create(&threads[count++], NULL, run, (void *)&works[k]);
            }
        }
    }
    pprof_profile *leak = pprof_lookup("leak");
    if (leak == NULL) {
        printf("there is no profile leak\n");
        return 1;
    }
    int bad = 0;
    forget_peak();
    long before = kib("VmRSS");
    for (int i = 0; i < searches; i++) {
        int error = pprof_profile_write(leak, (pprof_writer){take, NULL}, 0);
        size_t found = pprof_profile_count(leak);
        if (error != 0 || found != 1) {
            printf("search %d: %zu sites, %s\n", i, found, strerror(-error));
            bad++;
        }
    }
    long after = kib("VmRSS");
    long peak = kib("VmHWM");
    if (strange && any_page_is_there()) {
        printf("an absent page was touched\n");
        bad++;
    }
    if (strange && count == 0 && peak - before > before / 100) {
        printf("it has grown\n");
        bad++;
    }
    printf("%d searches, %d bad, resident %ld KiB, then %ld KiB, %ld KiB at most\n", searches, bad,
           before, after, peak);
    over = true;
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
    return bad != 0;
}
