/* SPDX-License-Identifier: MIT
 *
 * smaps.c: parses the lines of /proc/PID/smaps. Format: proc(5), and the kernel's
 * Documentation/filesystems/proc.rst: a line as in `maps`, then lines "Name:   12 kB".
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: unit.smaps
 */
#include "modules/smaps.h"

#include "sys/apart.h"
#include "sys/file_calls.h"
#include "sys/own_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { KIB = 1024, PIECE_BYTES = 64 * KIB, FIRST_AREAS = 256 };

/* The line of a mapping begins with a hexadecimal digit in lower case. */
static bool is_number_line(const char *at)
{
    return *at >= 'A' && *at <= 'Z';
}

static uint64_t bytes_after(const char *at)
{
    uint64_t number = 0;
    at += strspn(at, " ");
    for (; *at >= '0' && *at <= '9'; at++) {
        number = number * 10 + (uint64_t)(*at - '0');
    }
    return number * KIB;
}

static void take_number(const char *line, pp_smaps_area *area)
{
    const struct {
        const char *name;
        uint64_t *sum;
    } wanted[] = {
        {"Rss:", &area->resident},         {"Private_Clean:", &area->owned},
        {"Private_Dirty:", &area->owned},  {"Anonymous:", &area->anonymous},
        {"Swap:", &area->swapped},         {"Shared_Hugetlb:", &area->huge},
        {"Private_Hugetlb:", &area->huge},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        size_t length = strlen(wanted[i].name);
        if (strncmp(line, wanted[i].name, length) == 0) {
            *wanted[i].sum += bytes_after(line + length);
        }
    }
}

/* ---- lines ---- */

typedef struct parser {
    pp_smaps *smaps;
    pp_arena *arena;
    size_t capacity;
    pp_smaps_area *area; /* to which numbers belong; NULL: none */
    int error;
} parser;

/* Doubles the list; the old one stays in the arena. */
static bool grow(parser *p)
{
    pp_smaps *smaps = p->smaps;
    size_t larger = p->capacity > 0 ? 2 * p->capacity : FIRST_AREAS;
    pp_smaps_area *list = pp_arena_array(p->arena, larger, sizeof *list);
    if (list == NULL) {
        return false;
    }
    if (smaps->count > 0) {
        memcpy(list, smaps->list, smaps->count * sizeof *list);
    }
    smaps->list = list;
    p->capacity = larger;
    return true;
}

/* A copy; the mappings of a file, which come one after the other, share it. NULL: no memory. */
static const char *copy_path(const parser *p, const char *path)
{
    const char *last = p->smaps->count > 0 ? p->smaps->list[p->smaps->count - 1].map.path : "";
    return *path == '\0'             ? ""
           : strcmp(path, last) == 0 ? last
                                     : pp_arena_text(p->arena, path, strlen(path));
}

/* Mappings that the kernel joins while it is read come a second time, with what they were joined to: only the
 * part that is new counts. */
static void add_area(parser *p, const pp_map_line *map)
{
    pp_smaps *smaps = p->smaps;
    uintptr_t least = smaps->count > 0 ? smaps->list[smaps->count - 1].map.limit : 0;
    if (map->limit <= least) {
        return;
    }
    const char *path = copy_path(p, map->path);
    if (path == NULL || (smaps->count == p->capacity && !grow(p))) {
        p->error = -ENOMEM;
        return;
    }
    p->area = &smaps->list[smaps->count++];
    *p->area = (pp_smaps_area){.map = *map};
    p->area->map.path = path;
    p->area->map.start = map->start > least ? map->start : least;
}

static void take_line(parser *p, char *line)
{
    pp_map_line map;
    if (is_number_line(line)) {
        if (p->area != NULL) {
            take_number(line, p->area);
        }
        return;
    }
    p->area = NULL;
    if (pp_maps_next(&line, &map)) {
        add_area(p, &map);
    }
}

/* Takes the lines that are whole, and returns how many bytes these have. */
static size_t take_lines(parser *p, char *text, size_t length)
{
    char *at = text;
    char *end = NULL;
    while ((end = memchr(at, '\n', length - (size_t)(at - text))) != NULL) {
        *end = '\0';
        take_line(p, at);
        at = end + 1;
    }
    return (size_t)(at - text);
}

int pp_smaps_parse(char *text, size_t length, pp_arena *arena, pp_smaps *smaps)
{
    parser p = {.smaps = smaps, .arena = arena};
    *smaps = (pp_smaps){NULL, 0};
    take_line(&p, text + take_lines(&p, text, length));
    return p.error;
}

/* ---- the file ---- */

/* Of 65 000 mappings the text has 45 MB: the process, which may be short of memory, needs a piece at a time. */
static void read_pieces(parser *p, int fd)
{
    char *piece = pp_arena_alloc(p->arena, PIECE_BYTES);
    size_t used = 0;
    long got = piece != NULL ? 1 : -ENOMEM;
    while (p->error == 0 && got > 0) {
        do {
            got = pp_file_read(fd, piece + used, PIECE_BYTES - 1 - used);
        } while (got == -EINTR);
        used += got > 0 ? (size_t)got : 0;
        size_t taken = take_lines(p, piece, used);
        used = taken > 0 || used < PIECE_BYTES - 1 ? used - taken : 0; /* no line is that long */
        memmove(piece, piece + taken, used);
    }
    if (got < 0) {
        p->error = (int)got;
    } else {
        piece[used] = '\0';
        take_line(p, piece);
    }
}

typedef struct reading {
    const char *path;
    parser parser;
} reading;

static void read_path(void *of_reading)
{
    reading *r = of_reading;
    int fd = pp_own_open(r->path, O_RDONLY, 0);
    if (fd < 0) {
        r->parser.error = fd;
        return;
    }
    read_pieces(&r->parser, fd);
    pp_own_close(fd);
}

int pp_smaps_read(const char *path, pp_arena *arena, pp_smaps *smaps)
{
    reading r = {path, {.smaps = smaps, .arena = arena}};
    *smaps = (pp_smaps){NULL, 0};
    pp_apart(read_path, &r);
    return r.parser.error;
}
