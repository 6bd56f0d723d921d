/* SPDX-License-Identifier: MIT
 *
 * pager.c: see pager.h.
 *
 * Tested by: e2e.cpprof_terminal.
 */
#include "base/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static volatile sig_atomic_t pager; /* its process, or 0 */

static const int deadly[] = {SIGINT, SIGHUP, SIGTERM, SIGQUIT, SIGPIPE};

enum { DEADLY = sizeof deadly / sizeof *deadly };

/* The command, or NULL if the user wants none. */
static const char *command(void)
{
    const char *wanted = getenv("CPPROF_PAGER");

    wanted = wanted ? wanted : getenv("PAGER");
    wanted = wanted ? wanted : "less";
    return *wanted && strcmp(wanted, "cat") != 0 ? wanted : NULL;
}

/* Also called by the handler. */
static void wait_for_pager(void)
{
    pid_t process = pager;
    int status;

    pager = 0;
    close(STDOUT_FILENO);
    while (process && waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
}

static void on_deadly_signal(int number)
{
    wait_for_pager();
    signal(number, SIG_DFL);
    raise(number);
}

/* A signal that the user's shell ignores stays ignored. */
static void watch_signals(void)
{
    for (int i = 0; i < DEADLY; i++) {
        struct sigaction old;

        if (sigaction(deadly[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL) {
            struct sigaction action = {.sa_handler = on_deadly_signal};
            sigaction(deadly[i], &action, NULL);
        }
    }
}

/* Starts the command with the descriptor as its standard input. A shell is only asked to read a
 * command that is more than a word. Returns the process, or 0 if the command cannot be run. */
static pid_t spawn(const char *text, int input)
{
    char *words[] = {(char *)(uintptr_t)text, NULL};
    char *script[] = {"sh", "-c", (char *)(uintptr_t)text, NULL};
    char **arguments = strpbrk(text, " \t\n'\"$&|;<>()`\\*?[#~=%") ? script : words;
    posix_spawn_file_actions_t actions;
    pid_t process;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    int error = posix_spawnp(&process, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error == 0 ? process : 0;
}

void cp_pager_start(void)
{
    const char *text = command();
    int ends[2];

    signal(SIGPIPE, SIG_DFL);
    if (!text || !isatty(STDOUT_FILENO) || pipe2(ends, O_CLOEXEC) < 0) {
        return;
    }
    setenv("LESS", "FRX", 0);
    pid_t process = spawn(text, ends[0]);
    if (process) {
        fflush(stdout);
        dup2(ends[1], STDOUT_FILENO);
        pager = process;
        watch_signals();
    }
    close(ends[0]);
    close(ends[1]);
}

void cp_pager_finish(void)
{
    if (pager) {
        fflush(stdout);
        wait_for_pager();
    }
}
