/* SPDX-License-Identifier: MIT
 *
 * identity.c: a program that changes its user, its capabilities or its namespaces, as daemons do. It reads a byte, does
 * that, prints what failed, and "changed", waits for the end of its input, and ends with status 7.
 *
 *   identity user          setgroups, setgid, setuid
 *   identity keep          keeps its capabilities over setresuid (PR_SET_KEEPCAPS), sets groups by them, and drops them
 *   identity initgroups    initgroups, setresgid, setresuid
 *   identity drop          drops its capabilities, and can have no new ones
 *   identity call          the same as `user`, by syscall()
 *   identity switch [N]    becomes another user, and itself again, and so its capabilities: a hundred times, or N
 *   identity unshare       a user namespace and one of mounts
 *   identity children      the same, and one of processes, in which only its children are
 *   identity setns         enters these namespaces of a child
 *   identity vfork         `user` in a child of vfork
 *   identity fork          `user` in a child of fork
 *   identity handler       `switch 1` in a signal handler, while the program allocates
 *   identity threads       eight threads, each like `switch`, but without dropping capabilities
 *   identity fails         a call that the kernel refuses
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534, SWITCHES = 100, THREADS = 8, ALARMS = 200 };

/* libc has no header for them */
int capset(cap_user_header_t header, cap_user_data_t data);
int capget(cap_user_header_t header, cap_user_data_t data);

static void check(const char *what, int result)
{
    if (result != 0) {
        printf("%s: %s\n", what, strerror(errno));
        fflush(stdout);
    }
}

static void set_capabilities(unsigned effective)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct data[2] = {{effective, effective, 0}};
    check("capset", capset(&header, (cap_user_data_t)data));
}

static void user(void)
{
    const gid_t none = NOBODY;
    check("setgroups", setgroups(1, &none));
    check("setgid", setgid(NOBODY));
    check("setuid", setuid(NOBODY));
}

static void keep(void)
{
    const gid_t groups[] = {1, 2, 3};
    check("prctl", prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0));
    check("setresgid", setresgid(NOBODY, NOBODY, NOBODY));
    check("setresuid", setresuid(NOBODY, NOBODY, NOBODY));
    set_capabilities(1 << CAP_SETGID | 1 << CAP_NET_BIND_SERVICE);
    check("setgroups", setgroups(3, groups));
    check("setresgid", setresgid(1, 1, 1));
    set_capabilities(1 << CAP_NET_BIND_SERVICE);
}

static void init_groups(void)
{
    check("initgroups", initgroups("nobody", NOBODY));
    check("setresgid", setresgid(NOBODY, NOBODY, NOBODY));
    check("setresuid", setresuid(NOBODY, NOBODY, NOBODY));
}

static void drop(void)
{
    check("securebits", prctl(PR_SET_SECUREBITS, 1 << 2, 0, 0, 0)); /* SECBIT_NO_SETUID_FIXUP */
    check("no new privileges", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    set_capabilities(0);
}

static void call(void)
{
    const gid_t none = NOBODY;
    check("setgroups", (int)syscall(SYS_setgroups, 1, &none));
    check("setgid", (int)syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY));
    check("setuid", (int)syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY));
}

/* Drops the effective capabilities, or takes all that are permitted. */
static void use_capabilities(bool uses)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    check("capget", capget(&header, data));
    for (int i = 0; i < 2; i++) {
        data[i].effective = uses ? data[i].permitted : 0;
    }
    check("capset", capset(&header, data));
}

static void change(int times)
{
    for (int i = 0; i < times; i++) {
        check("seteuid", seteuid(NOBODY));
        check("seteuid", seteuid(0));
        use_capabilities(false);
        use_capabilities(true);
    }
}

/* A thread that has dropped them, when another one becomes another user, would be refused that. */
static void *change_in_thread(void *unused)
{
    for (int i = 0; i < SWITCHES; i++) {
        check("seteuid", seteuid(NOBODY));
        check("seteuid", seteuid(0));
        use_capabilities(true);
    }
    return unused;
}

/* ---- namespaces ---- */

static void enter(pid_t child, const char *name, int type)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)child, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    check(path, fd < 0 ? -1 : setns(fd, type));
    close(fd);
}

static void enter_child(void)
{
    int ends[2];
    char byte = 0;
    check("pipe", pipe(ends));
    pid_t child = fork();
    if (child == 0) {
        check("unshare", unshare(CLONE_NEWUSER | CLONE_NEWNS));
        (void)!write(ends[1], "", 1);
        pause();
    }
    (void)!read(ends[0], &byte, 1);
    close(ends[0]);
    close(ends[1]);
    enter(child, "user", 0);
    enter(child, "mnt", CLONE_NEWNS);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* ---- where it is called ---- */

static void in_child(bool shares_memory)
{
    int status = 0;
    pid_t child = shares_memory ? vfork() : fork();
    if (child == 0) {
        bool works = setgid(NOBODY) == 0 && setuid(NOBODY) == 0;
        _exit(works && getuid() == NOBODY ? 0 : 1);
    }
    waitpid(child, &status, 0);
    check("the child", status);
    check("the parent is another user", getuid() == NOBODY);
}

static volatile sig_atomic_t alarms;

/* One alarm, not one a millisecond: the handler may take longer than that, and the program would not go on. */
static void set_alarm(void)
{
    const struct itimerval once = {.it_value = {0, 1000}};
    setitimer(ITIMER_REAL, &once, NULL);
}

static void on_alarm(int signal)
{
    (void)signal;
    change(1);
    alarms++;
    if (alarms < ALARMS) {
        set_alarm();
    }
}

static void in_handler(void)
{
    const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    static void *volatile block;
    sigaction(SIGALRM, &action, NULL);
    set_alarm();
    while (alarms < ALARMS) {
        block = malloc(10000);
        free(block);
    }
}

static void in_threads(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        check("pthread_create", pthread_create(&threads[i], NULL, change_in_thread, NULL));
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
}

static void fail(void)
{
    check("setuid succeeds", setuid((uid_t)-1) == 0);
    check("unshare succeeds", unshare(CLONE_NEWUSER | (int)0x80000000U) == 0);
}

static void act(const char *what, int times)
{
    if (strcmp(what, "user") == 0) {
        user();
    } else if (strcmp(what, "keep") == 0) {
        keep();
    } else if (strcmp(what, "initgroups") == 0) {
        init_groups();
    } else if (strcmp(what, "drop") == 0) {
        drop();
    } else if (strcmp(what, "call") == 0) {
        call();
    } else if (strcmp(what, "switch") == 0) {
        change(times);
    } else if (strcmp(what, "unshare") == 0) {
        check("unshare", unshare(CLONE_NEWUSER | CLONE_NEWNS));
    } else if (strcmp(what, "children") == 0) {
        check("unshare", unshare(CLONE_NEWUSER | CLONE_NEWPID));
    } else if (strcmp(what, "setns") == 0) {
        enter_child();
    } else if (strcmp(what, "vfork") == 0 || strcmp(what, "fork") == 0) {
        in_child(*what == 'v');
    } else if (strcmp(what, "handler") == 0) {
        in_handler();
    } else if (strcmp(what, "threads") == 0) {
        in_threads();
    } else if (strcmp(what, "fails") == 0) {
        fail();
    }
}

static ssize_t read_some(void)
{
    char bytes[64];
    ssize_t got = 0;
    do {
        got = read(STDIN_FILENO, bytes, sizeof bytes);
    } while (got < 0 && errno == EINTR);
    return got;
}

int main(int argc, char **argv)
{
    read_some();
    act(argc > 1 ? argv[1] : "", argc > 2 ? atoi(argv[2]) : SWITCHES);
    printf("changed\n");
    fflush(stdout);
    while (read_some() > 0) {
    }
    return 7;
}
