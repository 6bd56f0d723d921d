/* SPDX-License-Identifier: MIT
 *
 * resident.c: see resident.h.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: unit.resident, e2e.memory
 */
#include "kinds/heap/resident.h"

#include "base/sort.h"

#include <errno.h>
#include <string.h>

/* ---- holders ---- */

static bool begins(const char *path, const char *with)
{
    return strncmp(path, with, strlen(with)) == 0;
}

static bool is_file(const char *path)
{
    return path[0] == '/';
}

/* Shared memory without a name is "/dev/zero". */
static bool is_shared_memory(const pp_map_line *map)
{
    return begins(map->path, "/memfd:") || begins(map->path, "/SYSV") ||
           begins(map->path, "/dev/shm/") || begins(map->path, "/dev/hugepages/") ||
           begins(map->path, "/anon_hugepage") || begins(map->path, "[anon_shmem") ||
           (map->shared && begins(map->path, "/dev/zero"));
}

static bool meet(const pp_map_line *low, const pp_map_line *high)
{
    return low->limit == high->start;
}

/* The mappings of an object meet, and have its path. */
static bool is_of_object(const pp_smaps *areas, size_t index)
{
    const pp_smaps_area *list = areas->list;
    const char *path = list[index].map.path;
    size_t low = index;
    size_t high = index;
    while (low > 0 && strcmp(list[low - 1].map.path, path) == 0) {
        low--;
    }
    while (high + 1 < areas->count && strcmp(list[high + 1].map.path, path) == 0) {
        high++;
    }
    for (size_t i = low; i <= high; i++) {
        if (list[i].map.executable) {
            return true;
        }
    }
    return false;
}

/* Variables without a value in the file are in the memory after it. Without randomised addresses (gdb,
 * setarch -R) the program break meets the variables, too. */
bool pp_resident_is_after_variables(const pp_smaps *areas, size_t index)
{
    const pp_map_line *map = &areas->list[index].map;
    const pp_map_line *before = index > 0 ? &areas->list[index - 1].map : NULL;
    return before != NULL && meet(before, map) && strcmp(map->path, "[heap]") != 0 &&
           is_file(before->path) && before->writable && !before->shared &&
           is_of_object(areas, index - 1);
}

static pp_holder holder_of_file(const pp_smaps *areas, size_t index)
{
    const pp_smaps_area *area = &areas->list[index];
    const char *base = strrchr(area->map.path, '/') + 1;
    if (begins(base, "libpprof.so") || begins(base, "libpprof-")) {
        return PP_HOLDER_OWN;
    }
    if (area->map.shared || !is_of_object(areas, index)) {
        return PP_HOLDER_FILES;
    }
    return area->map.writable || area->anonymous > 0 ? PP_HOLDER_DATA : PP_HOLDER_CODE;
}

pp_holder pp_resident_holder(const pp_smaps *areas, size_t index)
{
    const pp_map_line *map = &areas->list[index].map;
    if (is_shared_memory(map)) {
        return PP_HOLDER_SHARED;
    }
    if (is_file(map->path)) {
        return holder_of_file(areas, index);
    }
    if (strcmp(map->path, "[stack]") == 0) {
        return PP_HOLDER_STACKS;
    }
    if (begins(map->path, "[v") || begins(map->path, "[uprobes]")) {
        return PP_HOLDER_KERNEL;
    }
    uintptr_t data_limit = areas->list[index].data_limit;
    if (!pp_resident_is_after_variables(areas, index) ||
        (data_limit != 0 && data_limit <= map->start)) {
        return PP_HOLDER_UNKNOWN;
    }
    return pp_resident_holder(areas, index - 1) == PP_HOLDER_OWN ? PP_HOLDER_OWN : PP_HOLDER_DATA;
}

/* ---- parts ---- */

/* An index keeps the order of the caller's list. */
typedef struct ranked {
    pp_resident_span span;
    size_t rank;
} ranked;

static int compare_starts(const void *a, const void *b, void *unused)
{
    (void)unused;
    const ranked *x = a;
    const ranked *y = b;
    if (x->span.start != y->span.start) {
        return x->span.start < y->span.start ? -1 : 1;
    }
    return (x->rank > y->rank) - (x->rank < y->rank);
}

typedef struct cutting {
    const pp_resident *resident;
    pp_resident_part *parts; /* room for all */
    size_t part_count;
    const ranked *spans; /* ascending */
    size_t count;
    size_t first; /* all spans before it end before the present address */
} cutting;

/* The span that has the address, and in *next where that may change; NULL: none has it. */
static const pp_resident_span *span_at(cutting *c, uintptr_t address, uintptr_t *next)
{
    const ranked *found = NULL;
    while (c->first < c->count && c->spans[c->first].span.limit <= address) {
        c->first++;
    }
    for (size_t i = c->first; i < c->count; i++) {
        const ranked *r = &c->spans[i];
        if (r->span.start > address) {
            *next = r->span.start < *next ? r->span.start : *next;
            break;
        }
        if (r->span.limit <= address) {
            continue;
        }
        *next = r->span.limit < *next ? r->span.limit : *next;
        if (found == NULL || r->rank < found->rank) {
            found = r;
        }
    }
    return found != NULL ? &found->span : NULL;
}

static bool goes_on(const pp_resident_part *last, const pp_resident_part *part)
{
    return last->area == part->area && last->limit == part->start && last->holder == part->holder &&
           last->who == part->who;
}

static void add_part(cutting *c, const pp_resident_part *part)
{
    if (c->part_count > 0 && goes_on(&c->parts[c->part_count - 1], part)) {
        c->parts[c->part_count - 1].limit = part->limit;
    } else {
        c->parts[c->part_count++] = *part;
    }
}

/* A mapping of a file, or of shared memory, that the program has made stays what it is; its stack is
 * known. */
static pp_holder held_as(const pp_resident_span *span, pp_holder area)
{
    bool is_shared = area == PP_HOLDER_SHARED || area == PP_HOLDER_FILES;
    return span->holder == PP_HOLDER_MAPPINGS && is_shared ? area : span->holder;
}

static void cut_area(cutting *c, size_t index)
{
    const pp_smaps_area *area = &c->resident->areas.list[index];
    pp_holder whole = pp_resident_holder(&c->resident->areas, index);
    bool is_cut = area->data_limit > area->map.start && area->data_limit < area->map.limit;
    uintptr_t next = 0;
    for (uintptr_t at = area->map.start; at < area->map.limit; at = next) {
        bool is_after = is_cut && at >= area->data_limit;
        pp_holder holder = is_after ? PP_HOLDER_UNKNOWN : whole;
        next = is_cut && !is_after ? area->data_limit : area->map.limit;
        const pp_resident_span *span = span_at(c, at, &next);
        add_part(c, &(pp_resident_part){.start = at,
                                        .limit = next,
                                        .area = (uint32_t)index,
                                        .holder = span != NULL ? held_as(span, holder) : holder,
                                        .who = span != NULL ? span->who : 0});
    }
}

int pp_resident_cut(pp_resident *resident, pp_resident_span *spans, size_t count, pp_arena *arena)
{
    ranked *list = pp_arena_array(arena, count + 1, sizeof *list);
    size_t most = 2 * resident->areas.count + 2 * count + 1;
    pp_resident_part *parts = pp_arena_array(arena, most, sizeof *parts);
    if (list == NULL || parts == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        list[i] = (ranked){spans[i], i};
    }
    pp_sort(list, count, sizeof *list, compare_starts, NULL);
    cutting c = {.resident = resident, .parts = parts, .spans = list, .count = count};
    for (size_t i = 0; i < resident->areas.count; i++) {
        cut_area(&c, i);
        resident->sum += resident->areas.list[i].resident;
    }
    resident->parts = parts;
    resident->part_count = c.part_count;
    return 0;
}

/* ---- pages ---- */

bool pp_resident_needs_pages(pp_resident *resident, size_t area)
{
    const pp_smaps_area *a = &resident->areas.list[area];
    while (resident->block < resident->block_count &&
           resident->blocks[resident->block].limit <= a->map.start) {
        resident->block++;
    }
    while (resident->parts[resident->part].area < area) {
        resident->part++;
    }
    bool has_blocks = resident->block < resident->block_count &&
                      resident->blocks[resident->block].start < a->map.limit;
    bool is_whole = resident->parts[resident->part].limit == a->map.limit;
    return (a->resident > 0 || a->swapped > 0) && (has_blocks || !is_whole);
}

static double overlap(uintptr_t start, uintptr_t limit, uintptr_t other, uintptr_t other_limit)
{
    uintptr_t from = start > other ? start : other;
    uintptr_t to = limit < other_limit ? limit : other_limit;
    return from < to ? (double)(to - from) : 0;
}

void pp_resident_add_pages(pp_resident *resident, uintptr_t start, uintptr_t limit, bool swapped)
{
    pp_resident_part *parts = resident->parts;
    pp_resident_block *blocks = resident->blocks;
    while (resident->part < resident->part_count && parts[resident->part].limit <= start) {
        resident->part++;
    }
    for (size_t i = resident->part; i < resident->part_count && parts[i].start < limit; i++) {
        double *sum = swapped ? &parts[i].swapped : &parts[i].resident;
        *sum += overlap(start, limit, parts[i].start, parts[i].limit);
    }
    while (resident->block < resident->block_count && blocks[resident->block].limit <= start) {
        resident->block++;
    }
    for (size_t i = resident->block; i < resident->block_count && blocks[i].start < limit; i++) {
        double *sum = swapped ? &blocks[i].swapped : &blocks[i].resident;
        *sum += overlap(start, limit, blocks[i].start, blocks[i].limit);
    }
}

/* ---- the sums ---- */

/* What the sum has to be multiplied by; a sum of nothing goes to `rest`. */
static double factor(double sum, uint64_t whole, double *rest)
{
    if (sum == 0) {
        *rest += (double)whole;
        return 1;
    }
    return (double)whole / sum;
}

/* Returns the first part after those of the area. */
static size_t settle_area(pp_resident *resident, uint32_t index, size_t first, size_t *block)
{
    const pp_smaps_area *area = &resident->areas.list[index];
    double sum = 0;
    double swapped = 0;
    size_t limit = first;
    for (; limit < resident->part_count && resident->parts[limit].area == index; limit++) {
        sum += resident->parts[limit].resident;
        swapped += resident->parts[limit].swapped;
    }
    pp_resident_part *last = &resident->parts[limit - 1];
    double of_resident = factor(sum, area->resident, &last->resident);
    double of_swapped = factor(swapped, area->swapped, &last->swapped);
    for (size_t i = first; sum > 0 && i < limit; i++) {
        resident->parts[i].resident *= of_resident;
    }
    for (size_t i = first; swapped > 0 && i < limit; i++) {
        resident->parts[i].swapped *= of_swapped;
    }
    for (size_t part = first; *block < resident->block_count; (*block)++) {
        pp_resident_block *b = &resident->blocks[*block];
        if (b->start >= area->map.limit) {
            break;
        }
        while (part + 1 < limit && resident->parts[part].limit <= b->start) {
            part++;
        }
        b->part = (uint32_t)part;
        b->resident *= of_resident;
        b->swapped *= of_swapped;
        resident->parts[part].blocks += b->weight * b->resident;
    }
    return limit;
}

void pp_resident_settle(pp_resident *resident)
{
    size_t part = 0;
    size_t block = 0;
    for (uint32_t i = 0; i < resident->areas.count; i++) {
        part = settle_area(resident, i, part, &block);
    }
    for (size_t i = 0; i < resident->part_count; i++) {
        pp_resident_part *reading = &resident->parts[i];
        if (reading->holder == PP_HOLDER_READING) {
            resident->sum -= (uint64_t)reading->resident;
            reading->resident = reading->swapped = 0;
        }
    }
}
