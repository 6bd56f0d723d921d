/* SPDX-License-Identifier: MIT
 *
 * children.c WAY: starts a child in that way, between two stretches of work of its own; exit status
 * 42 if the child ended as it should.
 */
#include "burn.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_STATUS = 7, STATUS = 42 };

extern char **environ;

void parent_before(void)
{
    burn_ms(150);
}

void parent_after(void)
{
    burn_ms(150);
}

void child_work(void)
{
    burn_ms(60);
}

static int status_of(pid_t child)
{
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
        return -1;
    }
    return WEXITSTATUS(status);
}

static int by_fork(void)
{
    pid_t child = fork();
    if (child == 0) {
        child_work();
        exit(CHILD_STATUS);
    }
    return status_of(child);
}

static int by_fork_and_underscore(void)
{
    pid_t child = fork();
    if (child == 0) {
        child_work();
        _exit(CHILD_STATUS);
    }
    return status_of(child);
}

/* Past libc's fork, so that no handler of pthread_atfork runs. */
static int by_raw_fork(void)
{
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0);
    if (child == 0) {
        child_work();
        _exit(CHILD_STATUS);
    }
    return status_of(child);
}

static int by_grandchild(void)
{
    pid_t child = fork();
    if (child == 0) {
        _exit(by_fork());
    }
    return status_of(child);
}

static int by_vfork(void)
{
    pid_t child = vfork();
    if (child == 0) {
        _exit(CHILD_STATUS);
    }
    return status_of(child);
}

static int by_vfork_and_exec(void)
{
    pid_t child = vfork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
        _exit(1);
    }
    return status_of(child);
}

static int by_spawn(void)
{
    char *arguments[] = {(char *)"sh", (char *)"-c", (char *)"exit 7", NULL};
    pid_t child = -1;
    if (posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ) != 0) {
        return -1;
    }
    return status_of(child);
}

static int by_system(void)
{
    int status = system("exit 7");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int by_popen(void)
{
    char line[16] = "";
    FILE *pipe = popen("echo 7; exit 7", "r");
    if (pipe == NULL || fgets(line, sizeof line, pipe) == NULL || strcmp(line, "7\n") != 0) {
        return -1;
    }
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int vm_child(void *unused)
{
    (void)unused;
    _exit(CHILD_STATUS);
}

/* Shares our memory without being a thread, and without stopping us. */
static int by_clone_vm(void)
{
    enum { STACK = 65536 };
    char *stack = malloc(STACK);
    return status_of(clone(vm_child, stack + STACK, CLONE_VM | SIGCHLD, NULL));
}

/* The parent ends, a grandchild goes on without a terminal and without descriptors. */
static int by_daemon(void)
{
    int done[2];
    char byte = 0;
    if (pipe(done) != 0) {
        return -1;
    }
    pid_t child = fork();
    if (child == 0) {
        close(done[0]);
        if (fork() != 0) {
            _exit(0);
        }
        setsid();
        if (chdir("/") != 0 || dup2(done[1], 3) != 3) {
            _exit(1);
        }
        for (int fd = 0; fd < 64; fd++) {
            if (fd != 3) {
                close(fd);
            }
        }
        child_work();
        byte = CHILD_STATUS;
        exit(write(3, &byte, 1) == 1 ? 0 : 1);
    }
    close(done[1]);
    if (status_of(child) != 0 || read(done[0], &byte, 1) != 1) {
        return -1;
    }
    return read(done[0], &byte + 0, 1) == 0 ? CHILD_STATUS : -1; /* it has ended */
}

/* 60 children, one after another, beside threads that work and end. */
static void *worker_entry(void *unused)
{
    burn_ms(2);
    return unused;
}

static int by_many_forks(void)
{
    for (int i = 0; i < 60; i++) {
        pthread_t threads[2];
        for (int k = 0; k < 2; k++) {
            if (pthread_create(&threads[k], NULL, worker_entry, NULL) != 0) {
                return -1;
            }
        }
        pid_t child = fork();
        if (child == 0) {
            pthread_t thread;
            if (pthread_create(&thread, NULL, worker_entry, NULL) != 0) {
                _exit(1);
            }
            pthread_join(thread, NULL);
            exit(CHILD_STATUS);
        }
        int status = status_of(child);
        for (int k = 0; k < 2; k++) {
            pthread_join(threads[k], NULL);
        }
        if (status != CHILD_STATUS) {
            return -1;
        }
    }
    return CHILD_STATUS;
}

static int by_exec(void)
{
    execl("/bin/sh", "sh", "-c", "exit 42", (char *)NULL);
    return -1;
}

static const struct {
    const char *name;
    int (*start)(void);
} ways[] = {
    {"fork", by_fork},         {"fork-_exit", by_fork_and_underscore},
    {"raw-fork", by_raw_fork}, {"grandchild", by_grandchild},
    {"vfork", by_vfork},       {"vfork-exec", by_vfork_and_exec},
    {"spawn", by_spawn},       {"system", by_system},
    {"popen", by_popen},       {"clone-vm", by_clone_vm},
    {"daemon", by_daemon},     {"many", by_many_forks},
    {"exec", by_exec},
};

int main(int argc, char **argv)
{
    int child_status = -1;
    parent_before();
    for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(ways[i].name, argv[1]) == 0) {
            child_status = ways[i].start();
        }
    }
    parent_after();
    return child_status == CHILD_STATUS ? STATUS : 1;
}
