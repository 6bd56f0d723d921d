/* SPDX-License-Identifier: MIT
 *
 * source_file.c: see source_file.h.
 *
 * Tested by: unit.cmd_list, e2e.cpprof_list.
 */
#include "report/source_file.h"

#include "base/base_name.h"
#include "base/message.h"
#include "base/pool.h"
#include "import/profile_file.h"
#include "profile/protobuf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SOURCE_BYTES ((size_t)64 << 20)

/* ---- finding the file ---- */

/* The next folder of a list with colons, to be freed; NULL at the end. */
static char *next_folder(const char **search)
{
    if (!**search) {
        return NULL;
    }
    size_t length = strcspn(*search, ":");
    char *folder = cp_heap_copy(*search, length);
    *search += length + ((*search)[length] == ':');
    return folder;
}

/* What comes after "/FOLDER/" in the path, for the first folder to search in whose name is there.
 * */
static const char *after_folder(const char *path, const char *search)
{
    const char *rest = NULL;

    for (char *folder; !rest && (folder = next_folder(&search)) != NULL; free(folder)) {
        size_t length;
        const char *base = cp_base_name(folder, &length);
        char *wanted = cp_heap_printf("/%.*s/", (int)length, base);
        const char *found = strstr(path, wanted);

        rest = found ? found + strlen(wanted) : NULL;
        free(wanted);
    }
    return rest ? rest : path;
}

/* What comes after `folder` and a slash, if the path begins with it; else NULL. */
static const char *after(const char *path, const char *folder)
{
    size_t length = strlen(folder);

    while (length && folder[length - 1] == '/') {
        length--;
    }
    return strncmp(path, folder, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}

const char *cp_source_trim(const char *path, const cp_source_search *search)
{
    static const char *const working[] = {"/proc/self/cwd/.", "/proc/self/cwd"};
    const char *list = search->trim ? search->trim : "", *rest = NULL;

    if (!search->trim && search->folders) {
        rest = after_folder(path, search->folders);
        if (rest != path) {
            return rest;
        }
        rest = NULL;
    }
    for (char *folder; !rest && (folder = next_folder(&list)) != NULL; free(folder)) {
        rest = after(path, folder);
    }
    for (size_t i = 0; !rest && i < sizeof working / sizeof *working; i++) {
        rest = after(path, working[i]);
    }
    return rest ? rest : path;
}

static int open_below(const char *folder, const char *path)
{
    char *whole = cp_heap_printf("%s/%s", folder, path);
    int fd = open(whole, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    free(whole);
    return fd;
}

/* Looks in the folder, and in all folders above it. */
static int open_near(char *folder, const char *path)
{
    int fd = open_below(folder, path);

    while (fd < 0 && *folder) {
        char *slash = strrchr(folder, '/');
        *(slash ? slash : folder) = '\0';
        fd = *folder || slash ? open_below(folder, path) : -1;
    }
    return fd;
}

static int open_on_path(const char *path, const cp_source_search *wanted, cp_error *error)
{
    const char *search = wanted->folders ? wanted->folders : "", *all = search;
    int fd = -1;

    path = cp_source_trim(path, wanted);
    if (*path == '/') {
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (fd < 0) {
            cp_fail(error, "open %.800s: no such file or directory", path);
        }
        return fd;
    }
    for (char *folder; fd < 0 && (folder = next_folder(&search)) != NULL; free(folder)) {
        fd = open_near(folder, path);
    }
    if (fd < 0) {
        return cp_fail(error, "could not find file %.400s on path %.400s", path, all);
    }
    return fd;
}

/* ---- lines ---- */

static void find_lines(cp_source *source)
{
    size_t lines = 1;

    for (size_t i = 0; i < source->length; i++) {
        lines += source->text[i] == '\n';
    }
    source->lines = cp_heap_alloc(lines + 1, sizeof *source->lines);
    source->count = source->length ? 1 : 0;
    for (size_t i = 0; i + 1 < source->length; i++) {
        if (source->text[i] == '\n') {
            source->lines[source->count++] = i + 1;
        }
    }
    source->lines[source->count] = source->length;
}

int cp_source_open(cp_source *source, const char *path, const cp_source_search *search,
                   cp_error *error)
{
    int fd = open_on_path(path, search, error);

    memset(source, 0, sizeof *source);
    if (fd < 0) {
        return -1;
    }
    fstat(fd, &source->info);
    cp_bytes bytes = {0};
    int status = cp_file_get(fd, MAX_SOURCE_BYTES, &bytes);
    close(fd);
    if (status < 0) {
        cp_bytes_release(&bytes);
        return cp_fail(error, "read %.800s: %s", path, strerror(-status));
    }
    source->text = (char *)bytes.data;
    source->length = bytes.length;
    find_lines(source);
    return 0;
}

void cp_source_close(cp_source *source)
{
    free(source->text);
    free(source->lines);
    memset(source, 0, sizeof *source);
}

bool cp_source_line(const cp_source *source, int64_t number, const char **text, size_t *length)
{
    if (number < 1 || number > source->count) {
        return false;
    }
    size_t begin = source->lines[number - 1], end = source->lines[number];
    if (end > begin && source->text[end - 1] == '\n') {
        end--;
    }
    if (end > begin && source->text[end - 1] == '\r') {
        end--;
    }
    *text = source->text + begin;
    *length = end - begin;
    return true;
}
