/* SPDX-License-Identifier: MIT
 *
 * control_list.c: see control_list.h.
 *
 *   a process of this user   it answers on its socket; or its environment or its mappings name
 *                            libpprof
 *   of another user          /proc/net/unix shows the name of its socket, and nothing else
 *
 * Owns: the sockets' names of /proc/net/unix for the length of a call.
 * Tested by: e2e.cpprof_ps.
 */
#include "ask/control_list.h"

#include "ask/control.h"
#include "ask/control_target.h"
#include "ask/process_files.h"
#include "base/message.h"
#include "base/printable.h"
#include "profile/protobuf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_SECONDS = 2, COMMAND_BYTES = 1024 };

/* ---- what /proc says ---- */

/* A terminal does not obey what a process of somebody else's says. */
static char *copy_plain(cp_pool *pool, const char *text, size_t length)
{
    char *printable = cp_printable(text, length);
    char *copy = cp_pool_copy(pool, printable, strlen(printable));

    free(printable);
    for (char *tab = copy; (tab = strchr(tab, '\t'));) {
        *tab = ' '; /* it separates columns */
    }
    return copy;
}

/* NULL: a thread of the kernel, or no process any more. */
static const char *command_of(cp_pool *pool, int pid)
{
    char *command = cp_process_command(pid);
    const char *copy = command ? copy_plain(pool, command, strnlen(command, COMMAND_BYTES)) : NULL;

    free(command);
    return copy;
}

/* Whether the library is mapped. */
static bool has_library(int pid)
{
    FILE *file = cp_process_open(pid, "maps");
    char *line = NULL;
    size_t room = 0;
    bool found = false;

    while (file && !found && getline(&line, &room, file) > 0) {
        found = strstr(line, "/libpprof.so") != NULL;
    }
    free(line);
    if (file) {
        fclose(file);
    }
    return found;
}

/* Whether the name of a listening socket is that of a control socket of this process. */
static bool is_named_so(const char *line, int pid)
{
    char name[32];
    const char *path = strchr(line, '/');

    snprintf(name, sizeof name, "/%d.sock\n", pid);
    const char *end = path ? strstr(path, name) : NULL;
    const char *folder = path ? strstr(path, "/pprof") : NULL;
    return end && folder && folder < end && !end[strlen(name)];
}

/* Whether a process that hides everything else has a control socket. */
static bool has_named_socket(int pid)
{
    FILE *file = cp_process_open(pid, "net/unix");
    char *line = NULL;
    size_t room = 0;
    bool found = false;

    file = file ? file : fopen("/proc/net/unix", "re");
    while (file && !found && getline(&line, &room, file) > 0) {
        found = is_named_so(line, pid);
    }
    free(line);
    if (file) {
        fclose(file);
    }
    return found;
}

static const char *name_of(cp_pool *pool, uid_t user)
{
    const struct passwd *found = getpwuid(user); /* cppcheck-suppress getpwuidCalled */

    return found ? cp_pool_copy(pool, found->pw_name, strlen(found->pw_name))
                 : cp_pool_printf(pool, "%u", (unsigned)user);
}

/* ---- what the process says ---- */

/* The value of a line "WORD VALUE"; NULL: there is no such line. */
static const char *value_of(cp_pool *pool, const cp_bytes *status, const char *word)
{
    const char *at = (const char *)status->data, *end = at + status->length;
    size_t length = strlen(word);

    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        size_t size = (size_t)(stop - at);
        if (size > length && strncmp(at, word, length) == 0 && at[length] == ' ') {
            return copy_plain(pool, at + length + 1, size - length - 1);
        }
        at = stop + 1;
    }
    return NULL;
}

static void ask_status(cp_process_list *list, cp_process *process, int fd, const char *path)
{
    cp_bytes status = {0};
    cp_error error;

    if (cp_control_ask(fd, "status", NULL, ANSWER_SECONDS, &status, &error) < 0) {
        process->hindrance = cp_pool_copy(&list->pool, error.text, strlen(error.text));
    } else {
        process->control = copy_plain(&list->pool, path, strlen(path));
        process->on = value_of(&list->pool, &status, "on");
        process->http = value_of(&list->pool, &status, "http");
    }
    cp_bytes_release(&status);
}

/* What the environment says, of a process without a control socket. False: it has no libpprof. */
static bool describe(cp_process_list *list, cp_process *process, const cp_target *target)
{
    cp_target_environment environment;

    if (!has_library(process->pid)) {
        return false;
    }
    cp_target_environment_read(target, &environment);
    char *http = cp_target_http(environment.options);
    if (http) {
        process->http = copy_plain(&list->pool, http, strlen(http));
    } else {
        process->hindrance = "no control socket";
    }
    free(http);
    cp_target_environment_release(&environment);
    return true;
}

static bool look_at(cp_process_list *list, cp_process *process, const cp_target *target)
{
    char path[PATH_MAX];
    cp_error error;

    if (!cp_target_is_ours(target)) {
        process->hindrance = "not reachable: other user";
        return has_named_socket(target->inner_pid);
    }
    int fd = cp_target_connect(target, path, &error);
    if (fd < 0) {
        return describe(list, process, target);
    }
    ask_status(list, process, fd, path);
    return true;
}

/* ---- the list ---- */

static void add(cp_process_list *list, int pid)
{
    cp_process process = {.pid = pid};
    cp_target target;
    cp_error error;

    process.command = command_of(&list->pool, pid);
    if (!process.command || cp_target_read(pid, &target, &error) < 0 ||
        !look_at(list, &process, &target)) {
        return;
    }
    process.user = target.user;
    process.user_name = name_of(&list->pool, target.user);
    list->processes = cp_pool_grow(&list->pool, list->processes, list->count, &list->room,
                                   sizeof *list->processes);
    list->processes[list->count++] = process;
}

void cp_process_list_read(cp_process_list *list)
{
    const struct dirent *entry;
    DIR *folder = opendir("/proc");

    *list = (cp_process_list){.count = 0};
    cp_pool_init(&list->pool);
    while (folder && (entry = readdir(folder)) != NULL) {
        long pid = strtol(entry->d_name, NULL, 10);
        if (pid > 0 && pid != getpid()) {
            add(list, (int)pid);
        }
    }
    if (folder) {
        closedir(folder);
    }
}

void cp_process_list_release(cp_process_list *list)
{
    cp_pool_release(&list->pool);
}

/* ---- what was left ---- */

/* A process that has bound its socket listens on it at once. */
enum { SECONDS_TO_LISTEN = 10 };

static bool is_left(int folder, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat status;

    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISSOCK(status.st_mode) ||
        status.st_uid != geteuid() || status.st_mtime > time(NULL) - SECONDS_TO_LISTEN) {
        return false;
    }
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%.40s", folder, name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool left = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) < 0 &&
                errno == ECONNREFUSED;
    if (fd >= 0) {
        close(fd);
    }
    return left;
}

static bool has_number(const char *name)
{
    size_t digits = strspn(name, "0123456789");

    return digits > 0 && digits < 12 && strcmp(name + digits, ".sock") == 0;
}

static void clean(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;

    while (folder && (entry = readdir(folder)) != NULL) {
        if (has_number(entry->d_name) && is_left(dirfd(folder), entry->d_name)) {
            unlinkat(dirfd(folder), entry->d_name, 0);
        }
    }
    if (folder) {
        closedir(folder);
    } else if (fd >= 0) {
        close(fd);
    }
}

void cp_control_remove_left(void)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    char path[PATH_MAX];

    if (runtime && snprintf(path, sizeof path, "%s/pprof", runtime) < (int)sizeof path) {
        clean(path);
    }
    snprintf(path, sizeof path, "/tmp/pprof-%u", (unsigned)geteuid());
    clean(path);
}
