/* SPDX-License-Identifier: MIT
 *
 * mapping_ranges.c: an ordered array of pieces, and the mappings that they are left of.
 *
 * Zone: HOOK.
 * Locks: none here; the callers hold the one of kinds/heap/malloc_mappings.c.
 * Owns: the arrays.
 */
#include "kinds/heap/mapping_ranges.h"

#include "kinds/heap/heap_peak.h"
#include "store/lasting.h"

#include <string.h>

typedef struct mapping {
    pp_heap_block block;
    uint64_t size;        /* as it was made */
    uint64_t left;        /* in all pieces */
    struct mapping *next; /* in the list of those that nothing is left of */
} mapping;

typedef struct range {
    uintptr_t start, end;
    mapping *of;
} range;

enum { FIRST_CAPACITY = 128 }; /* three kilobytes: a program with more is a rare one */

static range *ranges;
static uint64_t count, capacity;
static mapping *unused;
static pp_lasting memory = PP_LASTING_INIT;

/* ---- room ---- */

static bool make_room(uint64_t wanted)
{
    if (wanted <= capacity) {
        return true;
    }
    uint64_t larger = capacity == 0 ? FIRST_CAPACITY : 2 * capacity;
    range *grown = pp_lasting_map(larger * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    range *old = ranges;
    if (count > 0) {
        memcpy(grown, old, count * sizeof *grown);
    }
    ranges = grown;
    if (capacity > 0) {
        pp_lasting_unmap(old, capacity * sizeof *old);
    }
    capacity = larger;
    return true;
}

static mapping *new_mapping(pp_heap_block block, uint64_t size)
{
    mapping *made = unused;
    if (made != NULL) {
        unused = made->next;
    } else {
        made = pp_lasting_alloc(&memory, sizeof *made);
    }
    if (made != NULL) {
        *made = (mapping){.block = block, .size = size, .left = size};
    }
    return made;
}

/* ---- pieces ---- */

/* Index of the first piece that ends behind the address. */
static uint64_t first_behind(uintptr_t address)
{
    uint64_t low = 0;
    uint64_t high = count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (ranges[middle].end <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void set_count(uint64_t now)
{
    __atomic_store_n(&count, now, __ATOMIC_RELAXED); /* read without the lock */
}

static void insert_at(uint64_t index, range r)
{
    memmove(&ranges[index + 1], &ranges[index], (count - index) * sizeof r);
    ranges[index] = r;
    set_count(count + 1);
}

static void remove_pieces(uint64_t from, uint64_t to)
{
    memmove(&ranges[from], &ranges[to], (count - to) * sizeof *ranges);
    set_count(count - (to - from));
}

static void lose(mapping *of, uint64_t bytes)
{
    uint64_t gone_before = of->size - of->left;
    bytes = bytes < of->left ? bytes : of->left;
    of->left -= bytes;
    if (pp_heap_peak_wanted) {
        double each = pp_heap_block_estimate(of->block) / (double)of->size;
        pp_heap_peak_add(-(int64_t)(each * (double)bytes));
    }
    if (of->left > 0) {
        pp_heap_block_trimmed(of->block, (int64_t)bytes);
        return;
    }
    pp_heap_block_trimmed(of->block, -(int64_t)gone_before);
    pp_heap_block_freed(of->block);
    of->next = unused;
    unused = of;
}

/* A hole in the middle of one piece: it becomes two. Without room for the second that one is given
 * up. */
static void split(uint64_t index, uintptr_t start, uintptr_t end)
{
    range *piece = &ranges[index];
    uint64_t gone = end - start;
    if (make_room(count + 1)) {
        piece = &ranges[index]; /* it may have moved */
        insert_at(index + 1, (range){end, piece->end, piece->of});
    } else {
        gone = piece->end - start;
    }
    piece->end = start;
    lose(piece->of, gone);
}

/* ---- what others call ---- */

bool pp_mapping_ranges_any(void)
{
    return __atomic_load_n(&count, __ATOMIC_RELAXED) != 0;
}

uint64_t pp_mapping_ranges_count(void)
{
    return __atomic_load_n(&count, __ATOMIC_RELAXED);
}

void pp_mapping_ranges_cut(uintptr_t start, uint64_t size)
{
    uintptr_t end = size < UINTPTR_MAX - start ? start + size : UINTPTR_MAX;
    uint64_t i = first_behind(start);
    if (i < count && ranges[i].start < start) {
        if (ranges[i].end > end) {
            split(i, start, end);
            return;
        }
        mapping *of = ranges[i].of;
        uint64_t gone = ranges[i].end - start;
        ranges[i++].end = start;
        lose(of, gone);
    }
    uint64_t whole = i;
    for (; i < count && ranges[i].end <= end; i++) {
        lose(ranges[i].of, ranges[i].end - ranges[i].start);
    }
    if (i < count && ranges[i].start < end) {
        mapping *of = ranges[i].of;
        uint64_t gone = end - ranges[i].start;
        ranges[i].start = end;
        lose(of, gone);
    }
    remove_pieces(whole, i);
}

void pp_mapping_ranges_forget(void)
{
    set_count(0);
}

bool pp_mapping_ranges_insert(uintptr_t start, uint64_t size, pp_heap_block block)
{
    pp_mapping_ranges_cut(start, size);
    mapping *of = make_room(count + 1) ? new_mapping(block, size) : NULL;
    if (of == NULL) {
        return false;
    }
    insert_at(first_behind(start), (range){start, start + size, of});
    return true;
}
