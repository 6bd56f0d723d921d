/* SPDX-License-Identifier: MIT
 *
 * shut_off.c: a program that gives up what it does not need, as careful programs do, and works
 * then.
 *
 *   shut_off HOW MS    works for MS milliseconds of CPU time in works_shut_off(), and ends
 *
 * HOW:  landlock   no file may be written any more; by raw system calls
 *       unread     nor read, and no folder (xz 5.6 and newer, ...)
 *       chroot     another root, which is empty, and the user nobody
 *       nobody     the user nobody, in a folder that is not its own
 *       seccomp    write, exit_group and what the profile's clock needs, nothing else
 *       closes     closes all descriptors above 2, as daemons do
 *       replaces   puts a file of its own, named in argv[3], at each number above 2 but a few that
 *                  it leaves free
 *       nothing
 * Exits with 77 where the kernel refuses.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { NOBODY = 65534, SKIP = 77, FIRST_FREE = 500, FREE_LIMIT = 516 };

/* Of <linux/landlock.h>, which may be older than the kernel, or missing. */
enum { CREATE_RULESET = 444, RESTRICT_SELF = 446 };
static const uint64_t reads = 1 << 2 | 1 << 3;
static const uint64_t writes = (UINT64_C(1) << 13) - 1 - (1 << 0) - (1 << 2) - (1 << 3);

static void *volatile kept;

__attribute__((noinline)) static void works_shut_off(long ms)
{
    struct timespec begin, now;
    static volatile uint64_t sum;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin); /* the start may have taken as long */
    do {
        for (int i = 0; i < 100000; i++)
            sum += (uint64_t)i * sum;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
    kept = malloc(100000);
}

static void need(int result, const char *what)
{
    if (result >= 0)
        return;
    int error = errno; /* perror changes it */
    perror(what);
    exit(error == EPERM || error == ENOSYS || error == EOPNOTSUPP ? SKIP : 1);
}

static void enter_landlock(uint64_t handled)
{
    long rules = syscall(CREATE_RULESET, &handled, sizeof handled, 0);
    need((int)rules, "landlock");
    need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges");
    need((int)syscall(RESTRICT_SELF, rules, 0), "landlock");
    close((int)rules);
    if (open("forbidden", O_WRONLY | O_CREAT, 0600) >= 0)
        exit(SKIP);
}

static void become_nobody(void)
{
    need(setgid(NOBODY), "setgid");
    need(setuid(NOBODY), "setuid");
}

static void enter_empty_root(void)
{
    char folder[] = "/tmp/shut_off.XXXXXX";
    need(mkdtemp(folder) != NULL ? 0 : -1, folder);
    need(chdir(folder), folder);
    need(rmdir(folder), folder);
    need(chroot("."), "chroot");
    become_nobody();
}

#define ALLOW(number)                                                                              \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1),                                           \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void filter_calls(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_write),
        ALLOW(SYS_exit_group),
        ALLOW(SYS_rt_sigreturn),
        ALLOW(SYS_clock_gettime),
        ALLOW(SYS_brk),
        ALLOW(SYS_mmap),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges");
    need(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), "seccomp");
}

static void close_all(const char *replacement)
{
    struct rlimit limit;
    int file = replacement != NULL ? open(replacement, O_WRONLY | O_CREAT, 0600) : -1;
    getrlimit(RLIMIT_NOFILE, &limit);
    for (int fd = 3; fd < 1024 && fd < (int)limit.rlim_cur; fd++) {
        if (fd == file)
            continue;
        if (replacement != NULL && (fd < FIRST_FREE || fd >= FREE_LIMIT))
            dup2(file, fd);
        else
            close(fd);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 2 ? argv[1] : "";
    long ms = argc > 2 ? atol(argv[2]) : 0;
    if (strcmp(how, "landlock") == 0)
        enter_landlock(writes);
    else if (strcmp(how, "unread") == 0)
        enter_landlock(reads | writes);
    else if (strcmp(how, "chroot") == 0)
        enter_empty_root();
    else if (strcmp(how, "nobody") == 0)
        become_nobody();
    else if (strcmp(how, "closes") == 0)
        close_all(NULL);
    else if (strcmp(how, "replaces") == 0 && argc > 3)
        close_all(argv[3]);
    else if (strcmp(how, "seccomp") == 0) {
        works_shut_off(ms);
        filter_calls();
        _exit(0);
    } else if (strcmp(how, "nothing") != 0)
        return 2;
    works_shut_off(ms);
    return 0;
}
