/* SPDX-License-Identifier: MIT
 *
 * leak_memory.c: lists ranges, asks the kernel for their pages, and copies these piece by piece.
 *
 * Files of /proc are opened apart (sys/apart.h), for SLICE bytes at a time: signals of the calling
 * thread wait meanwhile.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: unit.leak_memory, e2e.leak, stress.leak_storm
 */
#include "kinds/heap/leak_memory.h"

#include "base/sort.h"
#include "modules/maps.h"
#include "sys/apart.h"
#include "sys/file_calls.h"
#include "sys/own_files.h"
#include "sys/safe_read.h"

#include <errno.h>
#include <string.h>

enum {
    PAGE_SHIFT = 12,
    PAGE = 1 << PAGE_SHIFT,
    COPY_BYTES = 128 * 1024,  /* of one copy: stays in the cache until it is looked at */
    PAGES_A_READ = 512,       /* of pagemap: a page of entries */
    SLICE = 64 * 1024 * 1024, /* a fortieth of a second */
    HIDDEN_FIRST = 256
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
    *memory = (pp_leak_memory){.hidden_capacity = HIDDEN_FIRST};
    int error = pp_maps_text(arena, &text, &length);
    if (error != 0) {
        return error;
    }
    memory->ranges = pp_arena_array(arena, count_lines(text, length), sizeof *memory->ranges);
    memory->hidden = pp_arena_array(arena, HIDDEN_FIRST, sizeof *memory->hidden);
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
    size_t range;   /* where the reading is, and ends */
    uintptr_t next; /* 0: at the start of the range */
    const pp_leak_span *only;
    size_t hidden; /* no span before this one is still to come */
    uint64_t left; /* of the slice */
    int error;
} reading;

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
    const pp_leak_memory *memory = r->memory;
    while (r->only == NULL && r->hidden < memory->hidden_count &&
           memory->hidden[r->hidden].limit <= from) {
        r->hidden++;
    }
    for (size_t i = r->hidden; r->only == NULL && i < memory->hidden_count && from < limit; i++) {
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

/* Reads some pages from r->next on. */
static void read_some(reading *r, int pagemap, const pp_leak_range *range, uintptr_t limit)
{
    uintptr_t page = r->next >> PAGE_SHIFT;
    uintptr_t pages = ((limit + PAGE - 1) >> PAGE_SHIFT) - page;
    size_t wanted = pages < PAGES_A_READ ? pages : PAGES_A_READ;
    long got = pp_file_read_at(pagemap, r->memory->pages, wanted * sizeof(uint64_t),
                               page * sizeof(uint64_t));
    if (got <= 0) {
        r->error = got < 0 ? (int)got : 0;
        r->next = limit; /* the range is gone */
        return;
    }
    size_t count = (size_t)got / sizeof(uint64_t);
    uintptr_t end = (page + count) << PAGE_SHIFT;
    const pp_leak_span span = {r->next, end < limit ? end : limit};
    copy_pages(r, range, &span, count);
    r->left -= r->left < span.limit - span.start ? r->left : span.limit - span.start;
    r->next = span.limit;
}

static void read_slice(void *of_reading)
{
    reading *r = of_reading;
    int pagemap = pp_own_open("/proc/thread-self/pagemap", O_RDONLY, 0);
    r->error = pagemap < 0 ? pagemap : 0;
    for (r->left = SLICE; r->error == 0 && r->left > 0 && r->range < r->memory->range_count;) {
        const pp_leak_range *range = &r->memory->ranges[r->range];
        uintptr_t start = range->at.start;
        uintptr_t limit = range->at.limit;
        if (r->only != NULL) {
            start = start > r->only->start ? start : r->only->start;
            limit = limit < r->only->limit ? limit : r->only->limit;
        }
        r->next = r->next > start ? r->next : start;
        if (r->next < limit) {
            read_some(r, pagemap, range, limit);
        }
        if (r->next >= limit) {
            r->range++;
            r->next = 0;
        }
    }
    if (pagemap >= 0) {
        pp_own_close(pagemap);
    }
}

static int read_all(reading *r)
{
    while (r->error == 0 && r->range < r->memory->range_count) {
        pp_apart(read_slice, r);
    }
    return r->error;
}

int pp_leak_memory_read(pp_leak_memory *memory, pp_leak_visit *visit, void *context)
{
    reading r = {.memory = memory, .visit = visit, .context = context};
    return read_all(&r);
}

int pp_leak_memory_read_span(pp_leak_memory *memory, const pp_leak_span *span, pp_leak_visit *visit,
                             void *context)
{
    reading r = {.memory = memory, .visit = visit, .context = context, .only = span};
    return read_all(&r);
}
