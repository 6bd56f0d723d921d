/* SPDX-License-Identifier: MIT
 *
 * record_parts.c: see record_parts.h.
 */
#include "record/record_parts.h"

#include "base/pool.h"
#include "base/string_pool.h"
#include "import/profile_file.h"
#include "record/record_kinds.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC  "libpprof-part 1 "
#define SUFFIX ".pb.gz"

void cp_parts_release(cp_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        cp_bytes_release(&parts->list[i].bytes);
    }
    free(parts->list);
    cp_index_release(&parts->by_name);
    memset(parts, 0, sizeof *parts);
}

/* ---- arrival ---- */

static bool is_same_program(const cp_part *a, const cp_part *b)
{
    return a->process == b->process && a->stamp == b->stamp && strcmp(a->kind, b->kind) == 0;
}

static uint64_t hash_of(const cp_part *name)
{
    uint64_t hash = cp_hash_bytes(&name->process, sizeof name->process, name->stamp);

    return cp_hash_bytes(name->kind, strlen(name->kind), hash + name->number);
}

/* Finds the part that `name` identifies, or appends it. */
static cp_part *find_or_add(cp_parts *parts, const cp_part *name)
{
    uint64_t hash = hash_of(name), at = hash;
    uint32_t index;

    if (!parts->by_name.slots) {
        cp_index_init(&parts->by_name, 64);
    }
    while (cp_index_next(&parts->by_name, hash, &at, &index)) {
        if (is_same_program(&parts->list[index], name) &&
            parts->list[index].number == name->number) {
            return &parts->list[index];
        }
    }
    cp_index_add(&parts->by_name, hash, (uint32_t)parts->count);
    parts->list = cp_heap_grow(parts->list, parts->count, &parts->capacity, sizeof *parts->list);
    parts->list[parts->count] = *name;
    return &parts->list[parts->count++];
}

/* Reads "PID STAMP NUMBER KIND OFFSET more|last", with no blank after it. */
static bool read_header(const char *line, cp_part *name, uint64_t *offset, bool *last)
{
    int end = -1;

    memset(name, 0, sizeof *name);
    char word[8];
    int process;
    /* NOLINTNEXTLINE(cert-err34-c): a number that is too large is another one, and finds no part */
    if (sscanf(line, "%d %" SCNu64 " %" SCNu64 " %15s %" SCNu64 " %7s%n", &process, &name->stamp,
               &name->number, name->kind, offset, word, &end) < 6 ||
        process <= 0 || end < 0 || line[end]) {
        return false;
    }
    name->process = process;
    *last = strcmp(word, "last") == 0;
    return *last || strcmp(word, "more") == 0;
}

static void add_piece(cp_part *part, uint64_t offset, const char *data, size_t length, bool last)
{
    if (part->complete || offset != part->bytes.length ||
        length > CP_PROFILE_MAX_BYTES - part->bytes.length) {
        part->broken = true;
    }
    if (part->broken) {
        return;
    }
    cp_bytes_append(&part->bytes, data, length);
    part->complete = last;
}

void cp_parts_take_message(cp_parts *parts, const char *data, size_t length)
{
    char line[256] = "";
    const char *end = memchr(data, '\n', length < sizeof line ? length : sizeof line);
    size_t header = end ? (size_t)(end - data) : 0;

    memcpy(line, data, header);
    cp_part name;
    uint64_t offset;
    bool last;
    if (strncmp(line, MAGIC, sizeof MAGIC - 1) != 0 ||
        !read_header(line + sizeof MAGIC - 1, &name, &offset, &last)) {
        parts->strange++;
        return;
    }
    add_piece(find_or_add(parts, &name), offset, end + 1, length - header - 1, last);
}

/* ---- files ---- */

static bool read_name(const char *file, cp_part *name)
{
    int end = -1;

    memset(name, 0, sizeof *name);
    int process;
    /* NOLINTNEXTLINE(cert-err34-c): as in read_header() */
    if (sscanf(file, "%d.%15[^.].%" SCNu64 ".%" SCNu64 "%n", &process, name->kind, &name->stamp,
               &name->number, &end) < 4 ||
        process <= 0 || end < 0) {
        return false;
    }
    name->process = process;
    return strcmp(file + end, SUFFIX) == 0;
}

static void take_file(cp_parts *parts, int folder, const char *file)
{
    cp_part name;
    if (!read_name(file, &name)) {
        return;
    }
    int fd = openat(folder, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        return;
    }
    cp_part *part = find_or_add(parts, &name);
    cp_bytes_release(&part->bytes);
    memset(&part->bytes, 0, sizeof part->bytes);
    part->complete = cp_file_get(fd, CP_PROFILE_MAX_BYTES, &part->bytes) == 0;
    part->broken = !part->complete;
    close(fd);
}

void cp_parts_take_folder(cp_parts *parts, const char *folder)
{
    DIR *entries = opendir(folder);

    if (!entries) {
        return;
    }
    struct dirent *entry;
    while ((entry = readdir(entries))) {
        take_file(parts, dirfd(entries), entry->d_name);
    }
    closedir(entries);
}

/* ---- choice ---- */

static bool is_good(const cp_part *part)
{
    return part->complete && !part->broken;
}

/* Whether `other` has all samples of `part`. */
static bool supersedes(const cp_part *other, const cp_part *part)
{
    const cp_record_traits *traits = cp_record_traits_of(part->kind);

    if (!is_good(other) || other->process != part->process ||
        strcmp(other->kind, part->kind) != 0) {
        return false;
    }
    if (other->stamp == part->stamp) {
        return !traits->adds_up && other->number > part->number;
    }
    return traits->is_state && other->stamp > part->stamp;
}

/* `list` has the parts of one process. */
static bool is_superseded(const cp_part *const *list, size_t count, const cp_part *part)
{
    for (size_t i = 0; i < count; i++) {
        if (supersedes(list[i], part)) {
            return true;
        }
    }
    return false;
}

/* Keeps those of one process that count. Returns how many they are. */
static size_t keep_last(const cp_part **list, size_t count)
{
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): they are pointers */
    const cp_part **kept = cp_heap_alloc(count, sizeof *kept);
    size_t kept_count = 0;

    for (size_t i = 0; i < count; i++) {
        if (!is_superseded(list, count, list[i])) {
            kept[kept_count++] = list[i];
        }
    }
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): they are pointers */
    memcpy(list, kept, kept_count * sizeof *kept);
    free(kept);
    return kept_count;
}

static bool is_of(const cp_part *part, const char *kind, pid_t command)
{
    return strcmp(part->kind, kind) == 0 && (command == 0 || part->process == command);
}

static int compare(const void *left, const void *right)
{
    const cp_part *a = *(const cp_part *const *)left;
    const cp_part *b = *(const cp_part *const *)right;

    if (a->process != b->process) {
        return a->process < b->process ? -1 : 1;
    }
    if (a->stamp != b->stamp) {
        return a->stamp > b->stamp ? -1 : 1;
    }
    return a->number < b->number ? -1 : a->number > b->number;
}

size_t cp_parts_select(const cp_parts *parts, const char *kind, pid_t command,
                       const cp_part **selected)
{
    size_t count = 0;

    for (size_t i = 0; i < parts->count; i++) {
        const cp_part *part = &parts->list[i];
        if (is_of(part, kind, command) && is_good(part)) {
            selected[count++] = part;
        }
    }
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): they are pointers */
    qsort(selected, count, sizeof *selected, compare);
    size_t kept = 0;
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && selected[end]->process == selected[i]->process; end++) {
            selected[kept + (end - i)] = selected[end];
        }
        kept += keep_last(selected + kept, end - i);
    }
    return kept;
}

size_t cp_parts_incomplete(const cp_parts *parts, const char *kind, pid_t command)
{
    size_t count = 0;

    for (size_t i = 0; i < parts->count; i++) {
        const cp_part *part = &parts->list[i];
        bool replaced = false;

        if (!is_of(part, kind, command) || is_good(part)) {
            continue;
        }
        for (size_t j = 0; j < parts->count && !replaced; j++) {
            replaced = is_good(&parts->list[j]) && is_same_program(&parts->list[j], part) &&
                       parts->list[j].number > part->number;
        }
        count += !replaced;
    }
    return count;
}
