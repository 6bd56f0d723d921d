/* SPDX-License-Identifier: MIT
 *
 * hostile.c WAY: does to itself what servers do: closes every descriptor, changes its root or its
 * user, overwrites its title. Works 150 ms before and after, ends with status 42.
 */
#include "burn.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { STATUS = 42 };

extern char **environ;

void work_before(void)
{
    burn_ms(300);
}

void work_after(void)
{
    burn_ms(300);
}

static void close_all(void)
{
    for (int fd = 0; fd < 1024; fd++) {
        close(fd);
    }
}

/* Descriptor 2 now belongs to a file with data of the host. */
static void reuse_standard_error(void)
{
    close(STDERR_FILENO);
    if (open("data", O_WRONLY | O_CREAT | O_TRUNC, 0600) != STDERR_FILENO) {
        exit(1);
    }
}

static void change_folder(void)
{
    if (chdir("/") != 0) {
        exit(1);
    }
}

static void change_root(void)
{
    if (mkdtemp((char[]){"rootXXXXXX"}) == NULL || chroot(".") != 0 || chdir("/") != 0) {
        exit(77);
    }
}

static void drop_privileges(void)
{
    if (setgid(65534) != 0 || setuid(65534) != 0) {
        exit(77);
    }
}

static void hide(void)
{
    if (prctl(PR_SET_DUMPABLE, 0) != 0) {
        exit(1);
    }
}

/* Up to the limit: not one more can be opened. */
static void use_up_descriptors(void)
{
    const struct rlimit few = {64, 64};
    setrlimit(RLIMIT_NOFILE, &few);
    while (dup(STDOUT_FILENO) >= 0) {
    }
}

static void use_up_memory(void)
{
    const struct rlimit none = {1, 1};
    setrlimit(RLIMIT_AS, &none);
}

/* As setproctitle() does: over the arguments and the environment that lies behind them. */
static char *first_argument;

static void overwrite_title(void)
{
    char *last = first_argument;
    for (char **variable = environ; *variable != NULL; variable++) {
        if (*variable > last) {
            last = *variable;
        }
    }
    last += strlen(last);
    memset(first_argument, '/', (size_t)(last - first_argument));
}

static void overwrite_environment(void)
{
    for (char **variable = environ; *variable != NULL; variable++) {
        memset(*variable, 'x', strlen(*variable));
    }
    environ = NULL;
}

static void *nothing(void *unused)
{
    return unused;
}

static void forbid_threads(void)
{
    const struct rlimit one = {1, 1};
    pthread_t thread;
    setrlimit(RLIMIT_NPROC, &one);
    setrlimit(RLIMIT_SIGPENDING, &one);
    if (pthread_create(&thread, NULL, nothing, NULL) == 0) {
        pthread_join(thread, NULL);
    }
}

static const struct {
    const char *name;
    void (*act)(void);
} ways[] = {
    {"close-all", close_all},
    {"reuse-stderr", reuse_standard_error},
    {"chdir", change_folder},
    {"chroot", change_root},
    {"setuid", drop_privileges},
    {"undumpable", hide},
    {"no-descriptors", use_up_descriptors},
    {"no-memory", use_up_memory},
    {"title", overwrite_title},
    {"environment", overwrite_environment},
    {"no-threads", forbid_threads},
};

int main(int argc, char **argv)
{
    first_argument = argv[0];
    char way[64] = "";
    if (argc > 1) {
        strncpy(way, argv[1], sizeof way - 1);
    }
    work_before();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(ways[i].name, way) == 0) {
            ways[i].act();
        }
    }
    work_after();
    return STATUS;
}
