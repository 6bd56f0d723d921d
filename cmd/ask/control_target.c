/* SPDX-License-Identifier: MIT
 *
 * control_target.c: see control_target.h.
 *
 * Owns: nothing after a call, but what a function returns.
 * Tested by: unit.cmd_control, e2e.control, e2e.control_security.
 */
#include "ask/control_target.h"

#include "ask/process_files.h"
#include "base/message.h"
#include "base/pool.h"

#include "remote/beneath.h"
#include "remote/process.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* A process that accepts nobody must not hold cpprof up. */
enum { CONNECT_SECONDS = 2 };

/* ---- the process ---- */

/* The last number of a line such as "NSpid: 1234 7". */
static long last_number(const char *line)
{
    const char *space = line + strlen(line);

    while (space > line && (space[-1] < '0' || space[-1] > '9')) {
        space--;
    }
    while (space > line && space[-1] >= '0' && space[-1] <= '9') {
        space--;
    }
    return strtol(space, NULL, 10);
}

static int read_status(cp_target *t)
{
    char path[64], line[256];
    bool found = false;

    snprintf(path, sizeof path, "/proc/%d/status",
             t->pid); /* another thread's has its own number */
    FILE *file = fopen(path, "re");
    if (!file) {
        return -1;
    }
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "Uid:", 4) == 0) { /* real, effective, saved, of the file system */
            char *effective = line + 4;
            strtoul(effective, &effective, 10);
            t->user = (uid_t)strtoul(effective, NULL, 10);
            found = true;
        } else if (strncmp(line, "NSpid:", 6) == 0) {
            t->inner_pid = (int)last_number(line);
        }
    }
    fclose(file);
    return found ? 0 : -1;
}

/* The number that stands for users without one in a namespace. */
static uid_t overflow_user(void)
{
    enum { USUAL = 65534 };
    char text[32] = "";
    FILE *file = fopen("/proc/sys/kernel/overflowuid", "re");

    if (file) {
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
    }
    return text[0] ? (uid_t)strtoul(text, NULL, 10) : USUAL;
}

/* The user's number in the process's own user namespace. */
static uid_t map_user(const cp_target *t)
{
    char line[256];
    uid_t user = t->has_users ? overflow_user() : t->user;
    FILE *file = cp_process_open(t->pid, "uid_map");

    while (file && fgets(line, sizeof line, file)) {
        char *rest = line;
        uid_t inside = (uid_t)strtoul(rest, &rest, 10);
        uid_t outside = (uid_t)strtoul(rest, &rest, 10);
        uid_t count = (uid_t)strtoul(rest, &rest, 10);
        if (t->user >= outside && t->user - outside < count) {
            user = inside + (t->user - outside);
        }
    }
    if (file) {
        fclose(file);
    }
    return user;
}

static bool is_same_namespace(int pid, const char *name)
{
    char path[64];
    struct stat ours, theirs;

    snprintf(path, sizeof path, "/proc/%d/ns/%s", pp_process_thread(pid), name);
    bool known = stat(path, &theirs) == 0;
    snprintf(path, sizeof path, "/proc/self/ns/%s", name);
    return !known || (stat(path, &ours) == 0 && ours.st_ino == theirs.st_ino);
}

/* Whether the process has another root folder, by chroot. */
static bool has_own_root(const cp_target *t)
{
    char path[64];
    struct stat ours, theirs;

    snprintf(path, sizeof path, "/proc/%d/root", pp_process_thread(t->pid));
    return stat(path, &theirs) == 0 && stat("/", &ours) == 0 &&
           (ours.st_ino != theirs.st_ino || ours.st_dev != theirs.st_dev);
}

int cp_target_root(const cp_target *target)
{
    int root = target->has_root ? pp_process_root(target->pid)
                                : open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return root >= 0 ? root : -1;
}

int cp_target_read(int pid, cp_target *target, cp_error *error)
{
    *target = (cp_target){.pid = pid, .inner_pid = pid};
    if (read_status(target) < 0) {
        return cp_fail(error, "pid:%d: there is no such process", pid);
    }
    target->has_users = !is_same_namespace(pid, "user");
    target->inner_user = map_user(target);
    target->has_root = !is_same_namespace(pid, "mnt") || has_own_root(target);
    return 0;
}

bool cp_target_is_ours(const cp_target *target)
{
    return geteuid() == 0 || geteuid() == target->user;
}

/* ---- its environment ---- */

static void take_variable(const char *text, const char *name, char **value)
{
    size_t length = strlen(name);

    if (!*value && strncmp(text, name, length) == 0 && text[length] == '=') {
        *value = cp_heap_copy(text + length + 1, strlen(text + length + 1));
    }
}

void cp_target_environment_read(const cp_target *target, cp_target_environment *environment)
{
    char *text = NULL;
    size_t room = 0;
    FILE *file = cp_process_open(target->pid, "environ");

    *environment = (cp_target_environment){.options = NULL};
    while (file && getdelim(&text, &room, '\0', file) > 0) {
        take_variable(text, "LIBPPROF", &environment->options);
        take_variable(text, "XDG_RUNTIME_DIR", &environment->runtime);
        take_variable(text, "OTEL_SERVICE_NAME", &environment->service);
        take_variable(text, "OTEL_RESOURCE_ATTRIBUTES", &environment->resource);
    }
    free(text);
    if (file) {
        fclose(file);
    }
}

void cp_target_environment_release(cp_target_environment *environment)
{
    free(environment->options);
    free(environment->runtime);
    free(environment->service);
    free(environment->resource);
}

char *cp_target_option(const char *options, const char *word)
{
    size_t length = strlen(word);

    while (options && *options) {
        size_t end = strcspn(options, ",");
        if (strncmp(options, word, length) == 0 && strchr("=:,", options[length])) {
            size_t skip = length < end ? length + 1 : length;
            return cp_heap_copy(options + skip, end - skip);
        }
        options += end + (options[end] == ',');
    }
    return NULL;
}

char *cp_target_http(const char *options)
{
    char *http = cp_target_option(options, "http");
    size_t length = http ? strlen(http) : 0;

    if (length > 2 && strcmp(http + length - 2, ":0") == 0) {
        char *unknown = cp_heap_printf("%.*s:(see its log)", (int)(length - 2), http);
        free(http);
        return unknown;
    }
    return http;
}

/* ---- its socket ---- */

/* Whether the process itself listens at the other end. */
static bool is_peer(int fd, const cp_target *t)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == t->pid;
}

/* Of the calling thread alone, unlike seteuid(3): another one may be about to write a file. */
static bool become(uid_t user)
{
    return syscall(SYS_setresuid, (uid_t)-1, user, (uid_t)-1) == 0;
}

/* Connects; root becomes the process's user for it where the process would not know root. */
static bool connects(int fd, const struct sockaddr_un *address, const cp_target *t)
{
    bool changes = t->has_users && geteuid() == 0 && t->user != 0;

    if (changes && !become(t->user)) {
        return false;
    }
    bool connected = connect(fd, (const struct sockaddr *)address, sizeof *address) == 0;
    return (!changes || become(0)) && connected;
}

/* Names the socket by its folder's descriptor: so the path may be long. */
static int connect_in(int folder, const char *name, const cp_target *t)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length =
        snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", folder, name);
    const struct timeval patience = {.tv_sec = CONNECT_SECONDS};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (t->hurries ? SOCK_NONBLOCK : 0), 0);

    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (fd >= 0 &&
        (length >= (int)sizeof address.sun_path || !connects(fd, &address, t) || !is_peer(fd, t))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Opens a folder of the process's. With other files than cpprof's, a link there leads to theirs. */
static int open_folder(const cp_target *t, const char *path)
{
    int root = t->has_root ? cp_target_root(t) : -1;
    int folder = t->has_root ? pp_open_beneath(root, path, O_PATH | O_DIRECTORY)
                             : open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root >= 0) {
        close(root);
    }
    return folder;
}

/* A path as the process sees it. */
static int connect_to(const char *path, const cp_target *t, char found[PATH_MAX])
{
    char folder_path[PATH_MAX], root[64] = "";
    const char *slash = strrchr(path, '/');
    int length = snprintf(folder_path, PATH_MAX, "%.*s/", (int)(slash ? slash - path : 0), path);

    if (*path != '/' || !slash || length >= PATH_MAX) {
        return -1;
    }
    int folder = open_folder(t, folder_path);
    if (folder < 0) {
        return -1;
    }
    int fd = connect_in(folder, slash + 1, t);
    close(folder);
    if (t->has_root) {
        snprintf(root, sizeof root, "/proc/%d/root", pp_process_thread(t->pid));
    }
    snprintf(found, PATH_MAX, "%s%s", root, path);
    return fd;
}

__attribute__((format(printf, 3, 4))) static int try(const cp_target *t, char found[PATH_MAX],
                                                     const char *format, ...);

static int try(const cp_target *t, char found[PATH_MAX], const char *format, ...)
{
    char path[PATH_MAX];
    va_list values;

    va_start(values, format);
    int length = vsnprintf(path, sizeof path, format, values);
    va_end(values);
    return length < PATH_MAX ? connect_to(path, t, found) : -1;
}

char *cp_target_program(int pid)
{
    char *text = NULL;
    size_t room = 0;
    FILE *file = cp_process_open(pid, "cmdline");
    ssize_t length = file ? getdelim(&text, &room, '\0', file) : -1;
    const char *slash = length > 0 ? strrchr(text, '/') : NULL;
    const char *base = length > 0 ? slash ? slash + 1 : text : "";
    cp_process_stat stat;
    if (strchr(base, ' ') && cp_process_stat_read(pid, "stat", &stat)) {
        base = stat.name; /* the program has written a title over its arguments */
    }
    char *name = cp_heap_printf("%.63s", base);
    free(text);
    if (file) {
        fclose(file);
    }
    return name;
}

/* Fills in %p, %e and %%; other placeholders are not known here. The caller frees the text. */
static char *fill_in(const char *template, const cp_target *t)
{
    char *name = cp_target_program(t->pid), *path = cp_heap_printf("%s", "");

    for (const char *c = template; *c; c++) {
        char *longer = *c != '%'     ? cp_heap_printf("%s%c", path, *c)
                       : c[1] == 'p' ? cp_heap_printf("%s%d", path, t->inner_pid)
                       : c[1] == 'e' ? cp_heap_printf("%s%s", path, name)
                                     : cp_heap_printf("%s%%", path);
        c += *c == '%' && c[1];
        free(path);
        path = longer;
    }
    free(name);
    return path;
}

static int try_option(const cp_target *t, const char *options, char found[PATH_MAX])
{
    char *value = cp_target_option(options, "control");
    int fd = -1;

    if (value && *value) {
        char *path = fill_in(value, t);
        fd = connect_to(path, t, found);
        free(path);
    }
    free(value);
    return fd;
}

static int try_all(const cp_target *t, const cp_target_environment *e, char found[PATH_MAX])
{
    int fd = try_option(t, e->options, found);

    if (fd < 0 && e->runtime) {
        fd = try(t, found, "%s/pprof/%d.sock", e->runtime, t->inner_pid);
    }
    if (fd < 0) {
        fd = try(t, found, "/run/user/%u/pprof/%d.sock", t->inner_user, t->inner_pid);
    }
    if (fd < 0) {
        fd = try(t, found, "/tmp/pprof-%u/%d.sock", t->inner_user, t->inner_pid);
    }
    if (fd < 0) { /* root has started it, and it has become another user */
        fd = try(t, found, "/tmp/pprof-0/%d.sock", t->inner_pid);
    }
    return fd;
}

static int refuse(const cp_target *t, const cp_target_environment *e, cp_error *error)
{
    if (!cp_target_is_ours(t)) {
        const struct passwd *user = getpwuid(t->user); /* cppcheck-suppress getpwuidCalled */
        return cp_fail(error,
                       "pid:%d: the process of another user, %s: only that user and root may "
                       "ask it",
                       t->pid, user ? user->pw_name : "without a name");
    }
    char *http = cp_target_http(e->options);
    int status = http ? cp_fail(error, "pid:%d: no control socket, but it serves http: %s%.400s",
                                t->pid, strncmp(http, "unix:", 5) == 0 ? "" : "http://", http)
                      : cp_fail(error,
                                "pid:%d: no control socket: `cpprof record -p %d` attaches to it; "
                                "`cpprof configure %d OPTIONS` does, too, and leaves it reachable, "
                                "as LIBPPROF=control at its start would",
                                t->pid, t->pid, t->pid);
    free(http);
    return status;
}

int cp_target_connect(const cp_target *target, char path[PATH_MAX], cp_error *error)
{
    cp_target_environment environment;

    cp_target_environment_read(target, &environment);
    int fd = try_all(target, &environment, path);
    if (fd < 0) {
        refuse(target, &environment, error);
    }
    cp_target_environment_release(&environment);
    return fd;
}
