/* SPDX-License-Identifier: MIT
 *
 * perf_after_interval.c: chooses the engine `perf` when threads of the library have begun.
 *
 * Usage: perf_after_interval FOLDER   prints the milliseconds of CPU time that the profile covers, FOLDER/perf.pb.gz
 */
#include "must.h"

#include <pprof.h>

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int main(int count, char **arguments)
{
    char text[4096];
    const pprof_cpu_options options = {
        .size = sizeof options, .hz = 10000, .engine = PPROF_ENGINE_PERF};
    check(count == 2, "one argument");
    snprintf(text, sizeof text, "thread,interval=10ms,file=%s/%%k.%%n.pb.gz", arguments[1]);
    check(pprof_configure(text) == 0, "pprof_configure");
    snprintf(text, sizeof text, "%s/thread.1.pb.gz", arguments[1]);
    while (access(text, R_OK) != 0) {
        usleep(1000);
    }
    snprintf(text, sizeof text, "%s/perf.pb.gz", arguments[1]);
    int fd = open(text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    check(pprof_start_cpu_profile_opts(pprof_writer_fd(fd), &options) == 0, "start");
    double begin = cpu_ms();
    while (cpu_ms() < begin + 500) {
    }
    printf("%.0f\n", cpu_ms() - begin);
    check(pprof_stop_cpu_profile() == 0, "stop");
    return 0;
}
