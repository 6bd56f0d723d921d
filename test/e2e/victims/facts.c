/* SPDX-License-Identifier: MIT
 *
 * facts.c [WORK-MS]: what a program can see of itself, a line each. The library must change none of
 * it, except the disposition of SIGPROF and the addresses of things.
 */
#include "burn.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#if __GLIBC__ * 100 + __GLIBC_MINOR__ >= 232
#include <sys/single_threaded.h>
#else /* others do not show it */
enum { __libc_single_threaded = 1 };
#endif
#ifndef __GLIBC__
typedef int __rlimit_resource_t;
#endif

extern char **environ;

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_environment(void)
{
    size_t count = 0;
    while (environ[count] != NULL) {
        count++;
    }
    qsort(environ, count, sizeof *environ, compare_text);
    for (size_t i = 0; i < count; i++) {
        printf("environment %s\n", environ[i]);
    }
}

static int count_entries(const char *folder)
{
    int count = 0;
    DIR *stream = opendir(folder);
    while (stream != NULL && readdir(stream) != NULL) {
        count++;
    }
    if (stream != NULL) {
        closedir(stream);
    }
    return count;
}

static void print_descriptors(void)
{
    for (int fd = 0; fd < 256; fd++) {
        struct stat status;
        if (fstat(fd, &status) == 0) {
            printf("descriptor %d\n", fd);
        }
    }
}

static void print_signals(void)
{
    sigset_t blocked;
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    for (int number = 1; number <= 64; number++) {
        struct sigaction action;
        if (number != SIGPROF && sigaction(number, NULL, &action) == 0) {
            printf("signal %d %s flags %d blocked %d\n", number,
                   action.sa_handler == SIG_DFL   ? "default"
                   : action.sa_handler == SIG_IGN ? "ignored"
                                                  : "handled",
                   action.sa_flags, sigismember(&blocked, number));
        }
    }
}

static void print_limits(void)
{
    for (int which = 0; which < RLIM_NLIMITS; which++) {
        struct rlimit limit;
        if (getrlimit((__rlimit_resource_t)which, &limit) == 0) {
            printf("limit %d %lu %lu\n", which, (unsigned long)limit.rlim_cur,
                   (unsigned long)limit.rlim_max);
        }
    }
}

static int count_threads(void)
{
    return count_entries("/proc/self/task") - 2;
}

static void *nothing(void *unused)
{
    return unused;
}

int main(int argc, char **argv)
{
    int first_errno = errno;
    errno = 4321;
    if (argc > 1) {
        burn_ms(atoi(argv[1]));
    }
    printf("errno at main %d, after work %d\n", first_errno, errno);
    printf("single-threaded %d\n", (int)__libc_single_threaded);
    printf("threads %d\n", count_threads());
    print_environment();
    print_descriptors();
    print_signals();
    print_limits();
    mode_t mask = umask(0);
    printf("umask %o\n", (unsigned)mask);
    /* Only a process with one thread may do this. */
    int error = unshare(CLONE_NEWUSER) == 0 ? 0 : errno;
    printf("unshare: %s\n", strerror(error));
    pthread_t thread;
    if (pthread_create(&thread, NULL, nothing, NULL) == 0) {
        pthread_join(thread, NULL);
    }
    for (int ms = 0; ms < 10000 && count_threads() > 1; ms++) {
        usleep(1000); /* a thread that was joined is listed for a moment more */
    }
    printf("threads after one came and went %d\n", count_threads());
    return 0;
}
