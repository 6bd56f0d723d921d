/* SPDX-License-Identifier: MIT
 *
 * page_runs.c: see page_runs.h.
 *
 * A scan holds the lock of the process's memory map, for which other threads wait that map memory: so
 * it finds 8192 pages at most, which is a tenth of a millisecond, in a GiB at most, which is one where
 * the tables are there and nothing else. Whether a page is of a file is in the kernel's description of
 * it, which is seldom in a cache: that takes four times as long.
 *
 * Formats: proc(5), pagemap; Documentation/admin-guide/mm/pagemap.rst, PAGEMAP_SCAN; mincore(2).
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#include "kinds/heap/page_runs.h"

#include "arch/system_call.h"
#include "sys/file_calls.h"
#include "sys/own_files.h"

#include <errno.h>
#include <sys/ioctl.h>

enum { ASKS_CORE = -4096 /* no descriptor, and no error */ };

static const uintptr_t scan_bytes = UINT64_C(1) << 30;
static const uint64_t scan_pages = 8192;

/* Of an entry of pagemap. */
static const uint64_t is_present = UINT64_C(1) << 63;
static const uint64_t is_swapped = UINT64_C(1) << 62;
static const uint64_t is_of_file = UINT64_C(1) << 61;

/* Of a region of a scan; older headers of the kernel lack these. */
enum { FILE_PAGES = 1 << 2, PRESENT = 1 << 3, SWAPPED = 1 << 4, ZEROS = 1 << 5 };

typedef struct scan_argument {
    uint64_t size, flags;
    uint64_t start, end, walk_end;
    uint64_t regions, region_count;
    uint64_t max_pages;
    uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
} scan_argument;

static const unsigned long pagemap_scan = _IOWR('f', 16, scan_argument);

int pp_page_runs_open(pp_page_runs *runs, const char *path, bool may_scan)
{
    runs->pagemap = pp_own_open(path, O_RDONLY, 0);
    runs->scans = may_scan;
    return runs->pagemap < 0 ? runs->pagemap : 0;
}

void pp_page_runs_open_core(pp_page_runs *runs)
{
    runs->pagemap = ASKS_CORE;
    runs->scans = false;
    runs->core_pages = PP_PAGE_BYTES_OF_CORE;
}

void pp_page_runs_close(pp_page_runs *runs)
{
    if (runs->pagemap != ASKS_CORE) {
        pp_own_close(runs->pagemap);
    }
}

/* Joins runs that meet. */
static void add(pp_page_runs *runs, uintptr_t start, uintptr_t limit, pp_page_state state)
{
    pp_page_run *last = runs->count > 0 ? &runs->list[runs->count - 1] : NULL;
    if (state == PP_PAGE_ABSENT) {
        return;
    }
    if (last != NULL && last->limit == start && last->state == state) {
        last->limit = limit;
    } else {
        runs->list[runs->count++] = (pp_page_run){start, limit, state};
    }
}

/* ---- entries ---- */

static pp_page_state state_of_entry(uint64_t entry)
{
    return entry & is_swapped      ? PP_PAGE_SWAPPED
           : !(entry & is_present) ? PP_PAGE_ABSENT
           : entry & is_of_file    ? PP_PAGE_OF_FILE
                                   : PP_PAGE_PRESENT;
}

static int read_entries(pp_page_runs *runs, uintptr_t from, uintptr_t limit, uintptr_t *end)
{
    const uintptr_t size = pp_page_bytes();
    uintptr_t pages = (limit - from) / size;
    size_t wanted = pages < PP_PAGE_ENTRIES ? pages : PP_PAGE_ENTRIES;
    uint64_t *entries = runs->answer.entries;
    long got = pp_file_read_at(runs->pagemap, entries, wanted * sizeof *entries,
                               from / size * sizeof *entries);
    if (got <= 0) {
        return got < 0 ? (int)got : -ESRCH;
    }
    size_t count = (size_t)got / sizeof *entries;
    for (size_t i = 0; i < count; i++) {
        uintptr_t page = from + i * size;
        add(runs, page, page + size, state_of_entry(entries[i]));
    }
    *end = from + count * size;
    return 0;
}

/* ---- mincore ---- */

/* An answer that a page is not mapped says not which one: less and less is asked for, then more again. */
static int read_core(pp_page_runs *runs, uintptr_t from, uintptr_t limit, uintptr_t *end)
{
    const uintptr_t size = pp_page_bytes();
    uintptr_t pages = (limit - from) / size;
    uint8_t *core = runs->answer.core;
    size_t count = pages < runs->core_pages ? pages : runs->core_pages;
    long error;
    while ((error = pp_system_call(SYS_mincore, from, count * size, core)) == -ENOMEM &&
           count > 1) {
        count /= 2;
    }
    runs->core_pages = error == -ENOMEM                     ? 1
                       : count <= PP_PAGE_BYTES_OF_CORE / 2 ? count * 2
                                                            : PP_PAGE_BYTES_OF_CORE;
    if (error != 0 && error != -ENOMEM) {
        return (int)error;
    }
    *end = from + size;
    for (size_t i = 0; error == 0 && i < count && runs->count < PP_PAGE_ENTRIES; i++) {
        *end = from + (i + 1) * size;
        add(runs, *end - size, *end, core[i] & 1 ? PP_PAGE_PRESENT : PP_PAGE_ABSENT);
    }
    return 0;
}

/* ---- a scan ---- */

static pp_page_state state_of_region(uint64_t categories)
{
    return categories & SWAPPED                            ? PP_PAGE_SWAPPED
           : !(categories & PRESENT) || categories & ZEROS ? PP_PAGE_ABSENT
           : categories & FILE_PAGES                       ? PP_PAGE_OF_FILE
                                                           : PP_PAGE_PRESENT;
}

static int scan(pp_page_runs *runs, uintptr_t from, uintptr_t limit, bool files, uintptr_t *end)
{
    scan_argument argument = {
        .size = sizeof argument,
        .start = from,
        .end = limit - from < scan_bytes ? limit : from + scan_bytes,
        .regions = (uintptr_t)runs->answer.regions,
        .region_count = PP_PAGE_ENTRIES,
        .max_pages = scan_pages,
        .category_anyof_mask = PRESENT | SWAPPED,
        .return_mask = PRESENT | SWAPPED | ZEROS | (files ? FILE_PAGES : 0),
    };
    long count = pp_system_call(SYS_ioctl, runs->pagemap, pagemap_scan, &argument);
    if (count < 0 || argument.walk_end <= from) {
        return count < 0 ? (int)count : -EINVAL;
    }
    for (long i = 0; i < count; i++) {
        add(runs, runs->answer.regions[i].start, runs->answer.regions[i].end,
            state_of_region(runs->answer.regions[i].categories));
    }
    *end = argument.walk_end < limit ? argument.walk_end : limit;
    return 0;
}

int pp_page_runs_read(pp_page_runs *runs, uintptr_t from, uintptr_t limit, bool files,
                      uintptr_t *end)
{
    runs->count = 0;
    if (runs->scans) {
        if (scan(runs, from, limit, files, end) == 0) {
            return 0;
        }
        runs->scans = false; /* an older kernel, or memory of a kind that it does not scan */
    }
    return runs->pagemap == ASKS_CORE ? read_core(runs, from, limit, end)
                                      : read_entries(runs, from, limit, end);
}
