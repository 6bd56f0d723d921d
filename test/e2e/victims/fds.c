/* SPDX-License-Identifier: MIT
 *
 * fds.c: opens descriptors in every way there is, and closes some in every way there is.
 *
 * Prints "FUNCTION LEAF COUNT" for those that stay open, and exits with 1 if a call does not do
 * what libc's own does: results, errno, modes, cancellation.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* What compilers call where the flags are not known. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags);
#if __GLIBC__ * 100 + __GLIBC_MINOR__ >= 236
#include <sys/pidfd.h>
#define HAS_NEW_NAMES /* close_range and closefrom since 2.34 */
#endif

static int failures;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: not true: %s (errno %d)\n", __LINE__, #condition, errno);    \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

/* A function of that name, which opens as many with `leaf`. What the kernel or this machine has not
 * is not counted. */
#define KEEP(name, leaf, count, opened)                                                            \
    __attribute__((noinline)) void keep_##name(void)                                               \
    {                                                                                              \
        errno = 77;                                                                                \
        if (opened) {                                                                              \
            printf("keep_%s %s %d\n", #name, leaf, count);                                         \
        } else {                                                                                   \
            fprintf(stderr, "%s: %s\n", #name, strerror(errno));                                   \
        }                                                                                          \
    }

#define KEEP_NONE(name, leaf, count, opened)                                                       \
    void keep_##name(void)                                                                         \
    {                                                                                              \
    }

/* Of names that only glibc has, and of those that it has got last. */
#ifdef __GLIBC__
#define KEEP_GLIBC KEEP
#else
#define KEEP_GLIBC KEEP_NONE
#endif
#ifdef HAS_NEW_NAMES
enum { UNSEEN = 2 };
#define KEEP_NEW KEEP
#else
enum { UNSEEN = 1 };
#define KEEP_NEW KEEP_NONE
#endif

static char template_1[] = "mkstemp.XXXXXX", template_2[] = "mkstemp.XXXXXX";
static char template_3[] = "mkstemp.XXXXXX", template_4[] = "mkstemp.XXXXXX";
static char template_5[] = "mkstemp.XXXXXX.a", template_6[] = "mkstemp.XXXXXX.a";
static char template_7[] = "mkstemp.XXXXXX.a", template_8[] = "mkstemp.XXXXXX.a";
static int pair[2];
static int listener = -1, client = -1;

static int raw(long number, long a, long b)
{
    return (int)syscall(number, a, b);
}

static int raw_dup(long from, long to)
{
    return (int)syscall(SYS_dup3, from, to, 0);
}

KEEP(open, "open", 1, open("/dev/null", O_RDONLY) >= 0)
KEEP_GLIBC(open64, "open64", 1, open64("/dev/null", O_RDONLY) >= 0)
KEEP_GLIBC(open_2, "__open_2", 1, __open_2("/dev/null", O_RDONLY) >= 0)
KEEP_GLIBC(open64_2, "__open64_2", 1, __open64_2("/dev/null", O_RDONLY) >= 0)
KEEP(openat, "openat", 1, openat(AT_FDCWD, "/dev/null", O_RDONLY) >= 0)
KEEP_GLIBC(openat64, "openat64", 1, openat64(AT_FDCWD, "/dev/null", O_RDONLY) >= 0)
KEEP_GLIBC(openat_2, "__openat_2", 1, __openat_2(AT_FDCWD, "/dev/null", O_RDONLY) >= 0)
KEEP_GLIBC(openat64_2, "__openat64_2", 1, __openat64_2(AT_FDCWD, "/dev/null", O_RDONLY) >= 0)
KEEP(creat, "creat", 1, creat("creat", 0600) >= 0)
KEEP_GLIBC(creat64, "creat64", 1, creat64("creat", 0600) >= 0)
KEEP(mkstemp, "mkstemp", 1, mkstemp(template_1) >= 0)
KEEP_GLIBC(mkstemp64, "mkstemp64", 1, mkstemp64(template_2) >= 0)
KEEP(mkostemp, "mkostemp", 1, mkostemp(template_3, O_APPEND) >= 0)
KEEP_GLIBC(mkostemp64, "mkostemp64", 1, mkostemp64(template_4, O_APPEND) >= 0)
KEEP(mkstemps, "mkstemps", 1, mkstemps(template_5, 2) >= 0)
KEEP_GLIBC(mkstemps64, "mkstemps64", 1, mkstemps64(template_6, 2) >= 0)
KEEP(mkostemps, "mkostemps", 1, mkostemps(template_7, 2, O_APPEND) >= 0)
KEEP_GLIBC(mkostemps64, "mkostemps64", 1, mkostemps64(template_8, 2, O_APPEND) >= 0)
KEEP(posix_openpt, "posix_openpt", 1, posix_openpt(O_RDWR | O_NOCTTY) >= 0)
KEEP(fopen, "fopen", 1, fopen("/dev/null", "r") != NULL)
KEEP_GLIBC(fopen64, "fopen64", 1, fopen64("/dev/null", "r") != NULL)
KEEP(popen, "popen", 1, popen("true", "r") != NULL)
KEEP(tmpfile, "tmpfile", 1, tmpfile() != NULL)
KEEP_GLIBC(tmpfile64, "tmpfile64", 1, tmpfile64() != NULL)
KEEP(freopen, "freopen", 1, freopen("/dev/null", "r", fopen("/dev/zero", "r")) != NULL)
KEEP_GLIBC(freopen64, "freopen64", 1, freopen64("/dev/null", "r", fopen("/dev/zero", "r")) != NULL)
KEEP(opendir, "opendir", 1, opendir("/") != NULL)
KEEP(socket, "socket", 1, (listener = socket(AF_UNIX, SOCK_STREAM, 0)) >= 0)
KEEP(clients, "socket", 2,
     (client = socket(AF_UNIX, SOCK_STREAM, 0)) >= 0 && socket(AF_UNIX, SOCK_STREAM, 0) >= 0)
KEEP(accept, "accept", 1, accept(listener, NULL, NULL) >= 0)
KEEP(accept4, "accept4", 1, accept4(listener, NULL, NULL, SOCK_CLOEXEC) >= 0)
KEEP(socketpair, "socketpair", 2, socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0)
KEEP(pipe, "pipe", 2, pipe((int[2]){0}) == 0)
KEEP(pipe2, "pipe2", 2, pipe2((int[2]){0}, O_CLOEXEC) == 0)
KEEP(dup, "dup", 1, dup(0) >= 0)
KEEP(dup2, "dup2", 1, dup2(0, 300) == 300)
KEEP(dup3, "dup3", 1, dup3(0, 301, O_CLOEXEC) == 301)
KEEP(fcntl, "fcntl", 2, fcntl(0, F_DUPFD, 310) == 310 && fcntl(0, F_DUPFD_CLOEXEC, 311) == 311)
KEEP_GLIBC(fcntl64, "fcntl64", 1, fcntl64(0, F_DUPFD, 312) == 312)
KEEP(epoll_create, "epoll_create", 1, epoll_create(1) >= 0)
KEEP(epoll_create1, "epoll_create1", 1, epoll_create1(EPOLL_CLOEXEC) >= 0)
KEEP(eventfd, "eventfd", 1, eventfd(0, EFD_CLOEXEC) >= 0)
KEEP(timerfd, "timerfd_create", 1, timerfd_create(CLOCK_MONOTONIC, 0) >= 0)
KEEP(inotify_init, "inotify_init", 1, inotify_init() >= 0)
KEEP(inotify_init1, "inotify_init1", 1, inotify_init1(IN_CLOEXEC) >= 0)
KEEP(fanotify, "fanotify_init", 1, fanotify_init(FAN_CLASS_NOTIF, O_RDONLY) >= 0)
KEEP(memfd, "memfd_create", 1, memfd_create("a", MFD_CLOEXEC) >= 0)
KEEP_NEW(pidfd, "pidfd_open", 1, pidfd_open(getpid(), 0) >= 0)
KEEP(shm, "shm_open", 1, shm_open("/libpprof-test", O_RDWR | O_CREAT, 0600) >= 0)
KEEP(mq, "mq_open", 1, mq_open("/libpprof-test", O_RDWR | O_CREAT, 0600, NULL) >= 0)

static int open_signalfd(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    return signalfd(-1, &set, 0);
}
KEEP(signalfd, "signalfd", 1, signalfd(open_signalfd(), &(sigset_t){0}, 0) >= 0)

/* Three from one message, two from another. */
static void send_descriptors(int count)
{
    int zeros[3] = {0, 0, 0};
    union {
        char bytes[CMSG_SPACE(sizeof zeros)];
        struct cmsghdr align;
    } control = {{0}};
    char byte = 'x';
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)count)};
    struct cmsghdr *part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)count);
    memcpy(CMSG_DATA(part), zeros, sizeof(int) * (size_t)count);
    CHECK(sendmsg(pair[0], &message, 0) == 1);
}

static bool receive_one(void)
{
    char control[256];
    char byte = 0;
    struct iovec data = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = 256};
    send_descriptors(3);
    return recvmsg(pair[1], &message, 0) == 1;
}

static bool receive_many(void)
{
    static char control[2][256];
    char bytes[2];
    struct iovec data[2] = {{&bytes[0], 1}, {&bytes[1], 1}};
    struct mmsghdr messages[2];
    memset(messages, 0, sizeof messages);
    for (int i = 0; i < 2; i++) {
        messages[i].msg_hdr = (struct msghdr){
            .msg_iov = &data[i], .msg_iovlen = 1, .msg_control = control[i], .msg_controllen = 256};
        send_descriptors(1);
    }
    return recvmmsg(pair[1], messages, 2, 0, NULL) == 2;
}
KEEP(recvmsg, "recvmsg", 3, receive_one())
KEEP(recvmmsg, "recvmmsg", 2, receive_many())

/* A number that had another owner before. */
KEEP(over, "dup2", 1, dup2(0, open("/dev/null", O_RDONLY)) >= 0)
KEEP(same, "open", 1, (pair[0] = open("/dev/null", O_RDONLY)) >= 0 && dup2(pair[0], pair[0]) >= 0)

/* The child has descriptors of its own, though not memory. */
static bool open_around_vfork(void)
{
    int fd = open("/dev/null", O_RDONLY);
    pid_t child = vfork();
    if (child == 0) {
        close(fd);
        dup2(0, 320);
        _exit(0);
    }
    int status = 1;
    return waitpid(child, &status, 0) == child && status == 0 && fcntl(fd, F_GETFD) >= 0;
}
KEEP(vfork, "open", 1, open_around_vfork())

__attribute__((noinline)) void keep_unseen(void)
{
    CHECK(raw(SYS_dup, 0, 0) >= 0);
    printf("- pprof_unseen_descriptor 1\n");
}

/* Closed past the hooks: it must not be shown. */
__attribute__((noinline)) void close_unseen(void)
{
    CHECK(raw(SYS_close, open("/dev/null", O_RDONLY), 0) == 0);
}

/* ---- closed in every way ---- */

__attribute__((noinline)) void close_all(void)
{
    CHECK(close(open("/dev/null", O_RDONLY)) == 0);
    CHECK(fclose(fopen("/dev/null", "r")) == 0);
    CHECK(fclose(fdopen(open("/dev/null", O_RDONLY), "r")) == 0);
    CHECK(closedir(opendir("/")) == 0);
    CHECK(closedir(fdopendir(open("/", O_RDONLY))) == 0);
    CHECK(pclose(popen("true", "r")) == 0);
    CHECK(dup2(0, 400) == 400 && dup2(0, 401) == 401 && dup2(0, 499) == 499);
#ifdef HAS_NEW_NAMES
    CHECK(close_range(400, 498, CLOSE_RANGE_CLOEXEC) == 0 && fcntl(400, F_GETFD) == FD_CLOEXEC);
    CHECK(close_range(400, 498, 0) == 0 && fcntl(400, F_GETFD) == -1);
#endif
    CHECK(fcntl(499, F_GETFD) == 0);
#ifdef HAS_NEW_NAMES
    closefrom(450);
#else
    CHECK(close(400) == 0 && close(401) == 0 && close(499) == 0);
#endif
    CHECK(fcntl(499, F_GETFD) == -1);
    /* Other people's: unseen from now on, if they were still known they would be shown. */
    CHECK(dup2(0, 410) == 410 && close(410) == 0 && raw_dup(0, 410) == 410);
#ifdef HAS_NEW_NAMES
    CHECK(fcntl(0, F_DUPFD, 420) == 420 && close_range(420, 420, 0) == 0);
    CHECK(raw_dup(0, 420) == 420);
#endif
    printf("- pprof_unseen_descriptor %d\n", UNSEEN);
}

/* ---- what libc's functions do ---- */

static mode_t mode_of(int fd)
{
    struct stat status;
    CHECK(fstat(fd, &status) == 0);
    close(fd);
    return status.st_mode & 0777;
}

static void behave(void)
{
    errno = 0;
    CHECK(open("/nowhere/at/all", O_RDONLY) == -1 && errno == ENOENT);
    CHECK(fopen("/nowhere/at/all", "r") == NULL && errno == ENOENT);
    errno = 0;
    CHECK(close(9999) == -1 && errno == EBADF);
    CHECK(close(-1) == -1 && errno == EBADF);
    CHECK(dup2(9999, 5000) == -1 && errno == EBADF);
    CHECK(fcntl(9999, F_GETFL) == -1 && errno == EBADF);
    CHECK(socket(-1, 0, 0) == -1 && errno == EAFNOSUPPORT);
    CHECK(accept(0, NULL, NULL) == -1 && errno == ENOTSOCK);
    errno = 55;
    CHECK(close(open("/dev/null", O_RDONLY)) == 0 && errno == 55);
    umask(0);
    CHECK(mode_of(open("mode.a", O_WRONLY | O_CREAT, 0624)) == 0624);
    CHECK(mode_of(openat(AT_FDCWD, "mode.b", O_WRONLY | O_CREAT, 0642)) == 0642);
    int unnamed = open(".", O_WRONLY | O_TMPFILE, 0614);
    CHECK(unnamed < 0 || mode_of(unnamed) == 0614);
    FILE *memory = fmemopen(NULL, 10, "w+");
    CHECK(memory != NULL && fclose(memory) == 0);
}

static void *wait_in_accept(void *ready)
{
    __atomic_store_n((bool *)ready, true, __ATOMIC_RELEASE);
    accept(listener, NULL, NULL);
    return NULL;
}

static void *wait_in_open(void *ready)
{
    __atomic_store_n((bool *)ready, true, __ATOMIC_RELEASE);
    open("fifo", O_RDONLY);
    return NULL;
}

static void cancel(void *(*wait)(void *))
{
    bool ready = false;
    void *result = NULL;
    pthread_t thread;
    pthread_create(&thread, NULL, wait, &ready);
    while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
    pthread_cancel(thread);
    pthread_join(thread, &result);
    CHECK(result == PTHREAD_CANCELED);
}

static int count_open(void)
{
    int count = -1; /* the folder itself */
    DIR *folder = opendir("/proc/self/fd");
    for (struct dirent *entry = NULL; folder != NULL && (entry = readdir(folder)) != NULL;) {
        count += entry->d_name[0] != '.';
    }
    closedir(folder);
    return count;
}

static void listen_and_connect(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
    keep_socket();
    keep_clients();
    CHECK(bind(listener, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(listen(listener, 8) == 0);
    CHECK(connect(client, (struct sockaddr *)&address, sizeof address) == 0);
    keep_accept();
    CHECK(connect(client + 1, (struct sockaddr *)&address, sizeof address) == 0);
    keep_accept4();
}

static void (*const keepers[])(void) = {
    keep_open,          keep_open64,      keep_open_2,       keep_open64_2,
    keep_openat,        keep_openat64,    keep_openat_2,     keep_openat64_2,
    keep_creat,         keep_creat64,     keep_mkstemp,      keep_mkstemp64,
    keep_mkostemp,      keep_mkostemp64,  keep_mkstemps,     keep_mkstemps64,
    keep_mkostemps,     keep_mkostemps64, keep_posix_openpt, keep_fopen,
    keep_fopen64,       keep_popen,       keep_tmpfile,      keep_tmpfile64,
    keep_freopen,       keep_freopen64,   keep_opendir,      keep_socketpair,
    keep_pipe,          keep_pipe2,       keep_dup,          keep_dup2,
    keep_dup3,          keep_fcntl,       keep_fcntl64,      keep_epoll_create,
    keep_epoll_create1, keep_eventfd,     keep_timerfd,      keep_inotify_init,
    keep_inotify_init1, keep_fanotify,    keep_memfd,        keep_pidfd,
    keep_shm,           keep_mq,          keep_signalfd,     keep_recvmsg,
    keep_recvmmsg,      keep_over,        keep_same,         keep_vfork,
    keep_unseen,        close_unseen};

int main(void)
{
    printf("- pprof_earlier_descriptor %d\n", count_open());
    close_all();
    behave();
    listen_and_connect();
    CHECK(mkfifo("fifo", 0600) == 0);
    cancel(wait_in_accept);
    cancel(wait_in_open);
    for (size_t i = 0; i < sizeof keepers / sizeof *keepers; i++) {
        keepers[i]();
    }
    shm_unlink("/libpprof-test");
    mq_unlink("/libpprof-test");
    return failures != 0;
}
