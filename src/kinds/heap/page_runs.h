/* SPDX-License-Identifier: MIT
 *
 * page_runs.h: asks the kernel which pages of a process are there, and touches none.
 *
 *   PAGEMAP_SCAN (Linux 6.7)    runs of pages; tables that are not there cost nothing: a reserve of
 *                               terabytes is passed over at once
 *   /proc/self/pagemap          a word for each page, also of those that are absent
 *   mincore()                   a byte for each page; a process that has changed its user may not open the file
 *
 * Zone: NORMAL, and the fatal-signal writer (system calls).
 * Owns: an open file, from open to close. Callers are functions that pp_apart() calls (sys/apart.h).
 */
#ifndef PP_KINDS_HEAP_PAGE_RUNS_H
#define PP_KINDS_HEAP_PAGE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PP_OWN_PAGEMAP "/proc/thread-self/pagemap"

enum {
    PP_PAGE_ENTRIES = 512, /* of pagemap, read at once: a page of entries, where pages have 4 KiB */
    PP_PAGE_BYTES_OF_CORE = PP_PAGE_ENTRIES * 8 /* of mincore, likewise */
};

typedef enum pp_page_state {
    PP_PAGE_ABSENT, /* or full of zeros that no memory was given to */
    PP_PAGE_PRESENT,
    PP_PAGE_OF_FILE, /* present; shared memory counts as a file; PP_PAGE_PRESENT if not asked for */
    PP_PAGE_SWAPPED
} pp_page_state;

typedef struct pp_page_run {
    uintptr_t start, limit;
    pp_page_state state; /* not PP_PAGE_ABSENT */
} pp_page_run;

typedef struct pp_page_runs {
    int pagemap;
    bool scans;
    size_t core_pages; /* to ask mincore() for */
    size_t count;
    pp_page_run list[PP_PAGE_ENTRIES]; /* ascending */
    union {
        uint64_t entries[PP_PAGE_ENTRIES];
        uint8_t core[PP_PAGE_BYTES_OF_CORE];
        struct { /* page_region */
            uint64_t start, end, categories;
        } regions[PP_PAGE_ENTRIES];
    } answer;
} pp_page_runs;

/* `path`: the process's file, PP_OWN_PAGEMAP for this one. 0 or -errno, which is `pagemap` then, too.
 * `may_scan`: pp_code_query_is_permitted(). */
int pp_page_runs_open(pp_page_runs *runs, const char *path, bool may_scan);

/* After a failed one, for this process: mincore() is asked. It says of a file's memory what the kernel has in its page
 * cache, whether the process has touched it or not, and of swapped pages that they are absent: there is neither
 * PP_PAGE_OF_FILE nor PP_PAGE_SWAPPED. */
void pp_page_runs_open_core(pp_page_runs *runs);

void pp_page_runs_close(pp_page_runs *runs);

/*
 * Lists the runs from `from` on, both multiples of a page, and stores where the list ends, which is
 * `limit` at most. What is not in the list until there is absent. `files`: asks for PP_PAGE_OF_FILE. 0;
 * -ESRCH if the memory has gone; or -errno.
 */
int pp_page_runs_read(pp_page_runs *runs, uintptr_t from, uintptr_t limit, bool files,
                      uintptr_t *end);

#endif
