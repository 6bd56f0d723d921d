/* SPDX-License-Identifier: MIT
 *
 * attacher.c: see attacher.h.
 *
 * Tested by: e2e.cpprof_agent_attach.
 */
#include "agent/attacher.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const int64_t limit_ns = INT64_C(60) * 1000000000;

void cp_attacher_init(cp_attacher *a, cp_loop *loop, const char *options)
{
    *a = (cp_attacher){.loop = loop, .options = options, .child = {.fd = -1}};
}

static void reap(cp_attacher *a)
{
    cp_loop_close(&a->child);
    while (waitpid(a->child_pid, NULL, 0) < 0 && errno == EINTR) {
    }
    a->child_pid = 0;
}

static void end_child(cp_loop_source *source, uint32_t events)
{
    cp_attacher *a = (cp_attacher *)((char *)source - offsetof(cp_attacher, child));

    if (events == 0) {
        kill(a->child_pid, SIGKILL);
    }
    reap(a);
}

/* The child must not have the agent's signals blocked, and says nothing but errors. */
static int spawn(const cp_attacher *a, int pid, pid_t *child)
{
    char number[16];
    char *arguments[] = {"cpprof", "configure", number, (char *)(uintptr_t)a->options, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;

    snprintf(number, sizeof number, "%d", pid);
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    int status = posix_spawn(child, "/proc/self/exe", &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return status;
}

bool cp_attacher_begin(cp_attacher *a, int pid)
{
    if (a->child_pid != 0 || spawn(a, pid, &a->child_pid) != 0) {
        return false;
    }
    a->child = (cp_loop_source){.fd = (int)syscall(SYS_pidfd_open, a->child_pid, 0),
                                .events = EPOLLIN,
                                .deadline_ns = cp_now_ns() + limit_ns,
                                .act = end_child};
    if (a->child.fd < 0 || cp_loop_add(a->loop, &a->child) < 0) {
        reap(a); /* without the system call of Linux 5.3: it is waited for */
    }
    return true;
}

void cp_attacher_end(cp_attacher *a)
{
    if (a->child_pid != 0) {
        kill(a->child_pid, SIGTERM);
        reap(a);
    }
}
