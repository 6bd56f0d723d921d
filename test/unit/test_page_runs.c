/* SPDX-License-Identifier: MIT
 *
 * test_page_runs.c: which pages are there: all ways say the same, and none brings a page back.
 */
#include "kinds/heap/page_runs.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel.h"

enum { PAGES = 2000 }; /* more than one answer of pagemap has */

static uintptr_t page;

/* The states of pages from `at` on, a letter each. */
static void states(pp_page_runs *runs, uintptr_t at, size_t pages, char *to)
{
    uintptr_t limit = at + pages * page;
    memset(to, '.', pages);
    to[pages] = '\0';
    for (uintptr_t from = at, end = 0; from < limit; from = end) {
        assert_int_equal(pp_page_runs_read(runs, from, limit, true, &end), 0);
        assert_in_range(end, from + page, limit);
        for (size_t i = 0; i < runs->count; i++) {
            const pp_page_run *run = &runs->list[i];
            assert_in_range(run->start, from, end);
            assert_in_range(run->limit, run->start + page, end);
            for (uintptr_t p = run->start; p < run->limit; p += page) {
                to[(p - at) / page] = ".pfs"[run->state];
            }
        }
    }
}

static void by_core(void *at, size_t pages, const char *expected)
{
    pp_page_runs runs;
    char found[PAGES + 1];
    pp_page_runs_open_core(&runs);
    states(&runs, (uintptr_t)at, pages, found);
    pp_page_runs_close(&runs);
    assert_string_equal(found, expected);
}

/* As the kernel's entries say, and as a scan says, if this kernel has it. */
static void both_ways(void *at, size_t pages, const char *expected)
{
    pp_page_runs runs;
    char found[PAGES + 1];
    assert_true(pages <= PAGES);
    assert_int_equal(pp_page_runs_open(&runs, PP_OWN_PAGEMAP, false), 0);
    states(&runs, (uintptr_t)at, pages, found);
    pp_page_runs_close(&runs);
    assert_string_equal(found, expected);
    assert_int_equal(pp_page_runs_open(&runs, PP_OWN_PAGEMAP, true), 0);
    states(&runs, (uintptr_t)at, pages, found);
    pp_page_runs_close(&runs);
    assert_string_equal(found, expected);
}

static void *map(size_t pages, int protection, int flags)
{
    void *at = mmap(NULL, pages * page, protection, flags, -1, 0);
    assert_true(at != MAP_FAILED);
    madvise(at, pages * page, MADV_NOHUGEPAGE);
    return at;
}

static void both_ways_say_the_same(void **state)
{
    char expected[PAGES + 1] = "";
    (void)state;
    char *at = map(PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    for (size_t i = 0; i < PAGES; i++) {
        bool there = i * i % 7 < 3;
        expected[i] = there ? 'p' : '.';
        if (there) {
            at[i * page] = 1;
        }
    }
    both_ways(at, PAGES, expected);
    by_core(at, PAGES, expected);
    munmap(at, PAGES * page);

    at = map(3, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
    at[page] = 1;
    both_ways(at, 3, ".f.");
    by_core(at, 3, ".p.");
    munmap(at, 3 * page);
}

/* It says of no page what it knows where one is not mapped. */
static void mincore_passes_over_holes(void **state)
{
    enum { COUNT = 40 };
    char expected[COUNT + 1];
    (void)state;
    char *at = map(COUNT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    memset(at, 1, COUNT * page);
    memset(expected, 'p', COUNT);
    expected[COUNT] = '\0';
    for (size_t i = 7; i < COUNT; i += 11) {
        munmap(at + i * page, 2 * page);
        memset(expected + i, '.', 2);
    }
    by_core(at, COUNT, expected);
    munmap(at, COUNT * page);
}

static void what_was_only_read_has_no_memory(void **state)
{
    pp_page_runs runs;
    char found[3];
    (void)state;
    char *at = map(2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    at[page] = at[0]; /* the page of zeros; a page of its own */
    assert_int_equal(pp_page_runs_open(&runs, PP_OWN_PAGEMAP, true), 0);
    states(&runs, (uintptr_t)at, 2, found);
    assert_string_equal(found, runs.scans ? ".p" : "pp");
    pp_page_runs_close(&runs);
    munmap(at, 2 * page);
}

/* Entries of pagemap that a file has, in the place of the kernel's. */
static void swapped_pages_are_said_to_be_swapped(void **state)
{
    const uint64_t entries[] = {0,
                                UINT64_C(1) << 63,
                                UINT64_C(1) << 62 | 12345,
                                UINT64_C(1) << 62 | UINT64_C(1) << 61,
                                UINT64_C(1) << 63 | UINT64_C(1) << 61,
                                UINT64_C(1) << 55};
    enum { COUNT = sizeof entries / sizeof *entries };
    char path[] = "/tmp/pagemap.XXXXXX";
    char found[COUNT + 1];
    pp_page_runs runs = {.pagemap = mkstemp(path)};
    uintptr_t end = 0;
    (void)state;
    assert_true(runs.pagemap >= 0);
    unlink(path);
    assert_int_equal(write(runs.pagemap, entries, sizeof entries), sizeof entries);
    states(&runs, 0, COUNT, found);
    assert_string_equal(found, ".pssf.");
    assert_int_equal(pp_page_runs_read(&runs, COUNT * page, (COUNT + 1) * page, true, &end),
                     -ESRCH);
    close(runs.pagemap);
}

static bool has_swap(void)
{
    char text[512] = "";
    int fd = open("/proc/swaps", O_RDONLY);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    close(fd);
    const char *line = got > 0 ? strchr(text, '\n') : NULL;
    return line != NULL && line[1] != '\0';
}

/* Where there is swap, and the kernel takes the advice. */
static void swapped_pages_stay_swapped(void **state)
{
    pp_page_runs runs;
    char found[65];
    char again[65];
    (void)state;
    if (!has_swap()) {
        skip();
    }
    char *at = map(64, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    for (size_t i = 0; i < 64; i++) {
        memset(at + i * page, (int)i + 1, page);
    }
    if (madvise(at, 64 * page, MADV_PAGEOUT) != 0) {
        skip();
    }
    assert_int_equal(pp_page_runs_open(&runs, PP_OWN_PAGEMAP, true), 0);
    states(&runs, (uintptr_t)at, 64, found);
    states(&runs, (uintptr_t)at, 64, again);
    printf("swapped: %s\n", found);
    for (size_t i = 0; i < 64; i++) {
        assert_true(found[i] != 's' || again[i] == 's');
        assert_int_not_equal(found[i], '.');
    }
    pp_page_runs_close(&runs);
    munmap(at, 64 * page);
}

/* Threads that map memory wait for a scan. The pages are that of zeros, which takes no memory. */
static void a_scan_is_short(void **state)
{
    enum { MOST = 8192 };
    pp_page_runs runs;
    size_t scans = 0;
    (void)state;
    char *at = map(3 * (size_t)MOST, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS);
    const uintptr_t limit = (uintptr_t)at + 3 * MOST * page;
    for (uintptr_t p = (uintptr_t)at; p < limit; p += page) {
        assert_int_equal(*(volatile char *)p, 0);
    }
    assert_int_equal(pp_page_runs_open(&runs, PP_OWN_PAGEMAP, true), 0);
    for (uintptr_t from = (uintptr_t)at, end = 0; from < limit && runs.scans; from = end) {
        assert_int_equal(pp_page_runs_read(&runs, from, limit, false, &end), 0);
        assert_in_range(end, from + page, from + MOST * page);
        scans++;
    }
    assert_true(scans == 3 || !runs.scans);
    pp_page_runs_close(&runs);
    munmap(at, 3 * (size_t)MOST * page);
}

/* A collector's reserve; where the kernel has no scan, this would take minutes. */
static void a_reserve_of_terabytes_is_passed_over(void **state)
{
    const size_t bytes = (size_t)8 << 40;
    const size_t step = bytes / 16;
    pp_page_runs runs;
    size_t found = 0;
    (void)state;
    need_kernel();
    assert_int_equal(pp_page_runs_open(&runs, PP_OWN_PAGEMAP, true), 0);
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    uintptr_t end = 0;
    if (at == MAP_FAILED ||
        pp_page_runs_read(&runs, (uintptr_t)at, (uintptr_t)at + page, true, &end) != 0 ||
        !runs.scans) {
        skip();
    }
    madvise(at, bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < 16; i++) {
        at[i * step + 3 * page + 57] = 1;
    }
    for (uintptr_t from = (uintptr_t)at; from < (uintptr_t)at + bytes; from = end) {
        assert_int_equal(pp_page_runs_read(&runs, from, (uintptr_t)at + bytes, false, &end), 0);
        for (size_t i = 0; i < runs.count; i++) {
            assert_int_equal(runs.list[i].start, (uintptr_t)at + found * step + 3 * page);
            assert_int_equal(runs.list[i].limit - runs.list[i].start, page);
            found++;
        }
    }
    assert_int_equal(found, 16);
    pp_page_runs_close(&runs);
    munmap(at, bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ways_say_the_same),
        cmocka_unit_test(mincore_passes_over_holes),
        cmocka_unit_test(what_was_only_read_has_no_memory),
        cmocka_unit_test(swapped_pages_are_said_to_be_swapped),
        cmocka_unit_test(swapped_pages_stay_swapped),
        cmocka_unit_test(a_scan_is_short),
        cmocka_unit_test(a_reserve_of_terabytes_is_passed_over),
    };
    page = (uintptr_t)sysconf(_SC_PAGESIZE);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
