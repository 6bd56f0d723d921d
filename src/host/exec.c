/* SPDX-License-Identifier: MIT
 *
 * exec.c: the exec functions. The engine `perf` needs to know of them, and so does the option
 * `follow-exec`, which profiles the program that the process becomes (follow_exec.h).
 *
 * When a process executes another program, the kernel deletes the process's timers together with
 * their pending signals. But the signal of a perf event stays pending if the thread blocks it (past
 * libc), and the new program would die of the signal as soon as it unblocks it. So the hook stops
 * the calling thread's event before the exec, and takes its signal back.
 *
 * posix_spawn makes a child past these hooks. Its own hook only tells what the child executes.
 *
 * A program for another libc does not start with this library: it gets an environment without it.
 *
 * libc's exec functions call each other past the symbol table, so each of them has a hook. The
 * hooks with a list of arguments make an array of it, as libc's functions do.
 *
 * Zone: HOOK. The program also calls these between fork or vfork and exec: in a child of vfork the
 * hook makes one system call, getpid, unless the library is in its environment (`subprocesses`). A child
 * of fork is an owner: before_exec decides what to do.
 * Locks: those of the samplers, which wait with patience.
 * Tested by: e2e.cpprof_record_exec, e2e.perf, e2e.other_libc
 */
#include "host/hooks.h"

#include "host/preload_list.h"
#include "host/real.h"
#include "host/samplers.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

typedef int execve_function(const char *, char *const[], char *const[]);
typedef int fexecve_function(int, char *const[], char *const[]);
typedef int execveat_function(int, const char *, char *const[], char *const[], int);

typedef int spawn_function(pid_t *, const char *, const posix_spawn_file_actions_t *,
                           const posix_spawnattr_t *, char *const[], char *const[]);

static struct {
    void *execve;
    void *execvpe;
    void *fexecve;
    void *execveat;
    void *posix_spawn;
    void *posix_spawnp;
} real_functions;

/* ---- before and, if it failed, after ---- */

static bool before(const void *real, pp_exec *exec)
{
    bool owner = real != NULL && pp_hook_is_owner();
    if (owner) {
        int saved_errno = errno;
        pp_hook_tell_exec(exec);
        pp_samplers_tell(PP_THREAD_EXECUTES);
        errno = saved_errno;
    } else if (real != NULL) {
        pp_hook_tell_child_executes(exec, 0);
    }
    return owner;
}

static int after(bool owner, pp_exec *exec, int result)
{
    if (owner) {
        pp_samplers_tell(PP_THREAD_FAILED_TO_EXECUTE);
        pp_hook_tell_failed_exec(exec);
    }
    return result;
}

/* The words of memory that an environment without the library takes; 0: it stays in. */
static size_t room_to_leave_out(const pp_exec *exec)
{
    return pp_hook_leaves_library(exec) ? pp_preload_list_room(exec->envp) : 0;
}

static void leave_out(pp_exec *exec, size_t words, char **room)
{
    exec->envp = words > 0 ? pp_preload_list_leave_out(exec->envp, room) : exec->envp;
}

static int missing(void)
{
    errno = ENOSYS;
    return -1;
}

/* ---- arrays ---- */

static int call_execve(void **slot, const char *name, const char *path, char *const argv[],
                       char *const envp[])
{
    execve_function *real = (execve_function *)pp_real(slot, name);
    pp_exec exec = {
        .folder = AT_FDCWD, .path = path, .search = slot == &real_functions.execvpe, .envp = envp};
    bool owner = before((const void *)real, &exec);
    size_t words = room_to_leave_out(&exec);
    char *room[words + 1];
    leave_out(&exec, words, room);
    return real == NULL ? missing() : after(owner, &exec, real(path, argv, exec.envp));
}

__attribute__((visibility("default"))) int execve(const char *path, char *const argv[],
                                                  char *const envp[])
{
    return call_execve(&real_functions.execve, "execve", path, argv, envp);
}

__attribute__((visibility("default"))) int execvpe(const char *file, char *const argv[],
                                                   char *const envp[])
{
    return call_execve(&real_functions.execvpe, "execvpe", file, argv, envp);
}

/* libc's execv and execvp are these calls, with the process's own environment. */
__attribute__((visibility("default"))) int execv(const char *path, char *const argv[])
{
    return call_execve(&real_functions.execve, "execve", path, argv, environ);
}

__attribute__((visibility("default"))) int execvp(const char *file, char *const argv[])
{
    return call_execve(&real_functions.execvpe, "execvpe", file, argv, environ);
}

__attribute__((visibility("default"))) int fexecve(int fd, char *const argv[], char *const envp[])
{
    fexecve_function *real = (fexecve_function *)pp_real(&real_functions.fexecve, "fexecve");
    pp_exec exec = {.folder = fd, .envp = envp};
    bool owner = before((const void *)real, &exec);
    size_t words = room_to_leave_out(&exec);
    char *room[words + 1];
    leave_out(&exec, words, room);
    return real == NULL ? missing() : after(owner, &exec, real(fd, argv, exec.envp));
}

/* Since glibc 2.34. */
__attribute__((visibility("default"))) int execveat(int fd, const char *path, char *const argv[],
                                                    char *const envp[], int flags)
{
    execveat_function *real = (execveat_function *)pp_real(&real_functions.execveat, "execveat");
    pp_exec exec = {.folder = fd, .path = path, .envp = envp};
    bool owner = before((const void *)real, &exec);
    size_t words = room_to_leave_out(&exec);
    char *room[words + 1];
    leave_out(&exec, words, room);
    return real == NULL ? missing() : after(owner, &exec, real(fd, path, argv, exec.envp, flags));
}

/* ---- lists ---- */

/* The number of arguments before the NULL. */
static size_t count_list(const char *arg, va_list *rest)
{
    size_t count = 0;
    for (const char *argument = arg; argument != NULL; argument = va_arg(*rest, const char *)) {
        count++;
    }
    return count;
}

/* Stores the arguments and their NULL. After that, `rest` is after the NULL. */
static void copy_list(char **argv, size_t count, const char *arg, va_list *rest)
{
    argv[0] = (char *)arg;
    for (size_t i = 1; i <= count; i++) {
        argv[i] = va_arg(*rest, char *);
    }
}

__attribute__((visibility("default"))) int execl(const char *path, const char *arg, ...)
{
    va_list rest;
    va_start(rest, arg);
    size_t count = count_list(arg, &rest);
    va_end(rest);
    char *argv[count + 1];
    va_start(rest, arg);
    copy_list(argv, count, arg, &rest);
    va_end(rest);
    return execv(path, argv);
}

__attribute__((visibility("default"))) int execlp(const char *file, const char *arg, ...)
{
    va_list rest;
    va_start(rest, arg);
    size_t count = count_list(arg, &rest);
    va_end(rest);
    char *argv[count + 1];
    va_start(rest, arg);
    copy_list(argv, count, arg, &rest);
    va_end(rest);
    return execvp(file, argv);
}

__attribute__((visibility("default"))) int execle(const char *path, const char *arg, ...)
{
    va_list rest;
    va_start(rest, arg);
    size_t count = count_list(arg, &rest);
    va_end(rest);
    char *argv[count + 1];
    va_start(rest, arg);
    copy_list(argv, count, arg, &rest);
    char *const *envp = va_arg(rest, char *const *);
    va_end(rest);
    return execve(path, argv, envp);
}

/* ---- children ---- */

static int call_spawn(void **slot, const char *name, const pp_exec *exec, pid_t *child,
                      const posix_spawn_file_actions_t *actions,
                      const posix_spawnattr_t *attributes, char *const argv[])
{
    spawn_function *real = (spawn_function *)pp_real(slot, name);
    pid_t made = 0;
    if (real == NULL) {
        return ENOSYS;
    }
    pp_exec changed = *exec;
    size_t words = room_to_leave_out(&changed);
    char *room[words + 1];
    leave_out(&changed, words, room);
    int error = real(&made, exec->path, actions, attributes, argv, changed.envp);
    if (error == 0 && child != NULL) {
        *child = made;
    }
    if (error == 0 && pp_hook_is_owner()) {
        pp_hook_tell_child_executes(exec, made);
    }
    return error;
}

__attribute__((visibility("default"))) int
posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *file_actions,
            const posix_spawnattr_t *attrp, char *const argv[], char *const envp[])
{
    const pp_exec exec = {.folder = AT_FDCWD, .path = path, .envp = envp};
    return call_spawn(&real_functions.posix_spawn, "posix_spawn", &exec, pid, file_actions, attrp,
                      argv);
}

__attribute__((visibility("default"))) int
posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *file_actions,
             const posix_spawnattr_t *attrp, char *const argv[], char *const envp[])
{
    const pp_exec exec = {.folder = AT_FDCWD, .path = file, .search = true, .envp = envp};
    return call_spawn(&real_functions.posix_spawnp, "posix_spawnp", &exec, pid, file_actions, attrp,
                      argv);
}

void pp_hook_exec_init(void)
{
    pp_real(&real_functions.execve, "execve");
    pp_real(&real_functions.execvpe, "execvpe");
    pp_real(&real_functions.fexecve, "fexecve");
    pp_real(&real_functions.execveat, "execveat");
    pp_real(&real_functions.posix_spawn, "posix_spawn");
    pp_real(&real_functions.posix_spawnp, "posix_spawnp");
}
