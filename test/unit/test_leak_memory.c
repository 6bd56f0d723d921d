/* SPDX-License-Identifier: MIT
 *
 * test_leak_memory.c: all memory is read once, and nothing is touched that is not there.
 */
#include "kinds/heap/leak_memory.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGE = 4096, PAGES = 64 };

static const uint64_t magic = UINT64_C(0x5ca1ab1e0ddba11);

static uint64_t in_variables[64];

typedef struct seen {
    uintptr_t low, high;
    size_t magics, words;
    uintptr_t last;
    bool ascending;
} seen;

static void visit(void *context, uintptr_t address, const uint64_t *words, size_t count)
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

/* Leaves out what a sanitizer has reserved: terabytes, whose pages take minutes to look at. */
static void read_to_end(pp_leak_memory *memory, seen *s)
{
    int more = 1;
    for (size_t i = 0; i < memory->range_count; i++) {
        pp_leak_span *at = &memory->ranges[i].at;
        at->limit = at->limit - at->start > UINT64_C(1) << 36 ? at->start : at->limit;
    }
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
        mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(at != MAP_FAILED);
    for (unsigned i = 0; i < PAGES * PAGE / sizeof *at; i++) {
        at[i] = magic;
    }
    uintptr_t start = (uintptr_t)at;
    s.low = start;
    s.high = start + PAGES * PAGE;
    assert_int_equal(pp_leak_memory_list(&memory, &arena), 0);
    const pp_leak_range *range = pp_leak_memory_find(&memory, start);
    assert_non_null(range);
    assert_true(range->written);
    pp_leak_memory_hide(&memory, start + 3 * PAGE + 64, start + 5 * PAGE);
    pp_leak_memory_hide(&memory, start + 8, start + 24);
    pp_leak_memory_hide(&memory, start + 63 * PAGE, start + 200 * PAGE);
    pp_leak_memory_hidden_end(&memory);
    read_to_end(&memory, &s);
    size_t hidden = 2 + (2 * PAGE - 64) / 8 + PAGE / 8;
    assert_int_equal(s.magics, PAGES * PAGE / 8 - hidden);

    /* A span can be read although it is hidden. */
    s.magics = s.last = 0;
    const pp_leak_span span = {start + 3 * PAGE + 64, start + 5 * PAGE};
    assert_int_equal(pp_leak_memory_read_span(&memory, &span, visit, &s), 0);
    assert_int_equal(s.magics, (2 * PAGE - 64) / 8);
    munmap(at, PAGES * PAGE);
    pp_arena_release(&arena);
}

static size_t pages_there(void *at)
{
    unsigned char there[PAGES];
    size_t count = 0;
    assert_int_equal(mincore(at, PAGES * PAGE, there), 0);
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
    char *at = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(at != MAP_FAILED);
    madvise(at, PAGES * PAGE, MADV_NOHUGEPAGE);
    for (unsigned i = 0; i < PAGES; i += 4) {
        at[i * PAGE] = 1;
    }
    assert_int_equal(pages_there(at), PAGES / 4);
    read_all(&memory, &arena, at, PAGES * PAGE, &s);
    assert_int_equal(s.words, PAGES / 4 * PAGE / 8);
    assert_int_equal(pages_there(at), PAGES / 4);

    /* Read-only pages are read if they were changed; unreadable ones are not. */
    mprotect(at, 8 * PAGE, PROT_READ);
    mprotect(at + 8 * PAGE, 8 * PAGE, PROT_NONE);
    read_all(&memory, &arena, at, PAGES * PAGE, &s);
    assert_int_equal(s.words, (PAGES / 4 - 2) * PAGE / 8);

    /* What has gone since the listing is passed over. */
    assert_int_equal(pp_leak_memory_list(&memory, &arena), 0);
    munmap(at, PAGES * PAGE);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_word_is_seen_once),  cmocka_unit_test(spans_are_hidden),
        cmocka_unit_test(absent_pages_stay_absent), cmocka_unit_test(devices_are_left_out),
        cmocka_unit_test(huge_pages_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
