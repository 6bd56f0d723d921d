/* SPDX-License-Identifier: MIT
 *
 * leak_memory.c: lists ranges, asks the kernel for their pages, and shows these piece by piece.
 *
 * A reading rests after SLICE bytes: signals of the calling thread wait meanwhile.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: unit.leak_memory, e2e.leak, stress.leak_storm
 */
#include "kinds/heap/leak_memory.h"

#include "arch/system_call.h"
#include "base/sort.h"
#include "modules/code_query.h"
#include "modules/maps.h"
#include "sys/beside.h"
#include "sys/safe_read.h"
#include "sys/tasks.h"

#include <errno.h>
#include <string.h>

enum {
    PIECE = 128 * 1024,        /* a copy of it stays in the cache until it is looked at */
    MOST_FAULTS = 8,           /* until the next rest; after them everything is copied */
    SLICE = 256 * 1024 * 1024, /* to be read without a rest: a tenth of a second */
    ASK_BYTES = 256 * 1024,    /* the time for a question which pages are there, as bytes */
    OWN_SPANS = 256            /* the most that are hidden beside one for each thread */
};

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
                        .of_file = line->path[0] != '\0' && line->path[0] != '[',
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
    memory->words = pp_arena_alloc(arena, PIECE);
    memory->runs = pp_arena_alloc(arena, sizeof *memory->runs);
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
    const pp_leak_span *only; /* NULL: all */
    uint64_t left;            /* bytes to read, until the next rest */
    uintptr_t most;           /* bytes of address space to read at once */
    bool in_place;            /* in a child that may end at a load */
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
        size_t wanted = limit - from < PIECE ? limit - from : PIECE;
        size_t got = pp_safe_copy_part(memory->words, from, wanted) & ~(sizeof(uint64_t) - 1);
        if (got > 0) {
            r->visit(r->context, from, memory->words, got / sizeof(uint64_t));
        }
        memory->bytes_read += got;
        use_up(r, got);
        from += got;
        if (got < wanted) {
            uintptr_t next = (from | (pp_page_bytes() - 1)) + 1;
            memory->bytes_refused += next - from;
            from = next;
        }
    }
}

/* At a fault, `next` says where to go on: the visit may inline nothing of the next piece. */
static void look(reading *r, uintptr_t from, uintptr_t limit)
{
    pp_leak_memory *memory = r->memory;
    while (from < limit) {
        size_t size = (limit - from < PIECE ? limit - from : PIECE) & ~(sizeof(uint64_t) - 1);
        __atomic_store_n(&memory->next, from, __ATOMIC_RELEASE);
        r->visit(r->context, from, (const uint64_t *)from, size / sizeof(uint64_t));
        memory->bytes_read += size;
        use_up(r, size);
        from += size > 0 ? size : limit - from;
    }
}

/* What is not hidden, of pages that are there. */
static void show(reading *r, const pp_leak_range *range, uintptr_t from, uintptr_t limit)
{
    if (r->in_place && !range->of_file) {
        look(r, from, limit);
    } else {
        copy(r, from, limit);
    }
}

static void show_rest(reading *r, const pp_leak_range *range, uintptr_t from, uintptr_t limit)
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
            show(r, range, from, span->start);
        }
        from = span->limit > from ? span->limit : from;
    }
    if (from < limit) {
        show(r, range, from, limit);
    }
}

/* Shows what is wanted of the runs between the two addresses. */
static void show_runs(reading *r, const pp_leak_range *range, uintptr_t from, uintptr_t limit)
{
    const pp_page_runs *runs = r->memory->runs;
    for (size_t i = 0; i < runs->count; i++) {
        const pp_page_run *run = &runs->list[i];
        uintptr_t start = run->start > from ? run->start : from;
        uintptr_t end = run->limit < limit ? run->limit : limit;
        if (run->state == PP_PAGE_SWAPPED) {
            r->memory->bytes_swapped += run->limit - run->start;
        } else if (start < end && (range->written || run->state != PP_PAGE_OF_FILE)) {
            show_rest(r, range, start, end);
        }
    }
}

/* Reads a part of the range from `from` on. Returns where it ends. */
static uintptr_t read_some(reading *r, const pp_leak_range *range, uintptr_t from, uintptr_t limit)
{
    const uintptr_t in_page = pp_page_bytes() - 1;
    uintptr_t end = limit;
    if (r->memory->by_core && range->of_file && !range->written) {
        return limit; /* a page that the program has written before looks like all others */
    }
    int error = pp_page_runs_read(r->memory->runs, from & ~in_page, (limit + in_page) & ~in_page,
                                  !range->written, &end);
    if (error != 0) {
        r->error = error != -ESRCH ? error : 0;
        return limit; /* the range is gone */
    }
    end = end < limit ? end : limit;
    show_runs(r, range, from, end);
    use_up(r, ASK_BYTES);
    return end;
}

static int begin_reading(const reading *r)
{
    bool may_ask = pp_code_query_is_permitted();
    int error = pp_page_runs_open(r->memory->runs, PP_OWN_PAGEMAP, may_ask);
    if (error == 0 || error == -ENOMEM || !may_ask) {
        return error;
    }
    pp_page_runs_open_core(r->memory->runs);
    r->memory->by_core = true;
    return 0;
}

static void read_until_rest(void *of_reading)
{
    reading *r = of_reading;
    pp_leak_memory *memory = r->memory;
    r->error = begin_reading(r);
    if (r->error != 0) {
        return;
    }
    while (r->error == 0 && r->left > 0 && memory->range < memory->range_count) {
        const pp_leak_range *range = &memory->ranges[memory->range];
        uintptr_t from = memory->next > range->at.start ? memory->next : range->at.start;
        uintptr_t left = range->at.limit - from;
        memory->next = read_some(r, range, from, from + (left < r->most ? left : r->most));
        memory->range += memory->next >= range->at.limit;
    }
    pp_page_runs_close(memory->runs);
}

/* The piece at whose loads the child has ended. */
static void copy_piece(const reading *of_child)
{
    reading r = *of_child;
    r.in_place = false;
    r.most = PIECE;
    r.left = 1;
    read_until_rest(&r);
}

int pp_leak_memory_read(pp_leak_memory *memory, pp_leak_visit *visit, void *context)
{
    reading r = {.memory = memory,
                 .visit = visit,
                 .context = context,
                 .left = SLICE,
                 .most = UINTPTR_MAX,
                 .in_place = pp_code_query_is_permitted()};
    for (unsigned faults = 0; r.in_place && !pp_beside(read_until_rest, &r); faults++) {
        copy_piece(&r);
        r.in_place = faults + 1 < MOST_FAULTS;
    }
    if (!r.in_place) {
        read_until_rest(&r);
    }
    return r.error != 0 ? r.error : memory->range < memory->range_count;
}

int pp_leak_memory_read_span(pp_leak_memory *memory, const pp_leak_span *span, pp_leak_visit *visit,
                             void *context)
{
    reading r = {.memory = memory, .visit = visit, .context = context, .only = span};
    int error = begin_reading(&r);
    if (error != 0) {
        return error;
    }
    for (size_t i = 0; i < memory->range_count && r.error == 0; i++) {
        const pp_leak_range *range = &memory->ranges[i];
        uintptr_t from = span->start > range->at.start ? span->start : range->at.start;
        uintptr_t limit = span->limit < range->at.limit ? span->limit : range->at.limit;
        while (from < limit && r.error == 0) {
            from = read_some(&r, range, from, limit);
        }
    }
    pp_page_runs_close(memory->runs);
    return r.error;
}
