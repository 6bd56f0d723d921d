/* SPDX-License-Identifier: MIT
 *
 * perf_guest.c: what the engine `perf` must not disturb, and must account for.
 *
 *   perf_guest threads     4 threads, in user code and in the kernel; prints the CPU time
 *   perf_guest writes [N]  4 MB writes into a pipe and sockets; prints those that were short or
 *                          failed
 *   perf_guest closes      works, closes all descriptors, fills their numbers with files of its
 *                          own, works again, forks, starts a thread; prints what became of these,
 *                          and the CPU time of each function that works
 *   perf_guest crowded     works where no descriptor is left, in a thread; prints the CPU time
 *   perf_guest deaf        works with all signals blocked
 *   perf_guest kernel      hardly ever leaves the kernel
 *   perf_guest WAY         works with all signals blocked, and executes itself in that way, an exec
 *                          function or "syscall", to open them again; the status is 42
 *
 * Libc: 2.34
 */
#include "burn.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, BLOCK = 4 << 20, WRITES = 60, LAST_NUMBER = 3400 };

static int write_count = WRITES;

/* Reads a block of zeros, which takes the kernel a while: whole, as no signal of the library cuts
 * it short. */
static void read_zeros(int zero, char *block)
{
    ssize_t got = read(zero, block, BLOCK);
    if (got != BLOCK) {
        fprintf(stderr, "%zd of %d zeros were read: %s\n", got, BLOCK,
                got < 0 ? strerror(errno) : "cut short");
        abort();
    }
}

/* ---- threads ---- */

static void *use_both(void *unused)
{
    int zero = open("/dev/zero", O_RDONLY);
    char *block = malloc(BLOCK);
    struct burn b = burn_for(600);
    while (burn_on(&b)) {
        burn_ms(5);
        read_zeros(zero, block);
    }
    free(block);
    close(zero);
    return unused;
}

static int threads(void)
{
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&thread[i], NULL, use_both, NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    report("process", process_ms());
    return 0;
}

/* ---- writes ---- */

static void *read_pipe(void *fd)
{
    char *block = malloc(BLOCK);
    while (read(*(int *)fd, block, BLOCK) > 0) {
    }
    free(block);
    return NULL;
}

/* Blocking writes of 4 MB, each as long as hundreds of samples. */
static void write_blocks(const char *what, int to, int from)
{
    int shortened = 0;
    int failed = 0;
    pthread_t reader;
    char *block = malloc(BLOCK);
    pthread_create(&reader, NULL, read_pipe, &from);
    for (int i = 0; i < write_count; i++) {
        memset(block, i, BLOCK); /* user code, where the samples fall due */
        ssize_t written = write(to, block, BLOCK);
        failed += written < 0;
        shortened += written >= 0 && written != BLOCK;
    }
    close(to);
    pthread_join(reader, NULL);
    close(from);
    free(block);
    printf("%s: of %d writes %d short, %d failed\n", what, write_count, shortened, failed);
}

/* A connection over the loopback device. */
static int open_connection(int ends[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    ends[1] = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0 ||
        connect(ends[1], (struct sockaddr *)&address, length) != 0) {
        return -1;
    }
    ends[0] = accept(listener, NULL, NULL);
    close(listener);
    return ends[0] < 0 ? -1 : 0;
}

static int writes(void)
{
    int ends[2];
    if (pipe(ends) != 0) {
        return 2;
    }
    write_blocks("pipe", ends[1], ends[0]);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        return 2;
    }
    write_blocks("socket", ends[1], ends[0]);
    if (open_connection(ends) == 0) { /* else there is no loopback device */
        write_blocks("connection", ends[1], ends[0]);
    }
    return 0;
}

/* ---- closes ---- */

static double before_ms, after_ms, in_thread_ms;

void work_before(void)
{
    before_ms = burn_ms(200);
}

void work_after(void)
{
    after_ms = burn_ms(200);
}

/* What the thread has used before is in the sample after it. */
void *work_in_thread(void *unused)
{
    burn_ms(200);
    in_thread_ms = clock_ms(CLOCK_THREAD_CPUTIME_ID);
    return unused;
}

static int count_ours(const struct stat *expected)
{
    int count = 0;
    for (int fd = 3; fd <= LAST_NUMBER; fd++) {
        struct stat now;
        count += fstat(fd, &now) == 0 && now.st_ino == expected->st_ino &&
                 now.st_dev == expected->st_dev &&
                 (fcntl(fd, F_GETFL) & (O_ASYNC | O_APPEND)) == O_APPEND;
    }
    return count;
}

static int closes(void)
{
    struct stat file;
    pthread_t thread;
    char name[] = "fileXXXXXX";
    int status = 0;
    work_before();
#ifdef __GLIBC__
    close_range(3, ~0U, 0);
#else
    syscall(SYS_close_range, 3, ~0U, 0);
#endif
    int fd = mkostemp(name, O_APPEND);
    unlink(name);
    fstat(fd, &file);
    for (int number = 3; number <= LAST_NUMBER; number++) {
        if (number != fd && dup2(fd, number) < 0) {
            return 2;
        }
    }
    work_after();
    pid_t child = fork();
    if (child == 0) {
        _exit(count_ours(&file) == LAST_NUMBER - 2 ? 0 : 1);
    }
    waitpid(child, &status, 0);
    pthread_create(&thread, NULL, work_in_thread, NULL);
    pthread_join(thread, NULL);
    printf("%d of %d files are still there, in the child %s\n", count_ours(&file), LAST_NUMBER - 2,
           status == 0 ? "too" : "not");
    report("work_before", before_ms);
    report("work_after", after_ms);
    report("work_in_thread", in_thread_ms);
    return 0;
}

/* ---- crowded ---- */

static int crowded(void)
{
    pthread_t thread;
    while (dup(1) >= 0) {
    }
    pthread_create(&thread, NULL, work_in_thread, NULL);
    pthread_join(thread, NULL);
    report("work_in_thread", in_thread_ms);
    return 0;
}

/* ---- deaf, kernel ---- */

static void *work_deaf(void *unused)
{
    const unsigned long all = ~0UL;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, sizeof all); /* past libc and its hooks */
    burn_ms(300);
    return unused;
}

static int deaf(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work_deaf, NULL);
    pthread_join(thread, NULL);
    report("process", process_ms());
    return 0;
}

void stay_in_kernel(void)
{
    int zero = open("/dev/zero", O_RDONLY);
    char *block = malloc(BLOCK);
    struct burn b = burn_for(500);
    while (burn_on(&b)) {
        for (int i = 0; i < 16; i++) {
            read_zeros(zero, block);
        }
    }
    free(block);
    close(zero);
}

static int kernel(void)
{
    stay_in_kernel();
    report("process", process_ms());
    return 0;
}

/* ---- exec ---- */

static const char self[] = "/proc/self/exe";
static char *const arguments[] = {"guest", "executed", "a b", NULL};
static char *const environment[] = {"GUEST=1", NULL};

/* Where functions that search look; one that takes no environment gets ours, whatever it is. */
static int execute(const char *way, const char *path)
{
    if (strcmp(way, "execve") == 0) {
        return execve(path, arguments, environment);
    }
    if (strcmp(way, "execv") == 0) {
        return execv(path, arguments);
    }
    if (strcmp(way, "execvp") == 0) {
        return execvp(path, arguments);
    }
    if (strcmp(way, "execvpe") == 0) {
        return execvpe(path, arguments, environment);
    }
    if (strcmp(way, "execl") == 0) {
        return execl(path, "guest", "executed", "a b", (char *)NULL);
    }
    if (strcmp(way, "execlp") == 0) {
        return execlp(path, "guest", "executed", "a b", (char *)NULL);
    }
    if (strcmp(way, "execle") == 0) {
        return execle(path, "guest", "executed", "a b", (char *)NULL, environment);
    }
    if (strcmp(way, "fexecve") == 0) {
        return fexecve(open(path, O_RDONLY | O_CLOEXEC), arguments, environment);
    }
#ifdef __GLIBC__
    if (strcmp(way, "execveat") == 0) {
        return execveat(AT_FDCWD, path, arguments, environment, 0);
    }
#endif
    return (int)syscall(SYS_execve, path, arguments, environ); /* no hook sees this one */
}

static int opens_signals(int argc, char **argv)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    return argc == 3 && strcmp(argv[2], "a b") == 0 ? 42 : 98;
}

static int executes(const char *way)
{
    const unsigned long all = ~0UL;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, sizeof all);
    burn_ms(30);
    if (execute(way, "/nowhere/no-such-program") != -1) {
        return 97;
    }
    burn_ms(30);
    execute(way, self);
    return 96;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } modes[] = {{"threads", threads}, {"writes", writes}, {"closes", closes},
                 {"crowded", crowded}, {"deaf", deaf},     {"kernel", kernel}};
    if (argc > 2 && strcmp(argv[1], "writes") == 0) {
        write_count = atoi(argv[2]);
    }
    for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(argv[1], modes[i].name) == 0) {
            return modes[i].run();
        }
    }
    if (argc > 1 && strcmp(argv[1], "executed") == 0) {
        return opens_signals(argc, argv);
    }
    return argc > 1 ? executes(argv[1]) : 99;
}
