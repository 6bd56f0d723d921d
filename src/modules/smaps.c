/* SPDX-License-Identifier: MIT
 *
 * smaps.c: parses the lines of /proc/PID/smaps. Format: proc(5), and the kernel's
 * Documentation/filesystems/proc.rst: a line as in `maps`, then lines "Name:   12 kB".
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: unit.smaps
 */
#include "modules/smaps.h"

#include <errno.h>
#include <string.h>

enum { KIB = 1024 };

/* The line of a mapping begins with a hexadecimal digit in lower case. */
static bool is_number_line(const char *at)
{
    return *at >= 'A' && *at <= 'Z';
}

static size_t count_areas(const char *text, size_t length)
{
    size_t count = 0;
    for (const char *at = text; at < text + length; at = strchr(at, '\n') + 1) {
        count += !is_number_line(at);
        if (strchr(at, '\n') == NULL) {
            break;
        }
    }
    return count;
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

/* Mappings that the kernel joins while it is read come a second time, with what they were joined to: only the
 * part that is new counts. Returns NULL if there is none. */
static pp_smaps_area *add_area(pp_smaps *smaps, const pp_map_line *map)
{
    uintptr_t least = smaps->count > 0 ? smaps->list[smaps->count - 1].map.limit : 0;
    if (map->limit <= least) {
        return NULL;
    }
    pp_smaps_area *area = &smaps->list[smaps->count++];
    *area = (pp_smaps_area){.map = *map};
    area->map.start = map->start > least ? map->start : least;
    return area;
}

int pp_smaps_parse(char *text, size_t length, pp_arena *arena, pp_smaps *smaps)
{
    size_t capacity = count_areas(text, length);
    *smaps = (pp_smaps){pp_arena_array(arena, capacity + 1, sizeof *smaps->list), 0};
    if (smaps->list == NULL) {
        return -ENOMEM;
    }
    pp_smaps_area *area = NULL;
    while (*text != '\0') {
        if (!is_number_line(text)) {
            pp_map_line map;
            area = pp_maps_next(&text, &map) ? add_area(smaps, &map) : NULL;
            continue;
        }
        if (area != NULL) {
            take_number(text, area);
        }
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return 0;
}

int pp_smaps_read(const char *path, pp_arena *arena, pp_smaps *smaps)
{
    char *text = NULL;
    size_t length = 0;
    int error = pp_maps_text_of(path, arena, &text, &length);
    return error == 0 ? pp_smaps_parse(text, length, arena, smaps) : error;
}
