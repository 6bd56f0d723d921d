/* SPDX-License-Identifier: MIT
 *
 * mapping_ranges.c: an ordered array of pieces, each with the mapping that it belongs to.
 *
 * Zone: HOOK.
 * Locks: none here; the callers hold that of kinds/heap/heap_mappings.c.
 * Owns: the array; the mappings.
 */
#include "kinds/heap/mapping_ranges.h"

#include "kinds/heap/heap_peak.h"
#include "base/memory.h"
#include "store/bump.h"

#include <string.h>

typedef struct mapping {
    pp_heap_block block;
    uint64_t size;        /* when it was made */
    uint64_t left;        /* bytes of all its pieces */
    struct mapping *next; /* in the list of unused mappings, which have no piece */
} mapping;

typedef struct range {
    uintptr_t start, end;
    mapping *of;
} range;

enum { FIRST_CAPACITY = 128 }; /* three kilobytes; few programs have more pieces */

static struct {
    range *list;
    uint64_t count, capacity;
    mapping *unused;
    pp_bump memory; /* of the mappings */
} ranges = {.memory = PP_BUMP_INIT};

/* ---- room ---- */

static bool make_room(uint64_t wanted)
{
    if (wanted <= ranges.capacity) {
        return true;
    }
    uint64_t larger = ranges.capacity == 0 ? FIRST_CAPACITY : 2 * ranges.capacity;
    range *grown = pp_memory_map(larger * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    range *old = ranges.list;
    if (ranges.count > 0) {
        memcpy(grown, old, ranges.count * sizeof *grown);
    }
    ranges.list = grown;
    if (ranges.capacity > 0) {
        pp_memory_unmap(old, ranges.capacity * sizeof *old);
    }
    ranges.capacity = larger;
    return true;
}

static mapping *new_mapping(pp_heap_block block, uint64_t size)
{
    mapping *made = ranges.unused;
    if (made != NULL) {
        ranges.unused = made->next;
    } else {
        made = pp_bump_alloc(&ranges.memory, sizeof *made);
    }
    if (made != NULL) {
        *made = (mapping){.block = block, .size = size, .left = size};
    }
    return made;
}

/* ---- pieces ---- */

/* Returns the index of the first piece that ends after the address. */
static uint64_t first_behind(uintptr_t address)
{
    uint64_t low = 0;
    uint64_t high = ranges.count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (ranges.list[middle].end <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void set_count(uint64_t now)
{
    __atomic_store_n(&ranges.count, now, __ATOMIC_RELAXED); /* read without the lock */
}

static void insert_at(uint64_t index, range r)
{
    memmove(&ranges.list[index + 1], &ranges.list[index], (ranges.count - index) * sizeof r);
    ranges.list[index] = r;
    set_count(ranges.count + 1);
}

static void remove_pieces(uint64_t from, uint64_t to)
{
    memmove(&ranges.list[from], &ranges.list[to], (ranges.count - to) * sizeof *ranges.list);
    set_count(ranges.count - (to - from));
}

static void lose(mapping *of, uint64_t bytes)
{
    uint64_t gone_before = of->size - of->left;
    bytes = bytes < of->left ? bytes : of->left;
    of->left -= bytes;
    if (pp_heap_peak_is_wanted()) {
        double each = pp_heap_block_estimate(of->block) / (double)of->size;
        pp_heap_peak_add(-(int64_t)(each * (double)bytes));
    }
    if (of->left > 0) {
        pp_heap_block_trimmed(of->block, (int64_t)bytes);
        return;
    }
    pp_heap_block_trimmed(of->block, -(int64_t)gone_before);
    pp_heap_block_freed(of->block);
    of->next = ranges.unused;
    ranges.unused = of;
}

/* Cuts a hole into the middle of a piece, which becomes two. If there is no room for the second
 * piece, it is given up. */
static void split(uint64_t index, uintptr_t start, uintptr_t end)
{
    range *piece = &ranges.list[index];
    uint64_t gone = end - start;
    if (make_room(ranges.count + 1)) {
        piece = &ranges.list[index]; /* the list may have moved */
        insert_at(index + 1, (range){end, piece->end, piece->of});
    } else {
        gone = piece->end - start;
    }
    piece->end = start;
    lose(piece->of, gone);
}

/* ---- public functions of the file ---- */

bool pp_mapping_ranges_any(void)
{
    return __atomic_load_n(&ranges.count, __ATOMIC_RELAXED) != 0;
}

void pp_mapping_ranges_cut(uintptr_t start, uint64_t size)
{
    uintptr_t end = size < UINTPTR_MAX - start ? start + size : UINTPTR_MAX;
    uint64_t i = first_behind(start);
    if (i < ranges.count && ranges.list[i].start < start) {
        if (ranges.list[i].end > end) {
            split(i, start, end);
            return;
        }
        mapping *of = ranges.list[i].of;
        uint64_t gone = ranges.list[i].end - start;
        ranges.list[i++].end = start;
        lose(of, gone);
    }
    uint64_t whole = i;
    for (; i < ranges.count && ranges.list[i].end <= end; i++) {
        lose(ranges.list[i].of, ranges.list[i].end - ranges.list[i].start);
    }
    if (i < ranges.count && ranges.list[i].start < end) {
        mapping *of = ranges.list[i].of;
        uint64_t gone = end - ranges.list[i].start;
        ranges.list[i].start = end;
        lose(of, gone);
    }
    remove_pieces(whole, i);
}

size_t pp_mapping_ranges_count(void)
{
    return ranges.count;
}

size_t pp_mapping_ranges_read(pp_mapping_range *copies, size_t capacity)
{
    size_t count = 0;
    for (; count < ranges.count && count < capacity; count++) {
        const range *r = &ranges.list[count];
        copies[count] = (pp_mapping_range){r->start, r->end, r->of->block};
    }
    return count;
}

void pp_mapping_ranges_forget(void)
{
    set_count(0);
}

bool pp_mapping_ranges_insert(uintptr_t start, uint64_t size, pp_heap_block block)
{
    pp_mapping_ranges_cut(start, size);
    mapping *of = make_room(ranges.count + 1) ? new_mapping(block, size) : NULL;
    if (of == NULL) {
        return false;
    }
    insert_at(first_behind(start), (range){start, start + size, of});
    return true;
}
