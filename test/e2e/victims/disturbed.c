/* SPDX-License-Identifier: MIT
 *
 * disturbed.c: a program that notices when its calls and registers are disturbed from outside. Each
 * argument is something that it does without end, on a thread of its own; with `alone` before it the
 * program has one thread. "disturbed: ..." says what went wrong; when standard input ends, the
 * program prints how often it did each thing.
 *
 *   nanosleep poll epoll select sem usleep ppoll read pause    waits of 100 ms; read, pause: without end
 *   registers   values in vector, floating-point and general registers
 *   malloc      allocates and frees, four threads
 *   dlopen      loads and unloads a library, two threads
 *   fork        starts children, and waits for them
 *   vfork       starts children that borrow the memory for 50 ms
 *   signals     receives SIGALRM every millisecond, with a handler that allocates nothing
 *   threads     creates and joins threads
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#ifdef __GLIBC__
#define SOME_LIBRARY  "libgcc_s.so.1"
#define SOME_FUNCTION "_Unwind_Backtrace"
#else /* of tools/musl-root */
#define SOME_LIBRARY  "libcmocka.so.0"
#define SOME_FUNCTION "_cmocka_run_group_tests"
#endif

enum { WAIT_MS = 100, MS_NS = 1000 * 1000, WAITS = 16, SLOTS = 512 };

static volatile bool over;
static volatile sig_atomic_t alarms;
static int waiting_epoll, silent[2];

static void disturbed(const char *what, const char *how, long value)
{
    printf("disturbed: %s: %s %ld\n", what, how, value);
    fflush(stdout);
}

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / MS_NS;
}

/* ---- waits ---- */

static int wait_once(const char *name)
{
    struct timespec time = {.tv_nsec = WAIT_MS * MS_NS};
    struct timeval old = {.tv_usec = WAIT_MS * 1000};
    struct pollfd polled = {.fd = silent[0], .events = POLLIN};
    struct epoll_event event;
    fd_set set;
    sem_t semaphore;
    int result = 0;
    FD_ZERO(&set);
    FD_SET(silent[0], &set);
    switch (name[0] == 'p' ? name[1] : name[0]) {
    case 'n':
        return nanosleep(&time, &time);
    case 'o':
        return poll(&polled, 1, WAIT_MS);
    case 'p':
        return ppoll(&polled, 1, &time, NULL);
    case 'e':
        return epoll_wait(waiting_epoll, &event, 1, WAIT_MS);
    case 'u':
        return usleep(WAIT_MS * 1000);
    case 's':
        if (name[2] == 'l') {
            return select(silent[0] + 1, &set, NULL, NULL, &old);
        }
        sem_init(&semaphore, 0, 0);
        clock_gettime(CLOCK_REALTIME, &time);
        time.tv_nsec += WAIT_MS * MS_NS;
        time.tv_sec += time.tv_nsec / 1000000000;
        time.tv_nsec %= 1000000000;
        result = sem_timedwait(&semaphore, &time);
        return result == -1 && errno == ETIMEDOUT ? 0 : -1;
    default:
        return 0;
    }
}

static void *wait_for_ever(void *name)
{
    unsigned long *count = calloc(1, sizeof *count);
    while (!over) {
        long begin = now_ms();
        errno = 0;
        int result = wait_once(name);
        long took = now_ms() - begin;
        if (result != 0 && !over) {
            disturbed(name, strerror(errno), result);
        }
        if (took < WAIT_MS - 1 && !over) {
            disturbed(name, "over after ms", took);
        }
        ++*count;
    }
    return count;
}

static void *read_for_ever(void *name)
{
    unsigned long *count = calloc(1, sizeof *count);
    char byte;
    ssize_t got = read(silent[0], &byte, 1);
    if (got != 0) { /* the pipe is closed at the end */
        disturbed(name, strerror(errno), got);
    }
    return count;
}

/* ---- work ---- */

#if defined(__x86_64__)
__attribute__((noinline, target("avx"))) static bool keep_registers(unsigned long seed)
{
    __m256d wide = _mm256_set_pd((double)seed, 2, 3, 4);
    long double old = (long double)seed + 0.25L;
    unsigned long plain = seed;
    double after[4];
    for (int i = 0; i < 200000; i++) {
        __asm__ volatile("" : "+x"(wide), "+t"(old), "+r"(plain)::"memory");
    }
    _mm256_storeu_pd(after, wide);
    return after[0] == 4 && after[1] == 3 && after[2] == 2 && after[3] == (double)seed &&
           old == (long double)seed + 0.25L && plain == seed;
}
#elif defined(__aarch64__)
__attribute__((noinline)) static bool keep_registers(unsigned long seed)
{
    typedef double pair __attribute__((vector_size(16)));
    pair wide = {4, (double)seed}, saved = {3, (double)seed};
    unsigned long plain = seed;
    for (int i = 0; i < 200000; i++) {
        __asm__ volatile("" : "+w"(wide), "+w"(saved), "+r"(plain)::"memory");
    }
    return wide[0] == 4 && wide[1] == (double)seed && saved[0] == 3 && saved[1] == (double)seed &&
           plain == seed;
}
#endif

static void *use_registers(void *name)
{
    unsigned long *count = calloc(1, sizeof *count);
    while (!over) {
        if (!keep_registers(++*count)) {
            disturbed(name, "other registers after round", (long)*count);
        }
    }
    return count;
}

static void *use_malloc(void *name)
{
    unsigned long *count = calloc(1, sizeof *count);
    char *slots[SLOTS] = {0};
    unsigned seed = (unsigned)(size_t)slots;
    while (!over) {
        size_t i = (size_t)rand_r(&seed) % SLOTS;
        if (slots[i] != NULL && slots[i][0] != (char)i) {
            disturbed(name, "other bytes in block", (long)i);
        }
        free(slots[i]);
        slots[i] = malloc(1 + (size_t)rand_r(&seed) % 3000);
        slots[i][0] = (char)i;
        ++*count;
    }
    for (size_t i = 0; i < SLOTS; i++) {
        free(slots[i]);
    }
    return count;
}

static void *use_loader(void *name)
{
    unsigned long *count = calloc(1, sizeof *count);
    while (!over) {
        void *handle = dlopen(SOME_LIBRARY, RTLD_NOW);
        if (handle == NULL || dlsym(handle, SOME_FUNCTION) == NULL || dlclose(handle) != 0) {
            disturbed(name, dlerror(), 0);
        }
        ++*count;
    }
    return count;
}

static void *use_fork(void *name)
{
    unsigned long *count = calloc(1, sizeof *count);
    bool borrows = strcmp(name, "vfork") == 0;
    while (!over) {
        int status = 0;
        pid_t child = borrows ? vfork() : fork();
        if (child == 0) {
            if (borrows) {
                struct timespec time = {.tv_nsec = 50 * MS_NS};
                nanosleep(&time, NULL);
            }
            _exit(7);
        }
        if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
            WEXITSTATUS(status) != 7) {
            disturbed(name, strerror(errno), status);
        }
        ++*count;
    }
    return count;
}

static void *nothing(void *argument)
{
    return argument;
}

static void *use_threads(void *name)
{
    unsigned long *count = calloc(1, sizeof *count);
    while (!over) {
        pthread_t thread;
        void *result = NULL;
        if (pthread_create(&thread, NULL, nothing, name) != 0 ||
            pthread_join(thread, &result) != 0 || result != name) {
            disturbed(name, "no thread", 0);
        }
        ++*count;
    }
    return count;
}

static void on_alarm(int signal)
{
    (void)signal;
    for (int i = 0; i < 20000; i++) {
        __asm__ volatile("");
    }
    alarms = alarms + 1;
}

static void *use_signals(void *name)
{
    unsigned long *count = calloc(1, sizeof *count);
    const struct itimerval often = {{0, 1000}, {0, 1000}};
    const struct itimerval never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    while (!over) {
        if (!keep_registers(++*count)) {
            disturbed(name, "other registers after round", (long)*count);
        }
    }
    setitimer(ITIMER_REAL, &never, NULL);
    return count;
}

/* ---- all ---- */

static void *(*function_of(const char *name))(void *)
{
    static const struct {
        const char *name;
        void *(*function)(void *);
    } table[] = {{"registers", use_registers}, {"malloc", use_malloc}, {"dlopen", use_loader},
                 {"fork", use_fork},           {"vfork", use_fork},    {"signals", use_signals},
                 {"threads", use_threads},     {"read", read_for_ever}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].name, name) == 0) {
            return table[i].function;
        }
    }
    return wait_for_ever;
}

static void *watch_input(void *alone)
{
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
    over = true;
    close(silent[1]);
    return alone;
}

/* With one thread, the end of the input is seen by a signal. */
static void on_end(int signal)
{
    (void)signal;
    over = true;
}

static void say_ready(void)
{
    printf("ready\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    pthread_t threads[WAITS * 4];
    const char *names[WAITS * 4];
    size_t count = 0;
    waiting_epoll = epoll_create1(EPOLL_CLOEXEC);
    if (argc < 2 || pipe(silent) != 0) {
        return 2;
    }
    if (strcmp(argv[1], "alone") == 0) {
        signal(SIGTERM, on_end);
        say_ready();
        unsigned long *times = function_of(argv[2])(argv[2]);
        printf("%s %lu\n", argv[2], *times);
        return 0;
    }
    for (int i = 1; i < argc && i <= WAITS; i++) {
        int copies = strcmp(argv[i], "malloc") == 0 ? 4 : strcmp(argv[i], "dlopen") == 0 ? 2 : 1;
        for (int copy = 0; copy < copies; copy++) {
            names[count] = argv[i];
            pthread_create(&threads[count++], NULL, function_of(argv[i]), argv[i]);
        }
    }
    say_ready();
    watch_input(NULL);
    for (size_t i = 0; i < count; i++) {
        void *times = NULL;
        pthread_join(threads[i], &times);
        printf("%s %lu\n", names[i], *(unsigned long *)times);
    }
    return 0;
}
