/* SPDX-License-Identifier: MIT
 *
 * leak_blocks.c: sorts the blocks, indexes their pages, and marks.
 *
 *   index[address >> 30] -> pages: bits   a candidate overlaps the page
 *                                  first  the first block that overlaps the page
 *
 * With the usual rate of sampling, nearly every word ends at the first test or at a bit.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: unit.leak_blocks, e2e.leak
 */
#include "kinds/heap/leak_blocks.h"

#include "base/compiler.h"
#include "base/key_sort.h"
#include "kinds/heap/heap.h"
#include "kinds/heap/live_table.h"

#include <errno.h>

enum {
    SLACK = 1024, /* for blocks that are made while they are counted */
    PAGE_SHIFT = 12,
    PAGE = 1 << PAGE_SHIFT,
    GIB_SHIFT = 30,
    ADDRESS_BITS = 48, /* of a pointer; the rest may be a tag */
    GIBS = 1 << (ADDRESS_BITS - GIB_SHIFT),
    PAGES = 1 << (GIB_SHIFT - PAGE_SHIFT),
    EDGE_SHIFT = 16,
    EDGES = 1 << EDGE_SHIFT, /* allocated at once */
    EDGE_PARTS = 1 << (32 - EDGE_SHIFT),
    /* Behind a block is at most one part in so many more than was asked for, as in jemalloc's
     * classes of sizes; or so many bytes: glibc has no smaller rest than 32. */
    SLACK_SHARE = 4,
    SLACK_LEAST = 64
};

#define NONE UINT32_MAX

static const uint64_t address_mask = (UINT64_C(1) << ADDRESS_BITS) - 1;
static const uint64_t is_reached_bit = UINT64_C(1) << 63; /* of `starts` */

struct pp_leak_pages {
    uint64_t bits[PAGES / 64];
    uint32_t first[PAGES]; /* index + 1; 0: none */
};

/* ---- the list ---- */

typedef struct reader {
    pp_leak_block *list;
    uint32_t count, capacity;
} reader;

static void read_entry(const pp_live_entry *entry, void *context)
{
    reader *r = context;
    if (r->count == r->capacity || !pp_heap_is_block(entry->value) ||
        entry->address > address_mask) {
        return;
    }
    r->list[r->count++] = (pp_leak_block){.start = entry->address,
                                          .size = pp_heap_block_size(entry->value),
                                          .record = entry->value,
                                          .birth_ns = entry->birth_ns};
}

static int sort_into(pp_leak_blocks *blocks, const reader *r, pp_arena *work, pp_arena *arena)
{
    pp_keyed *items = pp_arena_array(work, r->count + 1, sizeof *items);
    pp_keyed *spare = pp_arena_array(work, r->count + 1, sizeof *spare);
    blocks->list = pp_arena_array(arena, r->count + 1, sizeof *blocks->list);
    blocks->starts = pp_arena_array(arena, r->count + 1, sizeof *blocks->starts);
    if (items == NULL || spare == NULL || blocks->list == NULL || blocks->starts == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < r->count; i++) {
        items[i] = (pp_keyed){.key = r->list[i].start, .index = i};
    }
    pp_key_sort(items, spare, r->count);
    for (uint32_t i = 0; i < r->count; i++) {
        blocks->list[i] = r->list[items[i].index];
    }
    blocks->count = r->count;
    return 0;
}

/* ---- the index ---- */

static struct pp_leak_pages *pages_of(const pp_leak_blocks *blocks, uintptr_t address)
{
    return blocks->index[address >> GIB_SHIFT];
}

static uint32_t page_in_gib(uintptr_t address)
{
    return (uint32_t)(address >> PAGE_SHIFT) & (PAGES - 1);
}

static uintptr_t last_byte(const pp_leak_block *block)
{
    return block->start + (block->size > 0 ? block->size - 1 : 0);
}

static bool index_block(pp_leak_blocks *blocks, uint32_t i, pp_arena *arena)
{
    uintptr_t last = last_byte(&blocks->list[i]) >> PAGE_SHIFT;
    for (uintptr_t page = blocks->list[i].start >> PAGE_SHIFT; page <= last; page++) {
        uintptr_t address = page << PAGE_SHIFT;
        struct pp_leak_pages **pages = &blocks->index[address >> GIB_SHIFT];
        *pages = *pages != NULL ? *pages : pp_arena_alloc(arena, sizeof **pages);
        if (*pages == NULL) {
            return false;
        }
        uint32_t *first = &(*pages)->first[page_in_gib(address)];
        *first = *first != 0 ? *first : i + 1;
    }
    return true;
}

/* The index of the block after the largest gap; the count if there is none. */
static uint32_t find_gap(const pp_leak_blocks *blocks)
{
    uint32_t after = blocks->count;
    uintptr_t largest = 0;
    uintptr_t limit = blocks->count > 0 ? last_byte(&blocks->list[0]) + 1 : 0;
    for (uint32_t i = 1; i < blocks->count; i++) {
        const pp_leak_block *block = &blocks->list[i];
        if (block->start > limit && block->start - limit > largest) {
            largest = block->start - limit;
            after = i;
        }
        limit = last_byte(block) + 1 > limit ? last_byte(block) + 1 : limit;
    }
    return after;
}

/* The span has the address just after the last block. */
static pp_leak_near near_of(const pp_leak_blocks *blocks, uint32_t from, uint32_t limit)
{
    pp_leak_near near = {.lowest = UINTPTR_MAX};
    for (uint32_t i = from; i < limit; i++) {
        near.lowest = i == from ? blocks->list[i].start : near.lowest;
        uintptr_t span = last_byte(&blocks->list[i]) + 1 - near.lowest;
        near.span = span > near.span ? span : near.span;
    }
    return near;
}

/* An allocator's memory is mostly in two places, the program break and mappings, with most of the
 * address space between them, where random words may point to. */
static void find_near(pp_leak_blocks *blocks)
{
    uint32_t gap = find_gap(blocks);
    blocks->near[0] = near_of(blocks, 0, gap);
    blocks->near[1] = near_of(blocks, gap, blocks->count);
}

int pp_leak_blocks_list(pp_leak_blocks *blocks, pp_arena *arena)
{
    pp_arena work = PP_ARENA_INIT;
    reader r = {.capacity = (uint32_t)pp_live_table_count() + SLACK};
    *blocks = (pp_leak_blocks){0};
    r.list = pp_arena_array(&work, r.capacity, sizeof *r.list);
    int error = r.list == NULL ? -ENOMEM : 0;
    if (error == 0) {
        pp_live_table_each(read_entry, &r);
        error = sort_into(blocks, &r, &work, arena);
    }
    pp_arena_release(&work);
    return error;
}

int pp_leak_blocks_read(pp_leak_blocks *blocks, pp_arena *arena)
{
    int error = pp_leak_blocks_list(blocks, arena);
    blocks->index = pp_arena_array(arena, GIBS, sizeof(struct pp_leak_pages *));
    if (error != 0 || blocks->index == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < blocks->count; i++) {
        if (!index_block(blocks, i, arena)) {
            return -ENOMEM;
        }
    }
    find_near(blocks);
    blocks->candidates = blocks->count;
    return 0;
}

/* ---- the block of an address ---- */

static uintptr_t start_of(const pp_leak_blocks *blocks, uint32_t index)
{
    return blocks->starts[index] & address_mask;
}

/* The last block from `low` on that begins at the address or before it; `low` if there is none. It is
 * near, mostly in the same cache line. */
static uint32_t last_start(const pp_leak_blocks *blocks, uint32_t low, uintptr_t address)
{
    uint32_t step = 1;
    uint32_t high = low + 1;
    while (high < blocks->count && start_of(blocks, high) <= address) {
        low = high;
        high = blocks->count - high > step ? high + step : blocks->count;
        step *= 2;
    }
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (start_of(blocks, middle) <= address) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The same among the blocks of the page; NONE: there are none. */
static uint32_t find_start(const pp_leak_blocks *blocks, uintptr_t address)
{
    const struct pp_leak_pages *pages = pages_of(blocks, address);
    uint32_t first = pages != NULL ? pages->first[page_in_gib(address)] : 0;
    if (first == 0) {
        return NONE;
    }
    return last_start(blocks, first - 1, address);
}

/* Whether the block has the address, or ends there. */
static bool has_address(const pp_leak_blocks *blocks, uint32_t index, uintptr_t address)
{
    const pp_leak_block *block = index != NONE ? &blocks->list[index] : NULL;
    return block != NULL && address >= block->start && address - block->start <= block->size;
}

static bool has_end(const pp_leak_blocks *blocks, uint32_t index, uintptr_t address)
{
    return address - blocks->list[index].start == blocks->list[index].size;
}

static bool has_candidate(const pp_leak_blocks *blocks, uintptr_t address)
{
    const struct pp_leak_pages *pages = pages_of(blocks, address);
    uint32_t page = page_in_gib(address);
    return pages != NULL && pages->bits[page / 64] >> page % 64 & 1;
}

/* A block may end with its page. */
static bool ends_page_of_candidate(const pp_leak_blocks *blocks, uintptr_t address)
{
    return address % PAGE == 0 && has_candidate(blocks, address - 1);
}

/* Remembers the block for addresses that no block after it has. */
static void remember(const pp_leak_blocks *blocks, uint32_t index, pp_leak_last *last)
{
    const pp_leak_block *block = &blocks->list[index];
    uint64_t bytes = block->size;
    if (index + 1 < blocks->count && start_of(blocks, index + 1) - block->start < bytes) {
        bytes = start_of(blocks, index + 1) - block->start;
    }
    *last = (pp_leak_last){block->start, bytes, index};
}

static bool is_in_last(const pp_leak_last *last, uintptr_t address)
{
    return address - last->start < last->bytes;
}

static bool is_reached(const pp_leak_blocks *blocks, uint32_t index)
{
    return (blocks->starts[index] & is_reached_bit) != 0;
}

/* The block that the address refers to, if it is not reached yet; else NONE. The address is in a page
 * with candidates, or just after one. */
static uint32_t find_target(pp_leak_blocks *blocks, uintptr_t address)
{
    if (is_in_last(&blocks->target, address)) {
        return is_reached(blocks, blocks->target.index) ? NONE : blocks->target.index;
    }
    uint32_t index = find_start(blocks, has_candidate(blocks, address) ? address : address - 1);
    if (index == NONE || is_reached(blocks, index) || !has_address(blocks, index, address)) {
        return NONE;
    }
    remember(blocks, index, &blocks->target);
    return index;
}

/* Whether the address is just after the block, where a program that asks for its size may write. */
static bool has_in_slack(const pp_leak_blocks *blocks, uint32_t index, uintptr_t address)
{
    const pp_leak_block *block = &blocks->list[index];
    return blocks->complete && blocks->uses_slack &&
           address - block->start < block->size + block->size / SLACK_SHARE + SLACK_LEAST;
}

/* The block that has the address; NONE: none. Words are looked at in the order of their addresses,
 * mostly: so the search goes on from the last block. */
static uint32_t find_holder(pp_leak_blocks *blocks, uintptr_t address)
{
    uint32_t at = blocks->holder.index;
    if (is_in_last(&blocks->holder, address)) {
        return at;
    }
    at = at < blocks->count && start_of(blocks, at) <= address ? last_start(blocks, at, address)
                                                               : find_start(blocks, address);
    if (at == NONE) {
        return NONE;
    }
    if (!has_address(blocks, at, address) || has_end(blocks, at, address)) {
        return has_in_slack(blocks, at, address) ? at : NONE;
    }
    remember(blocks, at, &blocks->holder);
    return at;
}

/* Memory of the allocator outside of all blocks. An allocator shares no page with others. */
static bool is_free_memory(const pp_leak_blocks *blocks, uintptr_t address)
{
    if (!blocks->complete) {
        return false;
    }
    if (address - blocks->break_start < blocks->break_limit - blocks->break_start) {
        return !blocks->shares_break;
    }
    const struct pp_leak_pages *pages = pages_of(blocks, address);
    return pages != NULL && pages->first[page_in_gib(address)] != 0;
}

/* ---- marking ---- */

void pp_leak_blocks_reach(pp_leak_blocks *blocks, uint32_t index)
{
    pp_leak_block *block = &blocks->list[index];
    if (!block->reached) {
        block->reached = true;
        blocks->starts[index] |= is_reached_bit;
        block->next = blocks->reached;
        blocks->reached = index + 1;
    }
}

const pp_leak_edge *pp_leak_blocks_edge(const pp_leak_blocks *blocks, uint32_t edge)
{
    return edge == 0 ? NULL : &blocks->edges[edge >> EDGE_SHIFT][edge & (EDGES - 1)];
}

/* Without memory for an edge, its target counts as reached. */
static void add_edge(pp_leak_blocks *blocks, uint32_t from, uint32_t to)
{
    uint32_t *first = &blocks->list[from].first_edge;
    uint32_t edge = blocks->edge_count + 1;
    const pp_leak_edge *last = pp_leak_blocks_edge(blocks, *first);
    if (last != NULL && last->to == to) {
        return; /* a block often has the same pointer several times in a row */
    }
    pp_leak_edge **part = &blocks->edges[edge >> EDGE_SHIFT];
    if (*part == NULL) {
        *part = pp_arena_array(blocks->of_pass, EDGES, sizeof **part);
    }
    if (*part == NULL || edge == UINT32_MAX) {
        pp_leak_blocks_reach(blocks, to);
        return;
    }
    (*part)[edge & (EDGES - 1)] = (pp_leak_edge){.next = *first, .to = to};
    *first = edge;
    blocks->edge_count = edge;
}

/* The word at `place` is the address of a candidate. */
static void refer(pp_leak_blocks *blocks, uintptr_t place, uint32_t to)
{
    uint32_t from = find_holder(blocks, place);
    if (from == NONE) {
        if (!is_free_memory(blocks, place)) {
            pp_leak_blocks_reach(blocks, to);
        }
    } else if (is_reached(blocks, from)) {
        pp_leak_blocks_reach(blocks, to);
    } else if (from != to) {
        add_edge(blocks, from, to);
    }
}

/* ---- looking at words ---- */

enum {
    GROUP = 8,       /* words that are tested at once */
    AHEAD = 2 * PAGE /* bytes: processors do not foresee the next page */
};

typedef uint64_t two_words __attribute__((vector_size(16), aligned(8), may_alias));
typedef uint64_t four_words __attribute__((vector_size(32)));
typedef uint32_t four_pages __attribute__((vector_size(16)));
typedef int32_t four_signed __attribute__((vector_size(16)));

/* A span of pp_leak_near in pages, which are numbered by 32 bits. Signed numbers compare like unsigned ones
 * that have INT32_MIN added; vectors of SSE2 have no unsigned comparison. */
typedef struct near_pages {
    four_pages lowest;
    four_signed span;
} near_pages;

static near_pages number_pages(const pp_leak_near *near)
{
    uintptr_t first = near->lowest >> PAGE_SHIFT;
    uintptr_t span = ((near->lowest + near->span) >> PAGE_SHIFT) - first;
    uint32_t lowest = (uint32_t)first - (uint32_t)INT32_MIN;
    int32_t most =
        (int32_t)((uint32_t)(span < UINT32_MAX ? span : UINT32_MAX) + (uint32_t)INT32_MIN);
    return (near_pages){{lowest, lowest, lowest, lowest}, {most, most, most, most}};
}

/* All bits of a lane: its word is in no span. The word's page modulo 2^32 is compared. */
static inline four_pages are_far(two_words a, two_words b, const near_pages near[2])
{
    const four_words all = {a[0], a[1], b[0], b[1]};
    const four_pages pages = __builtin_convertvector(all >> PAGE_SHIFT, four_pages);
    return (four_pages)(((four_signed)(pages - near[0].lowest) > near[0].span) &
                        ((four_signed)(pages - near[1].lowest) > near[1].span));
}

/* A bit for each word that may be in a span. */
static inline unsigned find_not_far(const two_words words[GROUP / 2], const near_pages near[2])
{
    const four_pages low = ~are_far(words[0], words[1], near) & (four_pages){1, 2, 4, 8};
    const four_pages high = ~are_far(words[2], words[3], near) & (four_pages){16, 32, 64, 128};
    const two_words found = (two_words)(low | high);
    const uint64_t half = found[0] | found[1];
    return (unsigned)(half | half >> 32);
}

/* `bare`: the last page without candidates that a word had. */
static inline uintptr_t look_at(pp_leak_blocks *blocks, uintptr_t place, uint64_t raw,
                                uintptr_t bare)
{
    const pp_leak_near *near = blocks->near;
    const uintptr_t word = raw & address_mask;
    if (word >> PAGE_SHIFT == bare && word % PAGE != 0) {
        return bare;
    }
    if (word - near[0].lowest > near[0].span && word - near[1].lowest > near[1].span) {
        return bare;
    }
    if (!has_candidate(blocks, word) && !ends_page_of_candidate(blocks, word)) {
        return word >> PAGE_SHIFT;
    }
    uint32_t to = find_target(blocks, word);
    if (to != NONE) {
        refer(blocks, place, to);
    }
    return bare;
}

/* Loads each word once, since other threads may write to it. */
PP_RAW_MEMORY void pp_leak_blocks_look(void *of_blocks, uintptr_t address, const uint64_t *words,
                                       size_t count)
{
    pp_leak_blocks *blocks = of_blocks;
    const near_pages near[2] = {number_pages(&blocks->near[0]), number_pages(&blocks->near[1])};
    uintptr_t bare = UINTPTR_MAX;
    size_t i = 0;
    for (; count - i >= GROUP; i += GROUP) {
        const volatile two_words *at = (const volatile two_words *)&words[i];
        const two_words group[GROUP / 2] = {at[0], at[1], at[2], at[3]};
        __builtin_prefetch((const char *)at + AHEAD);
        for (unsigned found = find_not_far(group, near); found != 0; found &= found - 1) {
            unsigned k = (unsigned)__builtin_ctz(found);
            bare = look_at(blocks, address + (i + k) * sizeof *words, group[k / 2][k % 2], bare);
        }
    }
    for (; i < count; i++) {
        uint64_t word = __atomic_load_n(&words[i], __ATOMIC_RELAXED);
        bare = look_at(blocks, address + i * sizeof *words, word, bare);
    }
}

/* ---- passes ---- */

static void set_bits(pp_leak_blocks *blocks, const pp_leak_block *block)
{
    uintptr_t last = last_byte(block) >> PAGE_SHIFT;
    for (uintptr_t page = block->start >> PAGE_SHIFT; page <= last; page++) {
        uint32_t in_gib = page & (PAGES - 1);
        pages_of(blocks, page << PAGE_SHIFT)->bits[in_gib / 64] |= UINT64_C(1) << in_gib % 64;
    }
}

static void clear_bits(pp_leak_blocks *blocks)
{
    for (size_t i = 0; i < GIBS; i++) {
        for (size_t k = 0; blocks->index[i] != NULL && k < PAGES / 64; k++) {
            blocks->index[i]->bits[k] = 0;
        }
    }
}

int pp_leak_blocks_begin(pp_leak_blocks *blocks, pp_arena *of_pass)
{
    blocks->of_pass = of_pass;
    blocks->edge_count = 0;
    blocks->reached = 0;
    blocks->edges = pp_arena_array(of_pass, EDGE_PARTS, sizeof(pp_leak_edge *));
    if (blocks->edges == NULL) {
        return -ENOMEM;
    }
    clear_bits(blocks);
    for (uint32_t i = 0; i < blocks->count; i++) {
        blocks->list[i].first_edge = 0;
        blocks->starts[i] = blocks->list[i].start | (blocks->list[i].reached ? is_reached_bit : 0);
        if (!blocks->list[i].reached) {
            set_bits(blocks, &blocks->list[i]);
        }
    }
    return 0;
}

void pp_leak_blocks_end(pp_leak_blocks *blocks)
{
    while (blocks->reached != 0) {
        pp_leak_block *block = &blocks->list[blocks->reached - 1];
        blocks->reached = block->next;
        const pp_leak_edge *edge = pp_leak_blocks_edge(blocks, block->first_edge);
        for (; edge != NULL; edge = pp_leak_blocks_edge(blocks, edge->next)) {
            pp_leak_blocks_reach(blocks, edge->to);
        }
    }
    blocks->candidates = 0;
    for (uint32_t i = 0; i < blocks->count; i++) {
        blocks->candidates += !blocks->list[i].reached;
    }
}
