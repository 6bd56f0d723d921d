/* SPDX-License-Identifier: MIT
 *
 * debug_package.c: see debug_package.h.
 *
 * dpkg keeps a list of files for each package (info/PACKAGE.list or
 * info/PACKAGE:ARCHITECTURE.list), one path on each line. If a package and its source have
 * different names, dpkg's file `status` has the source's.
 *
 * Owns: the mappings of two files at a time.
 */
#include "names/debug_package.h"

#include "base/pool.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct text {
    char *bytes; /* mapped; NULL: there is no file, or it is empty */
    size_t size;
} text;

static text open_text(int folder, const char *name)
{
    text t = {NULL, 0};
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        return t;
    }
    struct stat status;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED) {
            t = (text){bytes, (size_t)status.st_size};
        }
        /* cppcheck-suppress memleak ; the caller has it */
    }
    close(fd);
    return t;
}

static void close_text(text *t)
{
    if (t->bytes) {
        munmap(t->bytes, t->size);
    }
}

/* Whether `line` is a whole line of the text. If so, *after is where the next line begins. */
static bool find_line(const text *t, const char *line, const char **after)
{
    size_t length = strlen(line);
    const char *at = t->bytes, *end = t->bytes + t->size;

    while (at && (at = memmem(at, (size_t)(end - at), line, length)) != NULL) {
        const char *next = at + length;
        bool begins = at == t->bytes || at[-1] == '\n';
        if (begins && next < end && *next == '\n') {
            *after = next + 1;
            return true;
        }
        at = next;
    }
    return false;
}

/* "libc6:amd64.list" -> "libc6"; NULL if it is no list. */
static char *package_of_list(const char *name)
{
    size_t length = strlen(name);
    const char *colon = strchr(name, ':');

    if (length <= 5 || strcmp(name + length - 5, ".list") != 0) {
        return NULL;
    }
    return cp_heap_copy(name, colon ? (size_t)(colon - name) : length - 5);
}

/* /lib is a link to /usr/lib: a list may have the one path and a program the other. */
static bool lists_path(const text *list, const char *path)
{
    const char *after;

    if (find_line(list, path, &after)) {
        return true;
    }
    if (strncmp(path, "/usr/", 5) == 0) {
        return find_line(list, path + 4, &after);
    }
    char other[4096];
    return snprintf(other, sizeof other, "/usr%s", path) < (int)sizeof other &&
           find_line(list, other, &after);
}

static char *package_of_path(int records, const char *path)
{
    int info = openat(records, "info", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = info < 0 ? NULL : fdopendir(info);
    char *found = NULL;

    if (!folder) {
        if (info >= 0) {
            close(info);
        }
        return NULL;
    }
    struct dirent *entry;
    while (!found && (entry = readdir(folder)) != NULL) {
        char *package = package_of_list(entry->d_name);
        text list = package ? open_text(info, entry->d_name) : (text){NULL, 0};
        if (lists_path(&list, path)) {
            found = package;
            package = NULL;
        }
        close_text(&list);
        free(package);
    }
    closedir(folder);
    return found;
}

/* The name of the package's source: "glibc" where its paragraph has "Source: glibc (2.36-9)". */
static char *source_of(int records, const char *package)
{
    text status = open_text(records, "status");
    const char *end = status.bytes + status.size;
    char *source = NULL;

    char line[512];
    snprintf(line, sizeof line, "Package: %s", package);
    const char *at;
    if (find_line(&status, line, &at)) {
        while (!source && at < end && *at != '\n') {
            const char *next = memchr(at, '\n', (size_t)(end - at));
            size_t length = next ? (size_t)(next - at) : (size_t)(end - at);
            if (length > 8 && memcmp(at, "Source: ", 8) == 0) {
                source = cp_heap_copy(at + 8, length - 8);
                source[strcspn(source, " ")] = '\0';
            }
            at += length + (next != NULL);
        }
    }
    close_text(&status);
    return source ? source : cp_heap_copy(package, strlen(package));
}

static char *name_of_debug_package(const char *package, const char *source)
{
    if (strcmp(source, "glibc") == 0) {
        return cp_heap_printf("libc6-dbg");
    }
    if (strncmp(source, "python3.", 8) == 0) {
        return cp_heap_printf("%s-dbg", source);
    }
    return cp_heap_printf("%s-dbgsym", package);
}

char *cp_debug_package(const char *folder, const char *path)
{
    int records = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char *package = records < 0 ? NULL : package_of_path(records, path);
    char *source = package ? source_of(records, package) : NULL;
    char *name = source ? name_of_debug_package(package, source) : NULL;

    if (records >= 0) {
        close(records);
    }
    free(package);
    free(source);
    return name;
}
