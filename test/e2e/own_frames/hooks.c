/* SPDX-License-Identifier: MIT
 *
 * hooks.c: calls of all that libpprof hooks, each from a site of its own, ROUNDS times: the first
 * call of a hook goes another way than later ones, and its stack must not show that. Sites are
 * functions without arguments; what they allocate, open or wait for is the same each time. Threads
 * still wait when the program ends. With LINKED, functions of <pprof.h> that call the program back,
 * too. test_own_frames.sh compiles and reads it.
 *
 *   hooks FOLDER
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <regex.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 4, SIZE = 1000, BURN_MS = 150 };

static const char *folder;
static void *volatile kept;

static void check(bool right, const char *what)
{
    if (!right) {
        fprintf(stderr, "%s: %s\n", what, strerror(errno));
        exit(1);
    }
}

#define CHECK(right) check(right, #right)

typedef void site(void);

/* The one place from which sites are called. */
static void call(site *function, int rounds)
{
    for (volatile int i = 0; i < rounds; i++)
        function();
}

/* ---- allocations ---- */

static void site_malloc(void)
{
    kept = malloc(SIZE);
}

static void site_calloc(void)
{
    kept = calloc(SIZE, 1);
}

static void site_realloc(void)
{
    kept = realloc(malloc(SIZE), SIZE * 2);
}

static void site_reallocarray(void)
{
    kept = reallocarray(NULL, SIZE, 3);
}

static void site_aligned_alloc(void)
{
    kept = aligned_alloc(64, 1024);
}

static void site_posix_memalign(void)
{
    void *block = NULL;
    CHECK(posix_memalign(&block, 64, SIZE) == 0);
    kept = block;
}

static void site_memalign(void)
{
    kept = memalign(64, SIZE);
}

static void site_valloc(void)
{
    kept = valloc(SIZE);
}

/* What musl has not. */
static void site_pvalloc(void)
{
#ifdef __GLIBC__
    kept = pvalloc(SIZE);
#endif
}

static void site_free(void)
{
    free(malloc(SIZE + 1));
}

static void site_strdup(void)
{
    kept = strdup("something that is long enough");
}

static void site_asprintf(void)
{
    char *text = NULL;
    CHECK(asprintf(&text, "%d of these", 4711) > 0);
    kept = text;
}

static void site_memstream(void)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    CHECK(stream != NULL);
    fclose(stream);
    free(text);
}

static void site_getcwd(void)
{
    kept = getcwd(NULL, 0);
}

static void site_realpath(void)
{
    kept = realpath("/", NULL);
}

static void site_regcomp(void)
{
    regex_t expression;
    CHECK(regcomp(&expression, "a+b*", 0) == 0);
    regfree(&expression);
}

static void site_mmap(void)
{
    void *mapping = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(mapping != MAP_FAILED);
    mapping = mremap(mapping, 8192, 16384, MREMAP_MAYMOVE);
    CHECK(mapping != MAP_FAILED);
    munmap(mapping, 16384);
}

/* Allocations by way of other hooks: of descriptors and of threads. */

static void site_fopen(void)
{
    char line[16];
    FILE *stream = fopen("/proc/self/comm", "r");
    CHECK(stream != NULL && fgets(line, sizeof line, stream) != NULL);
    fclose(stream);
}

static void site_freopen(void)
{
    FILE *stream = fopen("/dev/null", "r");
    stream = freopen("/dev/zero", "r", stream);
    CHECK(stream != NULL);
    fclose(stream);
}

static void site_fdopen(void)
{
    FILE *stream = fdopen(dup(0), "r");
    CHECK(stream != NULL);
    fclose(stream);
}

static void site_opendir(void)
{
    DIR *stream = opendir("/");
    CHECK(stream != NULL);
    closedir(stream);
}

static void site_glob(void)
{
    glob_t found;
    CHECK(glob("/pro[c]", 0, NULL, &found) == 0);
    globfree(&found);
}

static void *nothing(void *unused)
{
    return unused;
}

static int nothing_in_c11(void *unused)
{
    return unused != NULL;
}

/* Not ROUNDS times the same: libc keeps stacks of threads for the next one. */
static void other_pthread_create(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, nothing, NULL) == 0);
    pthread_join(thread, NULL);
}

static void other_thrd_create(void)
{
    thrd_t thread;
    CHECK(thrd_create(&thread, nothing_in_c11, NULL) == thrd_success);
    thrd_join(thread, NULL);
}

static void other_popen(void)
{
    FILE *stream = popen("true", "r");
    CHECK(stream != NULL);
    pclose(stream);
}

static void other_signals(void)
{
    struct sigaction before;
    CHECK(sigaction(SIGUSR1, NULL, &before) == 0);
    signal(SIGUSR2, SIG_DFL);
}

static void other_fork(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    CHECK(child > 0 && waitpid(child, NULL, 0) == child);
}

#ifndef STATIC
static void other_dlopen(void)
{
    void *library = dlopen("libm.so.6", RTLD_NOW);
    CHECK(library != NULL);
    dlclose(library);
    kept = dlopen("there is no such library", RTLD_NOW);
}
#endif

/* ---- descriptors ---- */

static void fd_open(void)
{
    CHECK(open("/dev/null", O_RDONLY) >= 0);
}

static void fd_openat(void)
{
    CHECK(openat(AT_FDCWD, "/dev/null", O_RDONLY) >= 0);
}

static void fd_creat(void)
{
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s/created", folder);
    CHECK(creat(name, 0600) >= 0);
}

static void fd_fopen(void)
{
    CHECK(fopen("/dev/null", "r") != NULL);
}

static void fd_opendir(void)
{
    CHECK(opendir("/") != NULL);
}

static void fd_socket(void)
{
    CHECK(socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
}

static void fd_socketpair(void)
{
    int pair[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
}

static void fd_pipe(void)
{
    int pair[2];
    CHECK(pipe(pair) == 0);
}

static void fd_dup(void)
{
    CHECK(dup(0) >= 0);
}

static void fd_fcntl(void)
{
    CHECK(fcntl(0, F_DUPFD, 100) >= 0);
}

static void fd_eventfd(void)
{
    CHECK(eventfd(0, 0) >= 0);
}

static void fd_epoll(void)
{
    CHECK(epoll_create1(0) >= 0);
}

static void fd_timerfd(void)
{
    CHECK(timerfd_create(CLOCK_MONOTONIC, 0) >= 0);
}

static void fd_inotify(void)
{
    CHECK(inotify_init1(0) >= 0);
}

static void fd_memfd(void)
{
    CHECK(memfd_create("memory", 0) >= 0);
}

static void fd_mkstemp(void)
{
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s/XXXXXX", folder);
    CHECK(mkstemp(name) >= 0);
}

/* ---- waits ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t free_mutex = PTHREAD_MUTEX_INITIALIZER;
static mtx_t c11_mutex;
static sem_t semaphore;
static int futex_word;
static sem_t holds, may_end;

/* Has all locks as long as others wait for them in vain. */
static void *holder(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_rwlock_wrlock(&rwlock);
    mtx_lock(&c11_mutex);
    sem_post(&holds);
    while (sem_wait(&may_end) != 0)
        continue;
    mtx_unlock(&c11_mutex);
    pthread_rwlock_unlock(&rwlock);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static struct timespec soon(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_nsec += 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_nsec -= 1000000000;
        time.tv_sec++;
    }
    return time;
}

static void wait_timedlock(void)
{
    struct timespec until = soon(CLOCK_REALTIME);
    CHECK(pthread_mutex_timedlock(&mutex, &until) == ETIMEDOUT);
}

static void wait_clocklock(void)
{
#ifdef __GLIBC__
    struct timespec until = soon(CLOCK_MONOTONIC);
    CHECK(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &until) == ETIMEDOUT);
#endif
}

static void wait_mtx(void)
{
    struct timespec until = soon(CLOCK_REALTIME);
    CHECK(mtx_timedlock(&c11_mutex, &until) == thrd_timedout);
}

static void wait_rdlock(void)
{
    struct timespec until = soon(CLOCK_REALTIME);
    CHECK(pthread_rwlock_timedrdlock(&rwlock, &until) == ETIMEDOUT);
}

static void wait_wrlock(void)
{
    struct timespec until = soon(CLOCK_REALTIME);
    CHECK(pthread_rwlock_timedwrlock(&rwlock, &until) == ETIMEDOUT);
}

static void wait_condition(void)
{
    struct timespec until = soon(CLOCK_REALTIME);
    pthread_mutex_lock(&free_mutex);
    pthread_cond_timedwait(&condition, &free_mutex, &until);
    pthread_mutex_unlock(&free_mutex);
}

static void wait_semaphore(void)
{
    struct timespec until = soon(CLOCK_REALTIME);
    CHECK(sem_timedwait(&semaphore, &until) != 0 && errno == ETIMEDOUT);
}

static void wait_futex(void)
{
    const struct timespec time = {.tv_nsec = 1000000};
    CHECK(syscall(SYS_futex, &futex_word, FUTEX_WAIT, 0, &time) != 0 && errno == ETIMEDOUT);
}

static void in_vain(void)
{
    pthread_t thread;
    mtx_init(&c11_mutex, mtx_timed);
    sem_init(&semaphore, 0, 0);
    sem_init(&holds, 0, 0);
    sem_init(&may_end, 0, 0);
    CHECK(pthread_create(&thread, NULL, holder, NULL) == 0);
    while (sem_wait(&holds) != 0)
        continue;
    call(wait_timedlock, ROUNDS);
    call(wait_clocklock, ROUNDS);
    call(wait_mtx, ROUNDS);
    call(wait_rdlock, ROUNDS);
    call(wait_wrlock, ROUNDS);
    call(wait_condition, ROUNDS);
    call(wait_semaphore, ROUNDS);
    call(wait_futex, ROUNDS);
    sem_post(&may_end);
    pthread_join(thread, NULL);
}

/* ---- threads that wait when the program ends ---- */

static pthread_t for_ever;
static int end_of_pipe;

static void *ends_in_mutex(void *unused)
{
    pthread_mutex_lock(&mutex);
    return unused;
}

static void *ends_in_rwlock(void *unused)
{
    pthread_rwlock_wrlock(&rwlock);
    return unused;
}

static void *ends_in_condition(void *unused)
{
    pthread_mutex_lock(&free_mutex);
    for (;;)
        pthread_cond_wait(&condition, &free_mutex);
    return unused;
}

static void *ends_in_semaphore(void *unused)
{
    while (sem_wait(&semaphore) != 0)
        continue;
    return unused;
}

static void *ends_in_join(void *unused)
{
    pthread_join(for_ever, NULL);
    return unused;
}

static void *ends_in_futex(void *unused)
{
    syscall(SYS_futex, &futex_word, FUTEX_WAIT, 0, NULL);
    return unused;
}

static void *ends_in_fopen(void *unused)
{
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s/fifo", folder);
    kept = fopen(name, "r");
    return unused;
}

static void *ends_in_read(void *unused)
{
    char byte;
    CHECK(read(end_of_pipe, &byte, 1) >= 0);
    return unused;
}

static char letter_of(pid_t tid)
{
    char name[64];
    char text[256];
    snprintf(name, sizeof name, "/proc/self/task/%d/stat", tid);
    FILE *stream = fopen(name, "r");
    if (stream == NULL)
        return 0;
    size_t length = fread(text, 1, sizeof text - 1, stream);
    fclose(stream);
    text[length] = 0;
    const char *end = strrchr(text, ')');
    return end != NULL ? end[2] : 0;
}

/* All but the calling thread sleep. */
static bool all_sleep(void)
{
    bool sleep = true;
    DIR *tasks = opendir("/proc/self/task");
    for (const struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
        pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
        sleep = sleep && (tid == 0 || tid == getpid() || letter_of(tid) == 'S');
    }
    closedir(tasks);
    return sleep;
}

static void leave_threads_waiting(void)
{
    static void *(*const functions[])(void *) = {
        ends_in_rwlock, ends_in_mutex, ends_in_condition, ends_in_semaphore,
        ends_in_futex,  ends_in_read,  ends_in_fopen,     ends_in_join};
    int pair[2];
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s/fifo", folder);
    CHECK(pipe(pair) == 0 && mkfifo(name, 0600) == 0);
    end_of_pipe = pair[0];
    pthread_mutex_lock(&mutex);
    pthread_rwlock_wrlock(&rwlock);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, functions[i], NULL) == 0);
        for_ever = i == 0 ? thread : for_ever;
    }
    while (!all_sleep())
        sched_yield();
}

/* ---- CPU time inside hooks ---- */

static double cpu_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void burn_malloc(void)
{
    void *block = realloc(malloc(48), 100);
    free(calloc(1, 60));
    free(block);
}

static void burn_locks(void)
{
    pthread_mutex_lock(&free_mutex);
    pthread_mutex_unlock(&free_mutex);
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    sem_post(&semaphore);
    sem_wait(&semaphore);
}

static void burn_descriptors(void)
{
    int fd = open("/dev/null", O_RDONLY);
    close(dup(fd));
    close(fd);
}

static void burn_waits(void)
{
    const struct timespec none = {0};
    syscall(SYS_futex, &futex_word, FUTEX_WAIT, 0, &none);
    sem_timedwait(&semaphore, &(struct timespec){.tv_sec = 1});
}

static void burn_signals(void)
{
    struct sigaction before;
    sigaction(SIGUSR1, NULL, &before);
    kept = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(kept, 4096);
}

static void burn(site *function)
{
    double end = cpu_ms() + BURN_MS;
    while (cpu_ms() < end)
        call(function, 100);
}

/* ---- functions of <pprof.h> that call back ---- */

#ifdef LINKED
#include <pprof.h>

static pprof_profile *values;

static void site_labelled(void)
{
    static char many[ROUNDS];
    static int next;
    kept = malloc(SIZE);
    CHECK(pprof_profile_add(values, &many[next++], 0) == 0);
    static char object[ROUNDS];
    pprof_heap_record_alloc(&object[next - 1], SIZE);
}

static void rounds(void *unused)
{
    (void)unused;
    call(site_labelled, ROUNDS);
}

static void site_writes(void)
{
    kept = malloc(SIZE);
}

static int write_and_allocate(void *stream, const void *data, size_t size)
{
    call(site_writes, ROUNDS);
    return fwrite(data, 1, size, stream) == size ? 0 : -EIO;
}

static void write_profile(const char *name, int (*write)(void *, const void *, size_t))
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s.pb.gz", folder, name);
    FILE *stream = fopen(path, "w");
    CHECK(stream != NULL);
    CHECK(pprof_profile_write(pprof_lookup(name), (pprof_writer){write, stream}, 0) == 0);
    fclose(stream);
}

static int discard(void *unused, const void *data, size_t size)
{
    (void)unused, (void)data, (void)size;
    return 0;
}

/* Long enough for samples in all that a writer does, zlib's part too. */
static void write_often(void)
{
    for (int i = 0; i < 400; i++)
        CHECK(pprof_profile_write(pprof_lookup("threadcreate"), (pprof_writer){discard, NULL}, 0) ==
              0);
}

static void called_back(void)
{
    static const char *const labels[] = {"key", "value"};
    values = pprof_new_profile("values");
    pprof_do(labels, 1, rounds, NULL);
    write_profile("values", write_and_allocate);
    write_profile("threadcreate", write_and_allocate);
    write_often();
}
#else
static void called_back(void)
{
}
#endif

static site *const allocations[] = {site_malloc,
                                    site_calloc,
                                    site_realloc,
                                    site_reallocarray,
                                    site_aligned_alloc,
                                    site_memalign,
                                    site_valloc,
                                    site_posix_memalign,
                                    site_pvalloc,
                                    site_free,
                                    site_strdup,
                                    site_asprintf,
                                    site_memstream,
                                    site_getcwd,
                                    site_realpath,
                                    site_regcomp,
                                    site_mmap,
                                    site_fopen,
                                    site_freopen,
                                    site_fdopen,
                                    site_opendir,
                                    site_glob,
#ifndef STATIC
                                    other_dlopen,
#endif
                                    other_pthread_create,
                                    other_thrd_create,
                                    other_popen,
                                    other_signals,
                                    other_fork};

static site *const descriptors[] = {
    fd_open, fd_openat, fd_creat,   fd_fopen, fd_opendir, fd_socket,  fd_socketpair, fd_pipe,
    fd_dup,  fd_fcntl,  fd_eventfd, fd_epoll, fd_timerfd, fd_inotify, fd_memfd,      fd_mkstemp};

static site *const burners[] = {burn_malloc, burn_locks, burn_descriptors, burn_waits,
                                burn_signals};

int main(int argc, char **argv)
{
    folder = argc > 1 ? argv[1] : ".";
    for (size_t i = 0; i < sizeof allocations / sizeof *allocations; i++)
        call(allocations[i], ROUNDS);
    in_vain();
    for (size_t i = 0; i < sizeof burners / sizeof *burners; i++)
        burn(burners[i]);
    for (size_t i = 0; i < sizeof descriptors / sizeof *descriptors; i++)
        call(descriptors[i], ROUNDS);
    called_back();
    leave_threads_waiting();
    return 0;
}
