/* SPDX-License-Identifier: MIT
 *
 * wall_api.c FOLDER: starts and stops wall-clock profiles, FOLDER/first and FOLDER/second, around a wait of a function
 * each. Prints "waited FIRST_NS SECOND_NS".
 *
 * Flags: -O1
 */
#include "check.h"
#include "must.h"
#include <pprof.h>

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NAP_MS = 400, MOST_HZ = 1000 };

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = NAP_MS * 1000000L}, NULL);
}

__attribute__((noipa)) static int64_t first_nap(void)
{
    int64_t start_ns = now_ns();
    nap();
    return now_ns() - start_ns;
}

__attribute__((noipa)) static int64_t second_nap(void)
{
    int64_t start_ns = now_ns();
    nap();
    return now_ns() - start_ns;
}

static int create(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    check(fd >= 0, path);
    return fd;
}

static int refuse(void *of_calls, const void *data, size_t length)
{
    int *calls = of_calls;
    (void)data;
    (void)length;
    ++*calls;
    CHECK_IS(pprof_stop_wall_profile(), -EBUSY);
    CHECK_IS(pprof_start_wall_profile((pprof_writer){refuse, of_calls}, 0), -EBUSY);
    return -ENOSPC;
}

/* The child has none of its parent's profile, and may have its own. */
static void in_child(int *calls)
{
    pid_t child = fork();
    if (child == 0) {
        failures = 0;
        CHECK_IS(pprof_stop_wall_profile(), 0);
        CHECK_IS(*calls, 0);
        CHECK_IS(pprof_start_wall_profile((pprof_writer){refuse, calls}, 0), 0);
        CHECK_IS(pprof_stop_wall_profile(), -ENOSPC);
        CHECK_IS(*calls, 1);
        _exit(failures != 0);
    }
    int status = -1;
    check(waitpid(child, &status, 0) == child, "waitpid");
    CHECK_IS(status, 0);
}

int main(int argc, char **argv)
{
    check(argc == 2, "usage: wall_api FOLDER");
    int calls = 0;
    int first = create(argv[1], "first");
    int second = create(argv[1], "second");
    CHECK_IS(pprof_start_wall_profile((pprof_writer){NULL, NULL}, 0), -EINVAL);
    CHECK_IS(pprof_start_wall_profile(pprof_writer_fd(first), -1), -EINVAL);
    CHECK_IS(pprof_start_wall_profile(pprof_writer_fd(first), MOST_HZ + 1), -EINVAL);
    CHECK_IS(pprof_stop_wall_profile(), 0);

    CHECK_IS(pprof_start_wall_profile(pprof_writer_fd(first), 0), 0);
    CHECK_IS(pprof_start_wall_profile(pprof_writer_fd(first), 0), -EBUSY);
    int64_t first_ns = first_nap();
    CHECK_IS(pprof_stop_wall_profile(), 0);
    CHECK_IS(pprof_stop_wall_profile(), 0);

    CHECK_IS(pprof_start_wall_profile(pprof_writer_fd(second), MOST_HZ), 0);
    int64_t second_ns = second_nap();
    CHECK_IS(pprof_stop_wall_profile(), 0);

    CHECK_IS(pprof_start_wall_profile((pprof_writer){refuse, &calls}, 0), 0);
    in_child(&calls);
    CHECK_IS(calls, 0);
    CHECK_IS(pprof_stop_wall_profile(), -ENOSPC);
    CHECK_IS(calls, 1);
    printf("waited %lld %lld\n", (long long)first_ns, (long long)second_ns);
    return failures != 0;
}
