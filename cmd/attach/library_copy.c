/* SPDX-License-Identifier: MIT
 *
 * library_copy.c: see library_copy.h.
 *
 * Tested by: e2e.cpprof_attach
 */
#include "attach/library_copy.h"

#include "base/beside.h"
#include "base/message.h"
#include "base/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const char attach_name[] = "libpprof-attach.so";
/* Under the names that the loader looks for. */
static const char *const names[] = {attach_name, "libpprof-http.so.0"};
/* musl's loader knows no sonames: by this one libpprof-http finds the file that is loaded already. */
static const char soname[] = "libpprof.so.0";

/* ---- beside cpprof ---- */

/* The folder of the library, from LIBPPROF_LIBRARY or beside cpprof; to be freed. */
static char *find_folder(cp_error *error)
{
    const char *given = getenv("LIBPPROF_LIBRARY");
    char *path = given && *given ? realpath(given, NULL) : cp_beside_command(attach_name);

    if (path && given && *given) { /* the file has several names, side by side */
        char *beside =
            cp_heap_printf("%.*s/%s", (int)(strrchr(path, '/') - path), path, attach_name);
        free(path);
        path = beside;
    }
    if (!path || access(path, R_OK) != 0) {
        cp_fail(error,
                "%s: expected it in ../lib beside cpprof, found none; build or install "
                "libpprof, or name it with LIBPPROF_LIBRARY=/path",
                attach_name);
        free(path);
        return NULL;
    }
    *strrchr(path, '/') = '\0';
    char *folder = realpath(path, NULL);
    free(path);
    return folder;
}

/* ---- in the process's files ---- */

static bool copy_bytes(int in, int out)
{
    struct stat status;
    bool copied = fstat(in, &status) == 0;
    off_t left = copied ? status.st_size : 0;

    while (left > 0 && copied) {
        ssize_t sent = sendfile(out, in, NULL, (size_t)left);
        left -= sent > 0 ? sent : 0;
        copied = sent > 0;
    }
    return copied;
}

static bool copy_file(const char *from, int folder, const char *name, uid_t user)
{
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool copied = in >= 0 && out >= 0 && copy_bytes(in, out) && fchmod(out, 0500) == 0 &&
                  (geteuid() != 0 || fchown(out, user, (gid_t)-1) == 0);

    if (in >= 0) {
        close(in);
    }
    if (out >= 0) {
        copied = close(out) == 0 && copied;
    }
    return copied;
}

static void join(char to[PATH_MAX], const char *folder, const char *name)
{
    if (snprintf(to, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX) {
        to[0] = '\0';
    }
}

static bool copy_all(const char *from, int folder, uid_t user)
{
    bool copied = geteuid() != 0 || fchown(folder, user, (gid_t)-1) == 0;

    for (size_t i = 0; i < sizeof names / sizeof *names && copied; i++) {
        char source[PATH_MAX];
        join(source, from, names[i]);
        copied = copy_file(source, folder, names[i], user);
    }
    return copied && symlinkat(attach_name, folder, soname) == 0;
}

/* Opens a folder of the process. A symbolic link there would lead out of its files, to ours. */
static int open_there(const cp_target *target, const char *path)
{
    char parts[PATH_MAX];
    char *rest = NULL;
    int folder = cp_target_root(target);

    snprintf(parts, sizeof parts, "%s", path);
    for (char *part = strtok_r(parts, "/", &rest); part && folder >= 0;
         part = strtok_r(NULL, "/", &rest)) {
        int next = openat(folder, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        close(folder);
        folder = next;
    }
    return folder;
}

/* Makes a folder of ours in `parent`, and opens it: its name alone may soon be another's. */
static int make_folder(int parent, char name[CP_COPY_NAME_BYTES])
{
    char path[64];
    struct stat status;
    int length = snprintf(path, sizeof path, "/proc/self/fd/%d/", parent);

    snprintf(path + length, sizeof path - (size_t)length, "cpprof-XXXXXX");
    if (!mkdtemp(path)) {
        return -1;
    }
    snprintf(name, CP_COPY_NAME_BYTES, "%s", path + length);
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0 && (fstat(folder, &status) != 0 || status.st_uid != geteuid())) {
        close(folder);
        folder = -1;
    }
    return folder;
}

/* Copies to a new folder in `parent`, if programs can be loaded from there. */
static bool copy_into(cp_library_copy *copy, const cp_target *target, const char *parent,
                      const char *from)
{
    struct statvfs system;

    copy->parent = open_there(target, parent);
    if (copy->parent >= 0 && fstatvfs(copy->parent, &system) == 0 &&
        (system.f_flag & (ST_NOEXEC | ST_RDONLY)) == 0) {
        copy->folder = make_folder(copy->parent, copy->name);
    }
    if (copy->folder < 0 || !copy_all(from, copy->folder, target->user)) {
        cp_library_copy_remove(copy);
        return false;
    }
    snprintf(copy->path, sizeof copy->path, "%s/%s/%s", parent, copy->name, attach_name);
    return true;
}

/* Whether the process's user may load the file: it may lie in a folder that only root may enter. */
static bool is_readable_there(const char *path, const cp_target *target)
{
    bool changes = geteuid() == 0 && target->user != 0;

    if (changes && seteuid(target->user) != 0) {
        return false;
    }
    bool readable = faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0;
    return (!changes || seteuid(0) == 0) && readable;
}

int cp_library_copy_make(cp_library_copy *copy, const cp_target *target, cp_error *error)
{
    static const char *const parents[] = {"/tmp", "/var/tmp", "/dev/shm", "/run"};
    char *folder = find_folder(error);
    bool found = false;

    *copy = (cp_library_copy){.parent = -1, .folder = -1};
    if (!folder) {
        return -1;
    }
    join(copy->path, folder, attach_name);
    found = !target->has_root && is_readable_there(copy->path, target);
    for (size_t i = 0; i < sizeof parents / sizeof *parents && !found; i++) {
        found = copy_into(copy, target, parents[i], folder);
    }
    free(folder);
    return found
               ? 0
               : cp_fail(error,
                         "pid:%d: the process cannot read %.300s (it is in a container, or of "
                         "another user), and none of /tmp, /var/tmp, /dev/shm and /run there can "
                         "be written to and loaded from: start it with the library, or mount such "
                         "a folder",
                         target->pid, attach_name);
}

void cp_library_copy_remove(cp_library_copy *copy)
{
    for (size_t i = 0; i < sizeof names / sizeof *names && copy->folder >= 0; i++) {
        unlinkat(copy->folder, names[i], 0);
    }
    if (copy->folder >= 0) {
        unlinkat(copy->folder, soname, 0);
        close(copy->folder);
        unlinkat(copy->parent, copy->name, AT_REMOVEDIR);
    }
    if (copy->parent >= 0) {
        close(copy->parent);
    }
    copy->parent = copy->folder = -1;
}
