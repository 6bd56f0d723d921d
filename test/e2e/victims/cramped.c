/* SPDX-License-Identifier: MIT
 *
 * cramped.c HOW: a program that lacks something which a library needs to be loaded. It says "ready", and ends at the end of
 * its input.
 *
 *   descriptors   all descriptors that it may have are open
 *   space N       N KiB of address space are left
 *   threads       no thread may be begun any more
 *   stranger      a user namespace of its own, in which no user has a number
 *   nothing
 * Exits with 77 where the kernel refuses.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void open_all(void)
{
    struct rlimit limit = {64, 64};
    setrlimit(RLIMIT_NOFILE, &limit);
    while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0)
        continue;
}

static void leave_space(rlim_t bytes)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL || fscanf(file, "%lu", &pages) != 1)
        exit(77);
    fclose(file);
    rlim_t all = pages * (rlim_t)sysconf(_SC_PAGESIZE) + bytes;
    struct rlimit limit = {all, all};
    setrlimit(RLIMIT_AS, &limit);
}

static void forbid_threads(void)
{
    struct rlimit limit = {0, 0};
    setrlimit(RLIMIT_NPROC, &limit);
}

int main(int argc, char **argv)
{
    char byte;
    const char *how = argc > 1 ? argv[1] : "nothing";
    if (strcmp(how, "descriptors") == 0)
        open_all();
    if (strcmp(how, "space") == 0)
        leave_space((rlim_t)atoi(argv[2]) * 1024);
    if (strcmp(how, "threads") == 0)
        forbid_threads();
    if (strcmp(how, "stranger") == 0 && unshare(CLONE_NEWUSER) != 0)
        return 77;
    if (write(1, "ready\n", 6) != 6)
        return 1;
    return read(0, &byte, 1) != 0;
}
