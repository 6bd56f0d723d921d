/* SPDX-License-Identifier: MIT
 *
 * program.c COMMAND: a program that is linked to a library with one more kind of profile, and plays
 * with it first.
 *
 *   names      prints the names of all profiles
 *   text N     writes the profile "toy" with debug=N
 *   taken      prints what pprof_new_profile("toy") leaves in errno
 *   kill       ends by SIGTERM
 *   fork       so does a child, after its parent
 *   exec       executes itself with "names"
 *   ask        turns it on by pprof_configure()
 */
#include "toy_kind.h"

#include "pprof.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void play_here(void)
{
    toy_play();
    __asm__ volatile("");
}

static int write_to(void *file, const void *data, size_t size)
{
    return fwrite(data, 1, size, file) == size ? 0 : -EIO;
}

static int print_names(void)
{
    pprof_profile *all[64];
    size_t count = pprof_profiles(all, 64);
    for (size_t i = 0; i < count; i++) {
        printf("%s %zu\n", pprof_profile_name(all[i]), pprof_profile_count(all[i]));
    }
    return 0;
}

static int end_in_child(void)
{
    pid_t child = fork();
    if (child == 0) {
        play_here();
        raise(SIGTERM);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFSIGNALED(status) ? 42 : 1;
}

int main(int argc, char **argv)
{
    const char *command = argc > 1 ? argv[1] : "";
    play_here();
    play_here();
    if (strcmp(command, "names") == 0) {
        return print_names();
    }
    if (strcmp(command, "text") == 0 && argc > 2) {
        return pprof_profile_write(pprof_lookup("toy"), (pprof_writer){write_to, stdout},
                                   (int)strtol(argv[2], NULL, 10));
    }
    if (strcmp(command, "taken") == 0) {
        puts(pprof_new_profile("toy") == NULL ? strerror(errno) : "made");
        return 0;
    }
    if (strcmp(command, "fork") == 0) {
        return end_in_child();
    }
    if (strcmp(command, "kill") == 0) {
        raise(SIGTERM);
    }
    if (strcmp(command, "exec") == 0) {
        execl("/proc/self/exe", argv[0], "names", (char *)NULL);
    }
    return strcmp(command, "ask") == 0 ? pprof_configure("toy,nonsense") == -EINVAL ? 42 : 1 : 2;
}
