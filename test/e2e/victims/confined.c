/* SPDX-License-Identifier: MIT
 *
 * confined.c: seccomp filters.
 *
 *   confined before refuse|lack|kill CALLS -- COMMAND...
 *       runs the command under a filter that answers these calls with EPERM or ENOSYS, or kills
 *   confined during prctl|syscall|listed|terminated [FILE]
 *       works, waits until the file is there, installs a filter, works again, starts a thread that works, and ends with status 42;
 *       the filter kills whatever the rest of this program does not need; in the last way it ends
 *       by SIGTERM
 *
 * CALLS is a comma-separated list of numbers or names known here.
 */
#include "burn.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STATUS = 42, MAX_CALLS = 64 };

/* Newer architectures have only the newer calls. */
#ifndef SYS_readlink
#define SYS_readlink SYS_readlinkat
#endif
#ifndef SYS_rename
#define SYS_rename SYS_renameat
#endif
#ifndef SYS_unlink
#define SYS_unlink SYS_unlinkat
#endif
#ifndef SYS_poll
#define SYS_poll SYS_ppoll
#endif

static const struct {
    const char *name;
    unsigned number;
} names[] = {
    {"timer_create", SYS_timer_create},
    {"timer_settime", SYS_timer_settime},
    {"timer_delete", SYS_timer_delete},
    {"process_vm_readv", SYS_process_vm_readv},
    {"process_vm_writev", SYS_process_vm_writev},
    {"openat2", 437 /* Linux 5.6 */},
    {"pidfd_open", 434},
    {"close_range", 436},
    {"pidfd_getfd", 438},
    {"getdents64", SYS_getdents64},
    {"rt_sigaction", SYS_rt_sigaction},
    {"sched_yield", SYS_sched_yield},
    {"readlink", SYS_readlink},
    {"rename", SYS_rename},
    {"unlink", SYS_unlink},
    {"getcwd", SYS_getcwd},
    {"rt_sigtimedwait", SYS_rt_sigtimedwait},
    {"poll", SYS_poll},
    {"fcntl", SYS_fcntl},
    {"clone", SYS_clone},
    {"wait4", SYS_wait4},
    {"tgkill", SYS_tgkill},
    {"getpid", SYS_getpid},
    {"gettid", SYS_gettid},
    {"prlimit64", SYS_prlimit64},
    {"nanosleep", SYS_nanosleep},
    {"clock_nanosleep", SYS_clock_nanosleep},
    {"newfstatat", SYS_newfstatat},
    {"openat", SYS_openat},
    {"clock_gettime", SYS_clock_gettime},
    {"rt_sigprocmask", SYS_rt_sigprocmask},
    {"getrandom", SYS_getrandom},
    {"madvise", SYS_madvise},
    {"memfd_create", SYS_memfd_create},
    {"ftruncate", SYS_ftruncate},
    {"prctl", SYS_prctl},
    {"perf_event_open", SYS_perf_event_open},
    {"ioctl", SYS_ioctl},
};

/* Calls that are in `list` get `hit`, all others `miss`. */
static void build(struct sock_filter *code, unsigned short *length, const unsigned *list,
                  unsigned count, unsigned hit, unsigned miss)
{
    unsigned short n = 0;
    code[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < count; i++) {
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, list[i], 0, 1);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, hit);
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, miss);
    *length = n;
}

static int install(const unsigned *list, unsigned count, unsigned hit, unsigned miss, int by_prctl)
{
    static struct sock_filter code[2 * MAX_CALLS + 2];
    struct sock_fprog program = {.filter = code};
    build(code, &program.len, list, count, hit, miss);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        return -1;
    }
    return by_prctl ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
                    : (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

static unsigned parse(char *text, unsigned *list)
{
    unsigned count = 0;
    for (char *word = strtok(text, ","); word != NULL && count < MAX_CALLS;
         word = strtok(NULL, ",")) {
        list[count] = (unsigned)atoi(word);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            if (strcmp(names[i].name, word) == 0) {
                list[count] = names[i].number;
            }
        }
        count++;
    }
    return count;
}

static int before(int argc, char **argv)
{
    unsigned list[MAX_CALLS];
    if (argc < 6) {
        return 99;
    }
    unsigned count = parse(argv[3], list);
    unsigned hit = strcmp(argv[2], "kill") == 0   ? SECCOMP_RET_KILL_PROCESS
                   : strcmp(argv[2], "lack") == 0 ? SECCOMP_RET_ERRNO | ENOSYS
                                                  : SECCOMP_RET_ERRNO | EPERM;
    if (install(list, count, hit, SECCOMP_RET_ALLOW, 1) != 0) {
        return 77;
    }
    execvp(argv[5], &argv[5]);
    return 99;
}

void work_before(void)
{
    burn_ms(100);
}

void *work_confined(void *unused)
{
    burn_ms(100);
    return unused;
}

static void *nothing(void *unused)
{
    return unused;
}

/* What this program and its C library need from here on. */
static const unsigned needed[] = {
    SYS_read,
    SYS_write,
    SYS_exit,
    SYS_exit_group,
    SYS_futex,
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_brk,
    SYS_clone,
    SYS_clone3,
    SYS_clock_gettime,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_madvise,
    SYS_set_robust_list,
    SYS_rseq,
    SYS_gettid,
    SYS_getpid,
    SYS_restart_syscall,
    SYS_sched_getaffinity,
    SYS_prlimit64,
    SYS_newfstatat,
    SYS_fstat,
    SYS_set_tid_address,
};

/* The calls that a profiler would like, and a sandbox has no use for. */
static const unsigned unneeded[] = {
    SYS_timer_create,    SYS_timer_settime, SYS_timer_delete, SYS_process_vm_readv, SYS_openat,
    SYS_perf_event_open, SYS_rename,        SYS_unlink,       SYS_rt_sigaction,     SYS_tgkill,
    SYS_getdents64,      SYS_readlink,      SYS_sched_yield,
};

static int during(const char *way, const char *file)
{
    pthread_t thread;
    int error = 0;
    work_before();
    /* The C library's own preparations for threads are behind it. */
    if (pthread_create(&thread, NULL, nothing, NULL) != 0) {
        return 1;
    }
    pthread_join(thread, NULL);
    while (file != NULL && access(file, F_OK) != 0) {
        usleep(1000);
    }
    bool terminated = strcmp(way, "terminated") == 0;
    if (terminated || strcmp(way, "listed") == 0) {
        error = install(unneeded, sizeof unneeded / sizeof *unneeded, SECCOMP_RET_KILL_PROCESS,
                        SECCOMP_RET_ALLOW, 1);
    } else {
        error = install(needed, sizeof needed / sizeof *needed, SECCOMP_RET_ALLOW,
                        SECCOMP_RET_KILL_PROCESS, strcmp(way, "prctl") == 0);
    }
    if (error != 0) {
        return 77;
    }
    work_confined(NULL);
    if (pthread_create(&thread, NULL, work_confined, NULL) != 0) {
        return 1;
    }
    pthread_join(thread, NULL);
    if (terminated) {
        kill(getpid(), SIGTERM);
    }
    return STATUS;
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "before") == 0) {
        return before(argc, argv);
    }
    return argc > 2 && strcmp(argv[1], "during") == 0 ? during(argv[2], argv[3]) : 99;
}
