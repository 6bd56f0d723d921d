/* SPDX-License-Identifier: MIT
 *
 * libc_arenas.c: see libc_arenas.h.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: unit.libc_arenas, e2e.memory
 */
#include "kinds/heap/libc_arenas.h"

#include "arch/system_call.h"

#include <errno.h>
#include <string.h>

enum {
    LEAST_LARGE = 64 * 1024, /* half of the least M_MMAP_THRESHOLD that is usual */
    IS_MAPPED = 2,           /* the flag of a chunk that is a mapping; no other flag is set then */
    FLAGS = 7,
    SEARCHED_MAX = 16384, /* pages that are there, in which no large block begins: 64 MiB */
    FARTHEST_STATE = 256  /* of an arena's malloc_state from its first heap's heap_info */
};

static const uint64_t heap_bytes = UINT64_C(64) << 20; /* HEAP_MAX_SIZE */

/* The first words of a heap. */
typedef struct heap_info {
    uint64_t arena, previous, size, readable_size;
} heap_info;

typedef struct finder {
    const pp_memory *memory;
    pp_page_runs *pages;
    pp_libc_arenas *found;
    pp_arena *arena;
    uint64_t *states; /* of the arenas that were found */
    size_t states_capacity;
    uintptr_t there_limit; /* of the pages that were found there last */
    unsigned searched;
} finder;

/* Doubles an array; the old one stays in the arena. */
static void *grown(pp_arena *arena, const void *old, size_t count, size_t *capacity, size_t size)
{
    size_t larger = *capacity > 0 ? 2 * *capacity : 64;
    void *list = pp_arena_array(arena, larger, size);
    if (list != NULL && old != NULL) {
        memcpy(list, old, count * size);
    }
    *capacity = list != NULL ? larger : *capacity;
    return list;
}

static int add(finder *f, uintptr_t start, uintptr_t limit, uint64_t who)
{
    pp_libc_arenas *found = f->found;
    if (found->count == found->capacity) {
        void *list =
            grown(f->arena, found->spans, found->count, &found->capacity, sizeof *found->spans);
        if (list == NULL) {
            return -ENOMEM;
        }
        found->spans = list;
    }
    found->spans[found->count++] = (pp_resident_span){start, limit, PP_HOLDER_ALLOCATOR, who};
    return 0;
}

static bool is_there(const finder *f, uintptr_t address)
{
    uintptr_t page = address & ~(pp_page_bytes() - 1);
    uintptr_t end = 0;
    return f->pages == NULL ||
           (pp_page_runs_read(f->pages, page, page + pp_page_bytes(), false, &end) == 0 &&
            f->pages->count > 0);
}

/* What begins a page. Threads unmap heaps and large blocks meanwhile. */
static bool copy(const finder *f, void *to, uintptr_t from, size_t size)
{
    return is_there(f, from) && pp_memory_copy_part(f->memory, to, from, size) == size;
}

/* ---- heaps ---- */

static bool is_of_pages(uint64_t bytes)
{
    return bytes > 0 && bytes % pp_page_bytes() == 0 && bytes <= heap_bytes;
}

static bool read_heap(const finder *f, uintptr_t start, heap_info *info)
{
    return copy(f, info, start, sizeof *info) && is_of_pages(info->size) &&
           is_of_pages(info->readable_size) && info->size <= info->readable_size &&
           info->previous % heap_bytes == 0;
}

static bool has_own_state(uintptr_t start, const heap_info *info)
{
    return info->arena > start && info->arena - start <= FARTHEST_STATE && info->arena % 16 == 0;
}

/* The arena's state is in its first heap. */
static bool is_heap(const finder *f, uintptr_t start, heap_info *info)
{
    heap_info first;
    if (!read_heap(f, start, info)) {
        return false;
    }
    if (has_own_state(start, info)) {
        return info->previous == 0;
    }
    uintptr_t of_state = info->arena & ~(heap_bytes - 1);
    return info->previous != 0 && read_heap(f, of_state, &first) && first.arena == info->arena &&
           has_own_state(of_state, &first);
}

/* The number of the arena; 0: no memory. */
static uint64_t arena_number(finder *f, uint64_t state)
{
    uint64_t others = f->found->arenas - PP_LIBC_MAIN_ARENA;
    for (uint64_t i = 0; f->states != NULL && i < others; i++) {
        if (f->states[i] == state) {
            return PP_LIBC_MAIN_ARENA + 1 + i;
        }
    }
    if (f->states == NULL || others == f->states_capacity) {
        void *list = grown(f->arena, f->states, others, &f->states_capacity, sizeof *f->states);
        if (list == NULL) {
            return 0;
        }
        f->states = list;
    }
    f->states[others] = state;
    f->found->arenas++;
    return PP_LIBC_MAIN_ARENA + 1 + others;
}

/* Heaps of one area: they meet where they are full. */
static int find_heaps(finder *f, const pp_map_line *map)
{
    heap_info info;
    uintptr_t start = (map->start + heap_bytes - 1) & ~(heap_bytes - 1);
    int error = 0;
    for (; start < map->limit && error == 0; start += heap_bytes) {
        if (is_heap(f, start, &info) && info.readable_size <= map->limit - start) {
            uint64_t number = arena_number(f, info.arena);
            error = number != 0 ? add(f, start, start + info.readable_size, number) : -ENOMEM;
        }
    }
    return error;
}

/* ---- large blocks ---- */

/* The bytes of the large block at `start`, which is the beginning of a page; 0: there is none. */
static uint64_t large_bytes(const finder *f, uintptr_t start, uintptr_t limit)
{
    uint64_t words[2]; /* prev_size: what an alignment has left out, and size */
    if (pp_memory_copy_part(f->memory, words, start, sizeof words) != sizeof words) {
        return 0;
    }
    uint64_t bytes = words[1] & ~(uint64_t)FLAGS;
    bool is_large = (words[1] & FLAGS) == IS_MAPPED && words[0] == 0 && bytes >= LEAST_LARGE &&
                    bytes % pp_page_bytes() == 0 && bytes <= limit - start;
    return is_large ? bytes : 0;
}

/* Returns the first page from `at` on that is there, or `limit`. */
static uintptr_t next_there(finder *f, uintptr_t at, uintptr_t limit)
{
    uintptr_t end = at;
    while (f->pages != NULL && at < limit && at >= f->there_limit) {
        if (pp_page_runs_read(f->pages, at, limit, false, &end) != 0) {
            return limit;
        }
        bool any = f->pages->count > 0;
        at = any ? f->pages->list[0].start : end;
        f->there_limit = any ? f->pages->list[0].limit : 0;
    }
    return at;
}

/* Returns the page if it is in none of the heaps from *heap on, which the area has; else the end of that heap. */
static uintptr_t beyond_heaps(const finder *f, uintptr_t at, size_t *heap, size_t heaps)
{
    const pp_resident_span *spans = f->found->spans;
    for (; *heap < heaps && at >= spans[*heap].start; ++*heap) {
        at = at > spans[*heap].limit ? at : spans[*heap].limit;
    }
    return at;
}

/* The kernel joins mappings that meet, whoever has made them: a block may begin at any page. The area's heaps are
 * the spans from `heap` on. */
static int find_large(finder *f, const pp_map_line *map, size_t heap)
{
    const size_t heaps = f->found->count;
    int error = 0;
    uintptr_t at = map->start;
    while (error == 0 && f->searched < SEARCHED_MAX) {
        at = next_there(f, beyond_heaps(f, at, &heap, heaps), map->limit);
        if (at >= map->limit) {
            break;
        }
        if (heap < heaps && at >= f->found->spans[heap].start) {
            continue;
        }
        uint64_t bytes =
            large_bytes(f, at, heap < heaps ? f->found->spans[heap].start : map->limit);
        if (bytes == 0 && f->pages == NULL) {
            break;
        }
        if (bytes != 0) {
            error = add(f, at, at + bytes, PP_LIBC_LARGE);
        }
        f->searched += bytes == 0;
        at += bytes != 0 ? bytes : pp_page_bytes();
    }
    return error;
}

static bool may_have(const pp_smaps *areas, size_t index)
{
    const pp_smaps_area *area = &areas->list[index];
    return area->map.readable && area->map.writable && area->resident > 0 &&
           (pp_resident_holder(areas, index) == PP_HOLDER_UNKNOWN || area->data_limit != 0);
}

int pp_libc_arenas_find(const pp_smaps *areas, const pp_memory *memory, pp_page_runs *pages,
                        pp_arena *arena, pp_libc_arenas *found)
{
    finder f = {.memory = memory, .pages = pages, .found = found, .arena = arena};
    int error = 0;
    *found = (pp_libc_arenas){.arenas = PP_LIBC_MAIN_ARENA};
    for (size_t i = 0; i < areas->count && error == 0; i++) {
        pp_map_line map = areas->list[i].map;
        uintptr_t data_limit = areas->list[i].data_limit;
        map.start = data_limit > map.start ? data_limit : map.start;
        if (!may_have(areas, i)) {
            continue;
        }
        if (strcmp(map.path, "[heap]") == 0) {
            error = add(&f, map.start, map.limit, PP_LIBC_MAIN_ARENA);
        } else {
            size_t heap = found->count;
            error = find_heaps(&f, &map);
            error = error == 0 ? find_large(&f, &map, heap) : error;
        }
    }
    return error;
}
