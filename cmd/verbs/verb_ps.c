/* SPDX-License-Identifier: MIT
 *
 * verb_ps.c: `cpprof ps`, which lists the processes that have libpprof in them, as far as /proc shows.
 *
 *   a process of this user   it answers on its socket; or its environment or its mappings name
 *                            libpprof
 *   of another user          /proc/net/unix shows the name of its socket, and nothing else
 *
 * Owns: the sockets' names of /proc/net/unix for the length of a call.
 * Tested by: e2e.cpprof_ps.
 */
#include "verbs/verbs.h"

#include "ask/control.h"
#include "ask/control_target.h"
#include "ask/process_files.h"
#include "base/json.h"
#include "base/message.h"
#include "base/pool.h"
#include "base/printable.h"
#include "profile/protobuf.h"
#include "verbs/command_line.h"

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

const char cp_help_ps[] =
    "usage: cpprof ps [--json | --brief]\n"
    "\n"
    "Lists the processes that have libpprof in them: what they record now, and how to\n"
    "reach them. One that has a control socket is a FILE for every report, by its\n"
    "number: pid:1234 is the CPU profile of the next 10 seconds, pid:1234/heap the\n"
    "heap profile.\n"
    "\n"
    "Example: cpprof ps && cpprof top pid:$(pgrep -n redis-server)\n"
    "\n"
    "A process has a socket if it was started with the option control,\n"
    "LIBPPROF=control LD_PRELOAD=libpprof.so.0 COMMAND, or after `cpprof configure\n"
    "PID OPTIONS`. Only its own user and root can ask it. A process of another user\n"
    "is listed if the kernel shows the name of its socket. Sockets that killed\n"
    "processes of this user have left are removed.\n";

/* The texts are the list's. */
typedef struct row {
    int pid;
    uid_t user;
    const char *user_name; /* or its number */
    const char *command;   /* with its arguments, without control characters */
    const char *control;   /* the path of the socket on which it has answered, or NULL */
    const char *http;      /* where it serves, or NULL */
    const char *on;        /* what it records, such as "cpu heap:524288"; NULL: it has not said */
    const char *hindrance; /* why it cannot be asked; NULL if it can */
} row;

typedef struct process_list {
    cp_pool pool;
    row *processes; /* by number */
    size_t count, room;
} process_list;

enum { ANSWER_SECONDS = 2, COMMAND_BYTES = 1024 };

/* ---- what /proc says ---- */

/* A terminal must not obey what the process of another user says. */
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

/* NULL: there is no such line, or it has no value. */
static const char *value_of(cp_pool *pool, const cp_bytes *status, const char *word)
{
    char *value = cp_control_value(status, word);
    const char *copy = value && *value ? copy_plain(pool, value, strlen(value)) : NULL;

    free(value);
    return copy;
}

static void ask_status(process_list *list, row *process, int fd, const char *path)
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
static bool describe(process_list *list, row *process, const cp_target *target)
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

static bool look_at(process_list *list, row *process, const cp_target *target)
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

static void add(process_list *list, int pid)
{
    row process = {.pid = pid};
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

/* Asks each process. One that does not answer costs 2 seconds. */
static void read_all(process_list *list)
{
    const struct dirent *entry;
    DIR *folder = opendir("/proc");

    *list = (process_list){.count = 0};
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

/* Removes sockets of this user that nobody listens on any more. */
static void remove_left(void)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    char path[PATH_MAX];

    if (runtime && snprintf(path, sizeof path, "%s/pprof", runtime) < (int)sizeof path) {
        clean(path);
    }
    snprintf(path, sizeof path, "/tmp/pprof-%u", (unsigned)geteuid());
    clean(path);
}

/* ---- printing ---- */

/* How the process is reached, or why not. */
static void print_way(const row *p, char *text, size_t room)
{
    if (p->hindrance) {
        snprintf(text, room, "%s", p->hindrance);
    } else {
        snprintf(text, room, "%s%s%s%s", p->control ? "control" : "",
                 p->control && p->http ? ", " : "", p->http ? "http " : "", p->http ? p->http : "");
    }
}

static int wider(int width, const char *text)
{
    int length = (int)strlen(text);

    return length > width ? length : width;
}

static void print_table(const process_list *list)
{
    char way[256];
    int user = 4, on = 2, ways = 3;

    for (size_t i = 0; i < list->count; i++) {
        const row *p = &list->processes[i];
        print_way(p, way, sizeof way);
        user = wider(user, p->user_name);
        on = wider(on, p->on ? p->on : "-");
        ways = wider(ways, way);
    }
    printf("%7s %-*s %-*s %-*s %s\n", "PID", user, "USER", on, "ON", ways, "WAY", "COMMAND");
    for (size_t i = 0; i < list->count; i++) {
        const row *p = &list->processes[i];
        print_way(p, way, sizeof way);
        printf("%7d %-*s %-*s %-*s %s\n", p->pid, user, p->user_name, on,
               p->on && *p->on ? p->on : "-", ways, way, p->command);
    }
}

/* For the completion of shells: one on a line, with a tab before the command. */
static void print_brief(const process_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const row *p = &list->processes[i];
        if (p->control && !p->hindrance) {
            printf("%d\t%s\n", p->pid, p->command);
        }
    }
}

/* "cpu heap:1" as an array. */
static void add_kinds(cp_json *json, const char *on)
{
    cp_json_open(json, "on", '[');
    while (*on) {
        size_t length = strcspn(on, " ");
        cp_json_bytes(json, NULL, on, length);
        on += length + strspn(on + length, " ");
    }
    cp_json_close(json, ']');
}

static void print_json(const process_list *list)
{
    cp_json json = {.out = stdout};

    cp_json_open(&json, NULL, '[');
    for (size_t i = 0; i < list->count; i++) {
        const row *p = &list->processes[i];
        cp_json_open(&json, NULL, '{');
        cp_json_number(&json, "pid", p->pid);
        cp_json_text(&json, "user", p->user_name);
        cp_json_text(&json, "command", p->command);
        cp_json_flag(&json, "reachable", !p->hindrance);
        if (p->on) {
            add_kinds(&json, p->on);
        }
        if (p->control) {
            cp_json_text(&json, "control", p->control);
        }
        if (p->http) {
            cp_json_text(&json, "http", p->http);
        }
        if (p->hindrance) {
            cp_json_text(&json, "why", p->hindrance);
        }
        cp_json_close(&json, '}');
    }
    cp_json_close(&json, ']');
    putchar('\n');
}

int cp_run_ps(int argc, char **argv)
{
    bool json = false, brief = false;
    const cp_option table[] = {
        {0, "json", NULL, CP_OPTION_FLAG, &json, 0, 0, NULL, "print JSON"},
        {0, "brief", NULL, CP_OPTION_FLAG, &brief, 0, 0, NULL,
         "print only the numbers and commands of those with a control socket"},
        {0},
    };

    cp_operands operands;
    process_list list;
    int status = CP_EXIT_OK;
    if (cp_options_parse("ps", table, false, argc, argv, &operands, &status) < 0) {
        return status;
    }
    if (operands.count > 0) {
        return cp_bad_usage("ps", "ps: expected nothing else, found %s", operands.values[0]);
    }
    remove_left();
    read_all(&list);
    if (json) {
        print_json(&list);
    } else if (brief) {
        print_brief(&list);
    } else if (list.count > 0) {
        print_table(&list);
    } else {
        cp_complain("ps: no process has libpprof in it; start one with "
                    "LIBPPROF=control LD_PRELOAD=libpprof.so.0");
    }
    cp_pool_release(&list.pool);
    return fflush(stdout) == 0 ? CP_EXIT_OK : CP_EXIT_BAD_INPUT;
}
