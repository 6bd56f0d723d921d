/* SPDX-License-Identifier: MIT
 *
 * leak_memory.c: lists ranges, asks the kernel for their pages, and copies these piece by piece.
 *
 * A reading rests after SLICE bytes: signals of the calling thread wait meanwhile.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: unit.leak_memory, e2e.leak, stress.leak_storm
 */
#include "kinds/heap/leak_memory.h"

#include "base/sort.h"
#include "modules/maps.h"
#include "sys/file_calls.h"
#include "sys/own_files.h"
#include "sys/safe_read.h"
#include "sys/tasks.h"

#include <errno.h>
#include <string.h>

enum {
    PAGE_SHIFT = 12,
    PAGE = 1 << PAGE_SHIFT,
    COPY_BYTES = 128 * 1024,   /* of one copy: stays in the cache until it is looked at */
    PAGES_A_READ = 512,        /* of pagemap: a page of entries */
    SLICE = 256 * 1024 * 1024, /* to be read without a rest: a tenth of a second */
    ABSENT_BYTES = 64,         /* the time for a page that is not read, as bytes */
    OWN_SPANS = 256            /* the most that are hidden beside one for each thread */
};

/* proc(5), pagemap */
static const uint64_t is_present = UINT64_C(1) << 63;
static const uint64_t is_swapped = UINT64_C(1) << 62;
static const uint64_t is_of_file = UINT64_C(1) << 61;

/* ---- ranges ---- */

static bool begins(const char *path, const char *with)
{
    return strncmp(path, with, strlen(with)) == 0;
}

/* Devices, and what the kernel shows of itself. Shared memory without a name is "/dev/zero". */
static bool is_special(const char *path)
{
    if (begins(path, "/dev/")) {
        return !begins(path, "/dev/shm/") && !begins(path, "/dev/zero") &&
               !begins(path, "/dev/hugepages/");
    }
    return begins(path, "anon_inode:") || begins(path, "[v");
}

static size_t count_lines(const char *text, size_t length)
{
    size_t count = 1;
    for (size_t i = 0; i < length; i++) {
        count += text[i] == '\n';
    }
    return count;
}

static void add_range(pp_leak_memory *memory, const pp_map_line *line, const pp_map_line *before)
{
    memory->ranges[memory->range_count++] =
        (pp_leak_range){.at = {line->start, line->limit},
                        .written = line->writable,
                        .main_stack = strcmp(line->path, "[stack]") == 0,
                        .program_break = strcmp(line->path, "[heap]") == 0,
                        .guarded = before->limit == line->start && !before->readable};
}

int pp_leak_memory_list(pp_leak_memory *memory, pp_arena *arena)
{
    char *text = NULL;
    size_t length = 0;
    *memory = (pp_leak_memory){.hidden_capacity = OWN_SPANS + pp_tasks_count()};
    int error = pp_maps_text(arena, &text, &length);
    if (error != 0) {
        return error;
    }
    memory->ranges = pp_arena_array(arena, count_lines(text, length), sizeof *memory->ranges);
    memory->hidden = pp_arena_array(arena, memory->hidden_capacity, sizeof *memory->hidden);
    memory->words = pp_arena_alloc(arena, COPY_BYTES);
    memory->pages = pp_arena_array(arena, PAGES_A_READ, sizeof *memory->pages);
    if (arena->failed) {
        return -ENOMEM;
    }
    pp_map_line line;
    pp_map_line before = {0};
    while (pp_maps_next(&text, &line)) {
        if (line.readable && !is_special(line.path)) {
            add_range(memory, &line, &before);
        }
        before = line;
    }
    return 0;
}

const pp_leak_range *pp_leak_memory_find(const pp_leak_memory *memory, uintptr_t address)
{
    size_t low = 0;
    size_t high = memory->range_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memory->ranges[middle].at.limit <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < memory->range_count && memory->ranges[low].at.start <= address;
    return found ? &memory->ranges[low] : NULL;
}

/* ---- hidden spans ---- */

void pp_leak_memory_hide(pp_leak_memory *memory, uintptr_t start, uintptr_t limit)
{
    if (start < limit && memory->hidden_count < memory->hidden_capacity) {
        memory->hidden[memory->hidden_count++] = (pp_leak_span){start, limit};
    }
}

static int compare_spans(const void *a, const void *b, void *unused)
{
    (void)unused;
    uintptr_t x = ((const pp_leak_span *)a)->start;
    uintptr_t y = ((const pp_leak_span *)b)->start;
    return (x > y) - (x < y);
}

void pp_leak_memory_hidden_end(pp_leak_memory *memory)
{
    pp_sort(memory->hidden, memory->hidden_count, sizeof *memory->hidden, compare_spans, NULL);
}

/* ---- reading ---- */

typedef struct reading {
    pp_leak_memory *memory;
    pp_leak_visit *visit;
    void *context;
    int pagemap;
    const pp_leak_span *only; /* NULL: all */
    uint64_t left;            /* bytes to read, until the next rest */
    int error;
} reading;

static void use_up(reading *r, uint64_t bytes)
{
    r->left -= r->left < bytes ? r->left : bytes;
}

static void copy(reading *r, uintptr_t from, uintptr_t limit)
{
    pp_leak_memory *memory = r->memory;
    while (from < limit) {
        size_t wanted = limit - from < COPY_BYTES ? limit - from : COPY_BYTES;
        size_t got = pp_safe_copy_part(memory->words, from, wanted) & ~(sizeof(uint64_t) - 1);
        if (got > 0) {
            r->visit(r->context, from, memory->words, got / sizeof(uint64_t));
        }
        memory->bytes_read += got;
        use_up(r, got);
        from += got;
        if (got < wanted) {
            uintptr_t next = (from | (PAGE - 1)) + 1;
            memory->bytes_refused += next - from;
            from = next;
        }
    }
}

/* Copies what is not hidden of pages that are there. */
static void copy_shown(reading *r, uintptr_t from, uintptr_t limit)
{
    pp_leak_memory *memory = r->memory;
    if (r->only != NULL) {
        copy(r, from, limit);
        return;
    }
    while (memory->hidden_before < memory->hidden_count &&
           memory->hidden[memory->hidden_before].limit <= from) {
        memory->hidden_before++;
    }
    for (size_t i = memory->hidden_before; i < memory->hidden_count && from < limit; i++) {
        const pp_leak_span *span = &memory->hidden[i];
        if (span->start >= limit) {
            break;
        }
        if (span->start > from) {
            copy(r, from, span->start);
        }
        from = span->limit > from ? span->limit : from;
    }
    copy(r, from, limit);
}

static bool is_wanted(const reading *r, const pp_leak_range *range, uint64_t page)
{
    if (page & is_swapped) {
        r->memory->bytes_swapped += PAGE;
    }
    return page & is_present && (range->written || !(page & is_of_file));
}

/* Copies runs of pages that are there. */
static void copy_pages(reading *r, const pp_leak_range *range, const pp_leak_span *span,
                       size_t count)
{
    const uint64_t *pages = r->memory->pages;
    uintptr_t first = span->start & ~(uintptr_t)(PAGE - 1);
    for (size_t i = 0; i < count; i++) {
        size_t run = i;
        while (i < count && is_wanted(r, range, pages[i])) {
            i++;
        }
        uintptr_t from = first + (run << PAGE_SHIFT);
        uintptr_t limit = first + (i << PAGE_SHIFT);
        from = from > span->start ? from : span->start;
        limit = limit < span->limit ? limit : span->limit;
        if (from < limit && i > run) {
            copy_shown(r, from, limit);
        }
    }
}

/* Reads some pages from `from` on. Returns where they end. */
static uintptr_t read_some(reading *r, const pp_leak_range *range, uintptr_t from, uintptr_t limit)
{
    uintptr_t page = from >> PAGE_SHIFT;
    uintptr_t pages = ((limit + PAGE - 1) >> PAGE_SHIFT) - page;
    size_t wanted = pages < PAGES_A_READ ? pages : PAGES_A_READ;
    long got = pp_file_read_at(r->pagemap, r->memory->pages, wanted * sizeof(uint64_t),
                               page * sizeof(uint64_t));
    if (got <= 0) {
        r->error = got < 0 ? (int)got : 0;
        return limit; /* the range is gone */
    }
    size_t count = (size_t)got / sizeof(uint64_t);
    uintptr_t end = (page + count) << PAGE_SHIFT;
    const pp_leak_span span = {from, end < limit ? end : limit};
    copy_pages(r, range, &span, count);
    use_up(r, count * ABSENT_BYTES);
    return span.limit;
}

static int open_pagemap(void)
{
    return pp_own_open("/proc/thread-self/pagemap", O_RDONLY, 0);
}

int pp_leak_memory_read(pp_leak_memory *memory, pp_leak_visit *visit, void *context)
{
    reading r = {.memory = memory,
                 .visit = visit,
                 .context = context,
                 .pagemap = open_pagemap(),
                 .left = SLICE};
    if (r.pagemap < 0) {
        return r.pagemap;
    }
    while (r.error == 0 && r.left > 0 && memory->range < memory->range_count) {
        const pp_leak_range *range = &memory->ranges[memory->range];
        uintptr_t from = memory->next > range->at.start ? memory->next : range->at.start;
        memory->next = read_some(&r, range, from, range->at.limit);
        memory->range += memory->next >= range->at.limit;
    }
    pp_own_close(r.pagemap);
    return r.error != 0 ? r.error : memory->range < memory->range_count;
}

int pp_leak_memory_read_span(pp_leak_memory *memory, const pp_leak_span *span, pp_leak_visit *visit,
                             void *context)
{
    reading r = {.memory = memory,
                 .visit = visit,
                 .context = context,
                 .pagemap = open_pagemap(),
                 .only = span};
    if (r.pagemap < 0) {
        return r.pagemap;
    }
    for (size_t i = 0; i < memory->range_count && r.error == 0; i++) {
        const pp_leak_range *range = &memory->ranges[i];
        uintptr_t from = span->start > range->at.start ? span->start : range->at.start;
        uintptr_t limit = span->limit < range->at.limit ? span->limit : range->at.limit;
        while (from < limit && r.error == 0) {
            from = read_some(&r, range, from, limit);
        }
    }
    pp_own_close(r.pagemap);
    return r.error;
}
