/* SPDX-License-Identifier: MIT
 *
 * soft.c WAY FILE: writes a profile of one stack, main -> outer, where lines may not be had:
 *
 *   plain           nothing is in the way
 *   allocates       makes 1000 blocks, opens a file and writes nothing
 *   exits           _exit() in a signal handler that has interrupted malloc()
 *   fork            in the child of a process with two threads
 *   fork-after      likewise, when a profile was written before
 *   small LARGE     on a thread with a stack of 100 KiB, or the least that there may be, and then on
 *                   one of LARGE KiB into the same file
 *   confined        when the program may not map code any more
 *   chroot FOLDER   when FOLDER is the root
 *   limited         when there is little memory left (RLIMIT_AS)
 */
#include <pprof.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pprof_profile *things;
static const char *file;
static void *volatile kept[1000];

__attribute__((noinline)) static void outer(void)
{
    pprof_profile_add(things, &things, 0);
    __asm__ volatile("" ::: "memory");
}

static int write_profile(void)
{
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    errno = ENOTTY;
    int error = pprof_profile_write(things, pprof_writer_fd(fd), 0);
    return error != 0 ? 3 : errno != ENOTTY ? 4 : close(fd);
}

static void allocate(void)
{
    for (int i = 0; i < 1000; i++)
        kept[i] = malloc(100);
    kept[0] = (void *)(size_t)open("/dev/null", O_RDONLY);
}

static void end_here(int signal)
{
    (void)signal;
    _exit(write_profile());
}

static int be_interrupted(void)
{
    signal(SIGALRM, end_here);
    ualarm(20000, 0);
    for (;;) {
        kept[0] = malloc(64);
        free(kept[0]);
    }
}

static void *sleep_for_ever(void *unused)
{
    pause();
    return unused;
}

static int write_in_child(void)
{
    pthread_t thread;
    int status = 1;
    pthread_create(&thread, NULL, sleep_for_ever, NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(write_profile());
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 5;
}

static void *write_on_thread(void *unused)
{
    (void)unused;
    return (void *)(size_t)write_profile();
}

static int write_with_stack(size_t kib)
{
    pthread_attr_t attributes;
    pthread_t thread;
    void *result = NULL;
    size_t least = (size_t)sysconf(_SC_THREAD_STACK_MIN);
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, kib * 1024 > least ? kib * 1024 : least) != 0 ||
        pthread_create(&thread, &attributes, write_on_thread, NULL) != 0)
        return 6;
    pthread_join(thread, &result);
    return (int)(size_t)result;
}

/* mmap with PROT_EXEC is refused from now on. */
static int confine(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
}

/* The plugin is loaded already; 12 MiB are enough for a profile. */
static int limit_memory(void)
{
    unsigned long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (write_profile() != 0 || statm == NULL || fscanf(statm, "%lu", &pages) != 1)
        return 1;
    fclose(statm);
    struct rlimit limit = {(pages * 4096) + (12 << 20), RLIM_INFINITY};
    return setrlimit(RLIMIT_AS, &limit);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const char *way = argv[1];
    file = argv[2];
    things = pprof_new_profile("things");
    outer();
    if (strcmp(way, "allocates") == 0) {
        allocate();
        return 0;
    }
    if (strcmp(way, "exits") == 0)
        return be_interrupted();
    if (strcmp(way, "fork-after") == 0 && write_profile() != 0)
        return 7;
    if (strncmp(way, "fork", 4) == 0)
        return write_in_child();
    if (strcmp(way, "small") == 0)
        return argc > 3 ? write_with_stack((size_t)atol(argv[3])) : write_with_stack(100);
    if (strcmp(way, "confined") == 0 && confine() != 0)
        return 77;
    if (strcmp(way, "limited") == 0 && limit_memory() != 0)
        return 8;
    if (strcmp(way, "chroot") == 0 && (chroot(argv[3]) != 0 || chdir("/") != 0))
        return 77;
    return write_profile();
}
