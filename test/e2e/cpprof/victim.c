/* SPDX-License-Identifier: MIT
 *
 * victim.c: a command for the tests of `cpprof record`.
 *
 *   state        prints what it inherited: signals, open files, process group
 *   die SIGNAL   ends by a signal
 *   count FILE   writes "pid N" and "ready" to FILE, counts the signals that it gets until SIGTERM,
 *                and prints them; SIGUSR1 makes it append a line to FILE
 *   interrupt    has ^C typed, and prints how many interrupts arrive
 *   suspend FILE has ^Z typed, and appends a line to FILE once it is continued
 *   burn SECONDS uses that much CPU time, three quarters of it in burn_more(), the rest in
 *                burn_less()
 *   terminal COMMAND...
 *                runs COMMAND in the foreground of a new terminal, copies what it prints, types ^C
 *                or ^Z when that is "type-interrupt" or "type-suspend", continues COMMAND when it
 *                stops, and prints how it ended
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* sigabbrev_np(), which only glibc has. */
static const char *name_of(int number)
{
    static const char *const names[] = {
        [SIGHUP] = "HUP",   [SIGINT] = "INT",   [SIGQUIT] = "QUIT", [SIGABRT] = "ABRT",
        [SIGKILL] = "KILL", [SIGUSR1] = "USR1", [SIGSEGV] = "SEGV", [SIGUSR2] = "USR2",
        [SIGALRM] = "ALRM", [SIGTERM] = "TERM", [SIGCHLD] = "CHLD", [SIGCONT] = "CONT",
        [SIGSTOP] = "STOP", [SIGTSTP] = "TSTP", [SIGTTIN] = "TTIN", [SIGTTOU] = "TTOU",
    };
    const int count = sizeof names / sizeof *names;
    return number >= 0 && number < count && names[number] != NULL ? names[number] : "?";
}

static void print_signals(void)
{
    sigset_t mask;

    sigprocmask(SIG_SETMASK, NULL, &mask);
    for (int number = 1; number < 32; number++) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) == 0) {
            printf("signal %d %s%s\n", number, action.sa_handler == SIG_IGN ? "ignored" : "default",
                   sigismember(&mask, number) == 1 ? " blocked" : "");
        }
    }
}

static void print_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    struct dirent *entry;

    while ((entry = readdir(folder))) {
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(folder)) {
            printf("file %s\n", entry->d_name);
        }
    }
    closedir(folder);
}

static int print_state(void)
{
    print_signals();
    print_files();
    printf("group %s\n", getpgrp() == getpgid(getppid()) ? "parent's" : "own");
    return 0;
}

static int die(int number)
{
    signal(number, SIG_DFL);
    raise(number);
    return 1;
}

static void append(const char *path, const char *line)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);

    if (write(fd, line, strlen(line)) < 0) {
        abort();
    }
    close(fd);
}

static int count_signals(const char *path)
{
    unsigned counts[64] = {0};

    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    char line[32];
    snprintf(line, sizeof line, "pid %d\n", (int)getpid());
    append(path, line);
    append(path, "ready\n");
    int number;
    do {
        number = sigwaitinfo(&all, NULL);
        if (number > 0) {
            counts[number]++;
        }
        if (number == SIGUSR1) {
            append(path, "usr1\n");
        }
    } while (number != SIGTERM);
    for (int i = 1; i < 64; i++) {
        if (counts[i]) {
            printf("%s %u\n", name_of(i), counts[i]);
        }
    }
    return 0;
}

static void say(const char *line)
{
    puts(line);
    fflush(stdout);
}

static bool is_stopped(pid_t pid)
{
    const char *state = NULL;

    char path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    char line[512];
    if (file && fgets(line, sizeof line, file)) {
        state = strrchr(line, ')');
    }
    if (file) {
        fclose(file);
    }
    return state && state[2] == 'T';
}

/* Sends a signal to the parent, from a third process. The parent passes it on after all earlier
 * ones: a signal that has not arrived by then never arrives. */
static void wait_for_parent(pid_t parent, const sigset_t *all, unsigned *counts)
{
    const struct timespec now = {0, 0};

    if (fork() == 0) {
        kill(parent, SIGUSR1);
        _exit(0);
    }
    int number;
    do {
        number = sigwaitinfo(all, NULL);
        if (number > 0) {
            counts[number]++;
        }
    } while (number != SIGUSR1);
    while ((number = sigtimedwait(all, NULL, &now)) > 0) {
        counts[number]++;
    }
}

/* The parent sleeps until this process has taken the terminal's interrupt. Else a second one, from
 * the parent, could arrive while the first is pending, and would not be counted. */
static int await_interrupt(void)
{
    unsigned counts[64] = {0};
    pid_t parent = getppid();
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    kill(parent, SIGSTOP);
    while (!is_stopped(parent)) {
        sched_yield();
    }
    say("type-interrupt");
    while (sigwaitinfo(&all, NULL) != SIGINT) {
        continue;
    }
    kill(parent, SIGCONT);
    wait_for_parent(parent, &all, counts);
    printf("interrupts: %u\n", 1 + counts[SIGINT]);
    return 3;
}

static int await_suspension(const char *path)
{
    sigset_t only;

    sigemptyset(&only);
    sigaddset(&only, SIGCONT);
    sigprocmask(SIG_BLOCK, &only, NULL);
    say("type-suspend");
    while (sigwaitinfo(&only, NULL) != SIGCONT) {
        continue;
    }
    append(path, "continued\n");
    return 0;
}

static volatile unsigned long sink;

/* A round takes equally long in both: its result is the next one's factor. What goes through memory is at one time three
 * times as fast as at another. */
__attribute__((noinline)) static void burn_more(unsigned long rounds)
{
    unsigned long value = sink;
    for (unsigned long i = 0; i < rounds; i++) {
        value = value * 1103515245 + i;
    }
    sink = value;
}

__attribute__((noinline)) static void burn_less(unsigned long rounds)
{
    unsigned long value = sink;
    for (unsigned long i = 0; i < rounds; i++) {
        value = value * 1664525 + i;
    }
    sink = value;
}

/* Calls the functions for random times. Equal times may be in step with the kernel's ticks, which
 * would then see both functions equally often. */
static int burn(double seconds)
{
    unsigned random = 1;

    while ((double)clock() / CLOCKS_PER_SEC < seconds) {
        random = random * 1103515245 + 12345;
        unsigned long rounds = 100000 + (random >> 12);
        burn_more(3 * rounds);
        burn_less(rounds);
    }
    return 0;
}

/* ---- the terminal ---- */

struct terminal {
    int fd;
    char seen[65536];
    size_t length, handled;
};

/* Types the key of each keyword that the program printed since the last call. */
static void answer(struct terminal *terminal)
{
    terminal->seen[terminal->length] = '\0';
    char *interrupt = strstr(terminal->seen + terminal->handled, "type-interrupt");
    char *suspend = strstr(terminal->seen + terminal->handled, "type-suspend");
    if (!interrupt && !suspend) {
        return;
    }
    terminal->handled = terminal->length;
    if (write(terminal->fd, interrupt ? "\3" : "\32", 1) != 1) {
        abort();
    }
}

/* Waits for a change of the process's state, and continues it if a signal of job control stopped
 * it. */
static bool has_ended(pid_t pid, int *status, int flags)
{
    if (waitpid(pid, status, WUNTRACED | flags) <= 0) {
        return false;
    }
    if (!WIFSTOPPED(*status)) {
        return true;
    }
    printf("[stopped by %s]\n", name_of(WSTOPSIG(*status)));
    fflush(stdout);
    if (WSTOPSIG(*status) == SIGTSTP) {
        kill(-pid, SIGCONT);
    }
    return false;
}

static int in_terminal(char **command)
{
    static struct terminal terminal;
    pid_t pid = forkpty(&terminal.fd, NULL, NULL, NULL);
    int status = 0;
    bool ended = false;

    if (pid == 0) {
        /* The session's leader stays a shell, so that the command's group is no orphan. */
        signal(SIGTTOU, SIG_IGN);
        pid_t job = fork();
        if (job == 0) {
            setpgid(0, 0);
            tcsetpgrp(0, getpid());
            signal(SIGTTOU, SIG_DFL);
            execvp(command[0], command);
            _exit(127);
        }
        setpgid(job, job);
        tcsetpgrp(0, job);
        int job_status;
        while (!has_ended(job, &job_status, 0)) {
            continue;
        }
        if (WIFSIGNALED(job_status)) {
            printf("[ended by %s]\n", name_of(WTERMSIG(job_status)));
        } else {
            printf("[ended with %d]\n", WEXITSTATUS(job_status));
        }
        fflush(stdout);
        _exit(0);
    }
    while (!ended) {
        ssize_t got = read(terminal.fd, terminal.seen + terminal.length,
                           sizeof terminal.seen - terminal.length - 1);
        if (got <= 0) {
            break;
        }
        if (fwrite(terminal.seen + terminal.length, 1, (size_t)got, stdout) != (size_t)got) {
            abort();
        }
        fflush(stdout);
        terminal.length += (size_t)got;
        answer(&terminal);
    }
    waitpid(pid, &status, 0);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "state") == 0) {
        return print_state();
    }
    if (argc == 3 && strcmp(argv[1], "die") == 0) {
        return die(atoi(argv[2]));
    }
    if (argc == 3 && strcmp(argv[1], "count") == 0) {
        return count_signals(argv[2]);
    }
    if (argc == 2 && strcmp(argv[1], "interrupt") == 0) {
        return await_interrupt();
    }
    if (argc == 3 && strcmp(argv[1], "suspend") == 0) {
        return await_suspension(argv[2]);
    }
    if (argc == 3 && strcmp(argv[1], "burn") == 0) {
        return burn(atof(argv[2]));
    }
    if (argc >= 3 && strcmp(argv[1], "terminal") == 0) {
        return in_terminal(argv + 2);
    }
    return 2;
}
