/* SPDX-License-Identifier: MIT
 *
 * spool.c: see spool.h.
 *
 * Owns: the folder's descriptor; the files that were taken, with their locks.
 * Tested by: unit.cmd_push_spool, e2e.push_trouble
 */
#include "push/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NAME_BYTES = 64, TAKEN = 64, LEFT_BEHIND_S = 3600 };

static const uint64_t look_every_ns = 10000000000u;
static const uint64_t largest_entry = 128u << 20;

typedef struct spooled {
    char name[NAME_BYTES];
    uint64_t size;
} spooled;

struct push_spool {
    char *path;
    int folder; /* -1: closed */
    uint64_t max_bytes, bytes;
    unsigned number; /* of the last file that was written */
    spooled *files;  /* by time, without those that were taken */
    size_t count, capacity;
    bool has_looked;
    uint64_t looked_ns;
    spooled taken[TAKEN];
    int locks[TAKEN];
    size_t taken_count;
};

/* ---- the list ---- */

static int by_name(const void *x, const void *y)
{
    return strcmp(((const spooled *)x)->name, ((const spooled *)y)->name);
}

static bool is_file_name(const char *name)
{
    size_t length = strlen(name);
    return *name != '.' && length > 5 && length < NAME_BYTES &&
           strcmp(name + length - 5, ".push") == 0;
}

static bool is_taken(const push_spool *s, const char *name)
{
    for (size_t i = 0; i < s->taken_count; i++) {
        if (strcmp(s->taken[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static void list(push_spool *s, const char *name, uint64_t size)
{
    if (s->count == s->capacity) {
        size_t capacity = s->capacity * 2 + 64;
        spooled *files = realloc(s->files, capacity * sizeof *files);
        if (files == NULL) {
            return;
        }
        s->files = files;
        s->capacity = capacity;
    }
    spooled *file = &s->files[s->count++];
    snprintf(file->name, sizeof file->name, "%s", name);
    file->size = size;
    s->bytes += size;
}

static void look_at(push_spool *s, const char *name)
{
    struct stat status;
    if (fstatat(s->folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode)) {
        return;
    }
    size_t length = strlen(name);
    bool is_part = *name == '.' && length > 5 && strcmp(name + length - 5, ".part") == 0;
    if (is_part && time(NULL) - status.st_mtime > LEFT_BEHIND_S) {
        unlinkat(s->folder, name, 0);
    } else if (is_file_name(name) && !is_taken(s, name)) {
        list(s, name, (uint64_t)status.st_size);
    }
}

static bool is_open(push_spool *s)
{
    if (s->folder < 0) {
        s->folder = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    return s->folder >= 0;
}

/* Other processes write there, too. */
static void look(push_spool *s, uint64_t now_ns)
{
    int fd = openat(s->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    s->has_looked = true;
    s->looked_ns = now_ns;
    if (folder == NULL) {
        if (fd >= 0) {
            close(fd);
        }
        return;
    }
    s->count = 0;
    s->bytes = 0;
    const struct dirent *found = NULL;
    while ((found = readdir(folder)) != NULL) {
        look_at(s, found->d_name);
    }
    closedir(folder);
    if (s->count > 1) {
        qsort(s->files, s->count, sizeof *s->files, by_name);
    }
}

static void look_if_stale(push_spool *s, uint64_t now_ns)
{
    if (!s->has_looked || now_ns - s->looked_ns >= look_every_ns) {
        look(s, now_ns);
    }
}

static void forget_first(push_spool *s)
{
    s->bytes -= s->files[0].size;
    memmove(s->files, s->files + 1, --s->count * sizeof *s->files);
}

/* ---- locks ---- */

/* The descriptor of the file, which this process may send now; -1: another one does, or it is gone. */
static int lock(push_spool *s, const char *name)
{
    struct stat status;
    int fd = openat(s->folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        return -1;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 || fstat(fd, &status) != 0 || status.st_nlink == 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Drops the oldest file; false: there is none. What another process sends now is as good as gone. */
static bool drop_oldest(push_spool *s, uint64_t *dropped)
{
    if (s->count == 0) {
        return false;
    }
    int fd = lock(s, s->files[0].name);
    if (fd >= 0) {
        *dropped += unlinkat(s->folder, s->files[0].name, 0) == 0;
        close(fd);
    }
    forget_first(s);
    return true;
}

/* ---- writing ---- */

static int write_all(int fd, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(fd, bytes, size);
        if (written < 0 && errno != EINTR) {
            return -errno;
        }
        bytes += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    return 0;
}

/* The processes of several containers may have one number. */
static int write_file(push_spool *s, const push_entry *entry, const char *name)
{
    char part[NAME_BYTES + 8];
    snprintf(part, sizeof part, ".%s.part", name);
    int fd = openat(s->folder, part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return -errno;
    }
    int error = write_all(fd, entry->bytes, entry->size);
    if (close(fd) != 0 && error == 0) {
        error = -errno;
    }
    if (error == 0 && renameat(s->folder, part, s->folder, name) != 0) {
        error = -errno;
    }
    if (error != 0) {
        unlinkat(s->folder, part, 0);
    }
    return error;
}

int push_spool_put(push_spool *s, const push_entry *entry, uint64_t now_ns, uint64_t *dropped)
{
    char name[NAME_BYTES];
    *dropped = 0;
    if (!is_open(s)) {
        return -errno;
    }
    look_if_stale(s, now_ns);
    int error = entry->size <= s->max_bytes ? 0 : -EFBIG;
    while (error == 0 && s->bytes + entry->size > s->max_bytes && drop_oldest(s, dropped)) {
    }
    snprintf(name, sizeof name, "%020lld.%d.%06u.push", (long long)entry->profile.end_ns,
             (int)getpid(), ++s->number);
    error = error == 0 ? write_file(s, entry, name) : error;
    if (error == 0) {
        list(s, name, entry->size);
    }
    return error;
}

/* ---- reading ---- */

/* 0; -EBADMSG if it is no entry; or -errno if it cannot be read now. */
static int read_entry(int fd, push_entry **entry)
{
    struct stat status;
    if (fstat(fd, &status) != 0) {
        return -errno;
    }
    if ((uint64_t)status.st_size > largest_entry) {
        return -EBADMSG;
    }
    size_t size = (size_t)status.st_size;
    uint8_t *bytes = malloc(size + 1);
    size_t length = 0;
    ssize_t got = 1;
    while (bytes != NULL && length < size && got > 0) {
        got = read(fd, bytes + length, size - length);
        length += got > 0 ? (size_t)got : 0;
    }
    if (bytes == NULL || length < size) {
        int error = bytes == NULL ? -ENOMEM : got < 0 ? -errno : -EBADMSG;
        free(bytes);
        return error;
    }
    *entry = push_entry_parse(bytes, size);
    return *entry != NULL ? 0 : -EBADMSG;
}

push_entry *push_spool_take(push_spool *s, uint64_t now_ns)
{
    if (!is_open(s)) {
        return NULL;
    }
    look_if_stale(s, now_ns);
    while (s->count > 0 && s->taken_count < TAKEN) {
        spooled file = s->files[0];
        push_entry *entry = NULL;
        int fd = lock(s, file.name);
        forget_first(s);
        int error = fd >= 0 ? read_entry(fd, &entry) : -ENOENT;
        if (error == 0) {
            s->locks[s->taken_count] = fd;
            s->taken[s->taken_count++] = file;
            return entry;
        }
        if (error == -EBADMSG) {
            unlinkat(s->folder, file.name, 0);
        }
        if (fd >= 0) {
            close(fd);
        }
    }
    return NULL;
}

void push_spool_remove_last(push_spool *s)
{
    s->taken_count--;
    unlinkat(s->folder, s->taken[s->taken_count].name, 0);
    close(s->locks[s->taken_count]);
}

void push_spool_remove_taken(push_spool *s)
{
    while (s->taken_count > 0) {
        push_spool_remove_last(s);
    }
}

/* The child of a fork may have the descriptors, and with them the locks. */
void push_spool_keep_taken(push_spool *s)
{
    for (size_t i = 0; i < s->taken_count; i++) {
        flock(s->locks[i], LOCK_UN);
        close(s->locks[i]);
    }
    s->taken_count = 0;
    s->has_looked = false;
}

uint64_t push_spool_count(const push_spool *s)
{
    return s->count;
}

uint64_t push_spool_bytes(const push_spool *s)
{
    return s->bytes;
}

/* ---- life ---- */

int push_spool_open(const char *folder, uint64_t max_bytes, push_spool **spool,
                    char why[PUSH_WHY_BYTES])
{
    push_spool *s = calloc(1, sizeof *s);
    char *path = strdup(folder);
    if (s == NULL || path == NULL) {
        free(s);
        free(path);
        snprintf(why, PUSH_WHY_BYTES, "no memory");
        return -ENOMEM;
    }
    *s = (push_spool){.path = path, .folder = -1, .max_bytes = max_bytes};
    (void)mkdir(folder, 0700);
    if (!is_open(s) || faccessat(s->folder, ".", W_OK | X_OK, AT_EACCESS) != 0) {
        int error = -errno;
        snprintf(why, PUSH_WHY_BYTES, "the spool %.300s: %.100s", folder, strerror(-error));
        push_spool_close(s);
        return error;
    }
    look(s, 0);
    s->has_looked = false; /* the first use looks again */
    *spool = s;
    return 0;
}

void push_spool_park(push_spool *s)
{
    push_spool_keep_taken(s);
    if (s->folder >= 0) {
        close(s->folder);
    }
    s->folder = -1;
}

void push_spool_close(push_spool *s)
{
    if (s != NULL) {
        push_spool_park(s);
        free(s->path);
        free(s->files);
        free(s);
    }
}
