/* SPDX-License-Identifier: MIT
 *
 * record_child.c: see record_child.h.
 *
 * Owns: the child process, and the blocked signals.
 * Tested by: e2e.cpprof_record.
 */
#include "record/record_child.h"

#include "ask/process_files.h"
#include "base/message.h"
#include "record/record_parts.h"
#include "record/record_socket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TICK_MS = 500, SHORT_TICK_MS = 20 };

/* Signals to cpprof that are meant for the command. */
static const int passed_on[] = {SIGINT,  SIGTERM, SIGQUIT,  SIGHUP, SIGUSR1,
                                SIGUSR2, SIGCONT, SIGWINCH, SIGTSTP};

/* The signals that sigtimedwait() takes: those that are passed on, and SIGCHLD. */
static void fill_waited(sigset_t *set)
{
    sigemptyset(set);
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++) {
        sigaddset(set, passed_on[i]);
    }
    sigaddset(set, SIGCHLD);
}

/* ---- start ---- */

/* SIGPIPE and SIGTTOU are blocked too: a closed or busy terminal must not end cpprof before it has
 * passed on the command's status. */
static void block_signals(cp_child *child)
{
    sigset_t set;

    fill_waited(&set);
    sigaddset(&set, SIGPIPE);
    sigaddset(&set, SIGTTOU);
    sigprocmask(SIG_BLOCK, &set, &child->mask);
    /* If SIGCHLD is ignored, the kernel drops the exit status. */
    struct sigaction standard;
    memset(&standard, 0, sizeof standard);
    standard.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &standard, &child->child_action);
}

static void unblock_signals(const cp_child *child)
{
    sigaction(SIGCHLD, &child->child_action, NULL);
    sigprocmask(SIG_SETMASK, &child->mask, NULL);
}

/* Runs in the new process: restores everything as cpprof found it, then executes the command.
 * Reports a failure through the pipe, which a successful exec closes. */
static _Noreturn void become(const cp_child *child, char *const *argv, char *const *environment,
                             int report)
{
    unblock_signals(child);
    execvpe(argv[0], argv, environment);
    int reason = errno;
    while (write(report, &reason, sizeof reason) < 0 && errno == EINTR) {
    }
    _exit(127);
}

/* Returns the errno of a failed exec, or 0. */
static int read_report(int report)
{
    int reason = 0;
    ssize_t got;

    do {
        got = read(report, &reason, sizeof reason);
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof reason ? reason : 0;
}

static int fork_and_exec(cp_child *child, char *const *argv, char *const *environment)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC) < 0) {
        return errno;
    }
    child->pid = fork();
    int reason;
    if (child->pid < 0) {
        reason = errno;
        close(report[0]);
        close(report[1]);
        return reason;
    }
    if (child->pid == 0) {
        become(child, argv, environment, report[1]);
    }
    close(report[1]);
    reason = read_report(report[0]);
    close(report[0]);
    if (reason) {
        waitpid(child->pid, &child->status, 0);
    }
    return reason;
}

int cp_child_start(cp_child *child, char *const *argv, char *const *environment, cp_error *error)
{
    memset(child, 0, sizeof *child);
    block_signals(child);
    int reason = fork_and_exec(child, argv, environment);
    if (reason == 0) {
        return 0;
    }
    unblock_signals(child);
    cp_fail(error, "%s: cannot run: %s", argv[0],
            reason == ENOENT ? "command not found, or its interpreter is missing"
                             : strerror(reason));
    return reason == ENOENT ? 127 : 126;
}

/* ---- while it runs ---- */

/* The letter of a task's state; that of a process is its first thread's. 0 if the task is gone. */
static int state_of(pid_t task)
{
    cp_process_stat stat;

    return cp_process_stat_read(task, "stat", &stat) ? stat.state : 0;
}

/* All threads stop together. But a thread that has ended is a zombie until the others end. */
static bool has_stopped_thread(pid_t pid)
{
    bool found = false;

    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    struct dirent *entry;
    while (tasks && !found && (entry = readdir(tasks))) {
        found = state_of((pid_t)strtol(entry->d_name, NULL, 10)) == 'T';
    }
    if (tasks) {
        closedir(tasks);
    }
    return found;
}

static bool is_stopped(pid_t pid)
{
    int state = state_of(pid);

    return state == 'T' || (state == 'Z' && has_stopped_thread(pid));
}

/* A signal from the kernel is the terminal's: the foreground process group gets it, and so does the
 * command, unless it left the group. A signal that the command sent to its own group needs no echo.
 * SIGCONT to a running command would only run its handler a second time. */
static bool is_for_child(const cp_child *child, const siginfo_t *info)
{
    if (info->si_signo == SIGCONT) {
        return is_stopped(child->pid);
    }
    if (info->si_code > 0) {
        return getpgid(child->pid) != getpgrp();
    }
    return info->si_pid != child->pid;
}

static void pass_on(const cp_child *child, const siginfo_t *info)
{
    if (info->si_signo != SIGCHLD && is_for_child(child, info)) {
        kill(child->pid, info->si_signo);
    }
}

/* Stops cpprof by the same signal, so that the shell reports the same. Returns after SIGCONT. */
static void stop_alike(int number)
{
    struct sigaction standard;
    memset(&standard, 0, sizeof standard);
    standard.sa_handler = SIG_DFL;
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, number);
    struct sigaction inherited;
    sigaction(number, &standard, &inherited);
    raise(number);
    sigset_t before;
    sigprocmask(SIG_UNBLOCK, &only, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    sigaction(number, &inherited, NULL);
}

/* Only after a signal of job control does cpprof stop too, for the shell. The sender of SIGSTOP
 * would not know that it has to continue cpprof as well. */
static bool is_job_control(int number)
{
    return number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

/* What the kernel knows of it until wait4() removes its entry in /proc. */
static void remember(cp_child *child)
{
    cp_process_stat stat;
    double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);

    if (cp_process_stat_read(child->pid, "stat", &stat)) {
        snprintf(child->last_name, sizeof child->last_name, "%.31s", stat.name);
        child->seconds = (double)(stat.ticks[0] + stat.ticks[1]) * tick;
        child->children_seconds = (double)(stat.ticks[2] + stat.ticks[3]) * tick;
    }
}

static double seconds_of(const struct rusage *use)
{
    return (double)(use->ru_utime.tv_sec + use->ru_stime.tv_sec) +
           (double)(use->ru_utime.tv_usec + use->ru_stime.tv_usec) / 1e6;
}

/* Takes all changes of the child's state; true after its end. */
static bool has_ended(cp_child *child, cp_child_watcher *watcher, void *ctx)
{
    siginfo_t info;

    for (;;) {
        memset(&info, 0, sizeof info);
        if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) < 0) {
            return true;
        }
        if (info.si_pid == 0) {
            return false;
        }
        if (info.si_code != CLD_STOPPED) {
            remember(child);
            struct rusage use;
            if (wait4(child->pid, &child->status, 0, &use) == child->pid) {
                child->all_seconds = seconds_of(&use);
            }
            return true;
        }
        waitid(P_PID, (id_t)child->pid, &info, WSTOPPED | WNOHANG);
        if (is_job_control(info.si_status)) {
            if (watcher) {
                watcher(ctx, child, CP_CHILD_PAUSES);
            }
            stop_alike(info.si_status);
        }
    }
}

/* Waits for a signal, a message or (with `ticks`) the next call of the watcher. If no signalfd can
 * be opened, the caller looks for signals at each timeout. */
static void wait_for_news(int signals, int messages, bool ticks)
{
    struct pollfd wanted[] = {{.fd = signals, .events = POLLIN},
                              {.fd = messages, .events = POLLIN}};
    int tick = signals < 0 ? SHORT_TICK_MS : TICK_MS;

    poll(wanted, 2, ticks || signals < 0 ? tick : -1);
}

void cp_child_wait(cp_child *child, cp_record_socket *sock, cp_parts *parts, cp_tree *tree,
                   cp_child_watcher *watcher, void *ctx)
{
    const struct timespec at_once = {0, 0};

    sigset_t set;
    fill_waited(&set);
    int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    siginfo_t info;
    while (!has_ended(child, watcher, ctx)) {
        if (watcher) {
            watcher(ctx, child, CP_CHILD_RUNS);
        }
        cp_record_socket_take(sock, parts, tree);
        wait_for_news(signals, sock->own, watcher != NULL);
        if (sigtimedwait(&set, &info, &at_once) > 0) {
            pass_on(child, &info);
        }
    }
    cp_record_socket_take(sock, parts, tree);
    if (signals >= 0) {
        close(signals);
    }
    if (watcher) {
        watcher(ctx, child, CP_CHILD_PAUSES);
    }
}

/* ---- end ---- */

_Noreturn void cp_child_end_alike(const cp_child *child, int otherwise)
{
    const struct rlimit none = {0, 0};

    fflush(NULL);
    if (!WIFSIGNALED(child->status)) {
        _exit(WEXITSTATUS(child->status) ? WEXITSTATUS(child->status) : otherwise);
    }
    int number = WTERMSIG(child->status);
    sigset_t only;
    /* cpprof's core would replace the one that the command may have left. A core_pattern that is a
     * pipe ignores the limit, but not the flag. */
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
    struct sigaction standard;
    memset(&standard, 0, sizeof standard);
    standard.sa_handler = SIG_DFL;
    sigaction(number, &standard, NULL);
    sigemptyset(&only);
    sigaddset(&only, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
    _exit(128 + number);
}
