/* SPDX-License-Identifier: MIT
 *
 * test_leak_memory.c: all memory is read once, and nothing is touched that is not there.
 */
#include "kinds/heap/leak_memory.h"

#include "base/compiler.h"
#include "modules/code_query.h"
#include "sys/beside.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGES = 64 };

static size_t page;

static const uint64_t magic = UINT64_C(0x5ca1ab1e0ddba11);

static uint64_t in_variables[64];

typedef struct seen {
    uintptr_t low, high;
    size_t magics, words;
    uintptr_t last;
    bool ascending;
} seen;

PP_RAW_MEMORY static void visit(void *context, uintptr_t address, const uint64_t *words,
                                size_t count)
{
    seen *s = context;
    s->ascending &= address >= s->last;
    s->last = address + count * sizeof *words;
    for (size_t i = 0; i < count; i++) {
        uintptr_t at = address + i * sizeof *words;
        if (at >= s->low && at < s->high) {
            s->words++;
            s->magics += words[i] == magic;
        }
    }
}

/* Of a sanitizer: terabytes, whose pages take minutes to look at. */
static void leave_out_reserves(pp_leak_memory *memory)
{
    for (size_t i = 0; i < memory->range_count; i++) {
        pp_leak_span *at = &memory->ranges[i].at;
        at->limit = at->limit - at->start > UINT64_C(1) << 36 ? at->start : at->limit;
    }
}

static void read_to_end(pp_leak_memory *memory, seen *s)
{
    int more = 1;
    leave_out_reserves(memory);
    while (more == 1) {
        more = pp_leak_memory_read(memory, visit, s);
    }
    assert_int_equal(more, 0);
}

static void read_all(pp_leak_memory *memory, pp_arena *arena, const void *low, size_t size, seen *s)
{
    *s = (seen){.low = (uintptr_t)low, .high = (uintptr_t)low + size, .ascending = true};
    assert_int_equal(pp_leak_memory_list(memory, arena), 0);
    pp_leak_memory_hidden_end(memory);
    read_to_end(memory, s);
    assert_true(s->ascending);
}

static void every_word_is_seen_once(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    pp_leak_memory memory;
    seen s;
    uint64_t on_stack[32];
    uint64_t *volatile block = malloc(100 * sizeof *block);
    for (unsigned i = 0; i < 32; i++) {
        in_variables[i] = on_stack[i] = block[i] = magic;
    }
    read_all(&memory, &arena, in_variables, sizeof in_variables, &s);
    assert_int_equal(s.magics, 32);
    assert_int_equal(s.words, 64);
    read_all(&memory, &arena, on_stack, sizeof on_stack, &s);
    assert_int_equal(s.magics, 32);
    read_all(&memory, &arena, block, 100 * sizeof *block, &s);
    assert_int_equal(s.magics, 32);
    free(block);
    pp_arena_release(&arena);
}

static void spans_are_hidden(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    pp_leak_memory memory;
    seen s = {.low = 0, .high = UINTPTR_MAX, .ascending = true};
    uint64_t *at =
        mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(at != MAP_FAILED);
    for (unsigned i = 0; i < PAGES * page / sizeof *at; i++) {
        at[i] = magic;
    }
    uintptr_t start = (uintptr_t)at;
    s.low = start;
    s.high = start + PAGES * page;
    assert_int_equal(pp_leak_memory_list(&memory, &arena), 0);
    const pp_leak_range *range = pp_leak_memory_find(&memory, start);
    assert_non_null(range);
    assert_true(range->written);
    pp_leak_memory_hide(&memory, start + 3 * page + 64, start + 5 * page);
    pp_leak_memory_hide(&memory, start + 8, start + 24);
    pp_leak_memory_hide(&memory, start + 63 * page, start + 200 * page);
    pp_leak_memory_hidden_end(&memory);
    read_to_end(&memory, &s);
    size_t hidden = 2 + (2 * page - 64) / 8 + page / 8;
    assert_int_equal(s.magics, PAGES * page / 8 - hidden);

    /* A span can be read although it is hidden. */
    s.magics = s.last = 0;
    const pp_leak_span span = {start + 3 * page + 64, start + 5 * page};
    assert_int_equal(pp_leak_memory_read_span(&memory, &span, visit, &s), 0);
    assert_int_equal(s.magics, (2 * page - 64) / 8);
    munmap(at, PAGES * page);
    pp_arena_release(&arena);
}

static size_t pages_there(void *at)
{
    unsigned char there[PAGES];
    size_t count = 0;
    assert_int_equal(mincore(at, PAGES * page, there), 0);
    for (unsigned i = 0; i < PAGES; i++) {
        count += there[i] & 1;
    }
    return count;
}

static void absent_pages_stay_absent(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    pp_leak_memory memory;
    seen s;
    char *at = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(at != MAP_FAILED);
    madvise(at, PAGES * page, MADV_NOHUGEPAGE);
    for (unsigned i = 0; i < PAGES; i += 4) {
        at[i * page] = 1;
    }
    assert_int_equal(pages_there(at), PAGES / 4);
    read_all(&memory, &arena, at, PAGES * page, &s);
    assert_int_equal(s.words, PAGES / 4 * page / 8);
    assert_int_equal(pages_there(at), PAGES / 4);

    /* Read-only pages are read if they were changed; unreadable ones are not. */
    mprotect(at, 8 * page, PROT_READ);
    mprotect(at + 8 * page, 8 * page, PROT_NONE);
    read_all(&memory, &arena, at, PAGES * page, &s);
    assert_int_equal(s.words, (PAGES / 4 - 2) * page / 8);

    /* What has gone since the listing is passed over. */
    assert_int_equal(pp_leak_memory_list(&memory, &arena), 0);
    munmap(at, PAGES * page);
    s.words = s.last = 0;
    read_to_end(&memory, &s);
    assert_int_equal(s.words, 0);
    pp_arena_release(&arena);
}

/* The ring of a perf event stands for all devices. */
static void devices_are_left_out(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    pp_leak_memory memory;
    struct perf_event_attr dummy = {.type = PERF_TYPE_SOFTWARE,
                                    .size = sizeof dummy,
                                    .config = PERF_COUNT_SW_DUMMY,
                                    .exclude_kernel = 1,
                                    .exclude_hv = 1};
    int event = (int)syscall(SYS_perf_event_open, &dummy, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    size_t size = 2 * (size_t)getpagesize();
    void *ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
    if (event < 0 || ring == MAP_FAILED) {
        skip();
    }
    assert_int_equal(pp_leak_memory_list(&memory, &arena), 0);
    assert_null(pp_leak_memory_find(&memory, (uintptr_t)ring));
    munmap(ring, size);
    close(event);
    pp_arena_release(&arena);
}

static void huge_pages_are_read(void **state)
{
    (void)state;
    enum { HUGE_PAGE = 2 << 20 };
    pp_arena arena = PP_ARENA_INIT;
    pp_leak_memory memory;
    seen s;
    char *at = mmap(NULL, 4 * (size_t)HUGE_PAGE, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(at != MAP_FAILED);
    madvise(at, 4 * (size_t)HUGE_PAGE, MADV_HUGEPAGE);
    uint64_t *second =
        (uint64_t *)(((uintptr_t)at + 2 * HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
    for (size_t i = 0; i < HUGE_PAGE / sizeof *second; i += 512) {
        second[i] = magic;
    }
    read_all(&memory, &arena, second, HUGE_PAGE, &s);
    assert_int_equal(s.magics, HUGE_PAGE / sizeof *second / 512);
    /* The others stay absent. */
    read_all(&memory, &arena, second + HUGE_PAGE / sizeof *second, HUGE_PAGE, &s);
    assert_int_equal(s.words, 0);
    munmap(at, 4 * (size_t)HUGE_PAGE);
    pp_arena_release(&arena);
}

/* ---- where they are ---- */

typedef struct hole {
    uintptr_t start, at, limit; /* of the memory, of a page that becomes unreadable */
    bool made;
    uint8_t seen[PAGES];
} hole;

/* A page becomes unreadable after the visit of its piece has begun. */
PP_RAW_MEMORY static void make_hole(void *context, uintptr_t address, const uint64_t *words,
                                    size_t count)
{
    hole *h = context;
    uintptr_t limit = address + count * sizeof *words;
    if (!h->made && address <= h->at && limit > h->at) {
        h->made = true;
        mprotect((void *)h->at, page, PROT_NONE);
    }
    for (uintptr_t at = address; at < limit; at += sizeof *words) {
        if (words[(at - address) / sizeof *words] == magic && at >= h->start && at < h->limit) {
            h->seen[(at - h->start) / page] = 1;
        }
    }
}

static void do_nothing(void *unused)
{
    (void)unused;
}

static void memory_that_goes_while_it_is_read_is_passed_over(void **state)
{
    (void)state;
    enum { GONE = 40 };
    pp_arena arena = PP_ARENA_INIT;
    pp_leak_memory memory;
    if (!pp_beside(do_nothing, NULL)) {
        skip();
    }
    char *at = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(at != MAP_FAILED);
    for (size_t i = 0; i < PAGES; i++) {
        *(uint64_t *)(at + (i + 1) * page - sizeof magic) = magic;
    }
    hole h = {.start = (uintptr_t)at,
              .at = (uintptr_t)at + GONE * page,
              .limit = (uintptr_t)at + PAGES * page};
    assert_int_equal(pp_leak_memory_list(&memory, &arena), 0);
    pp_leak_memory_hidden_end(&memory);
    leave_out_reserves(&memory);
    while (pp_leak_memory_read(&memory, make_hole, &h) == 1) {
    }
    assert_true(h.made);
    for (size_t i = 0; i < PAGES; i++) {
        assert_int_equal(h.seen[i], i != GONE);
    }
    assert_true(memory.bytes_refused >= page);
    munmap(at, PAGES * page);
    pp_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_word_is_seen_once),  cmocka_unit_test(spans_are_hidden),
        cmocka_unit_test(absent_pages_stay_absent), cmocka_unit_test(devices_are_left_out),
        cmocka_unit_test(huge_pages_are_read),
    };
    const struct CMUnitTest in_place[] = {
        cmocka_unit_test(memory_that_goes_while_it_is_read_is_passed_over),
    };
    page = (size_t)sysconf(_SC_PAGESIZE);
    int failed = cmocka_run_group_tests_name("copies", tests, NULL, NULL);
    pp_code_query_permit();
    failed += cmocka_run_group_tests_name("in place", tests, NULL, NULL);
    return failed + cmocka_run_group_tests(in_place, NULL, NULL);
}
