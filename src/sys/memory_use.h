/* SPDX-License-Identifier: MIT
 *
 * memory_use.h: the kernel's statistics of the process's memory.
 *
 * Zone: NORMAL, and the fatal-signal writer (open, read and close only).
 */
#ifndef PP_SYS_MEMORY_USE_H
#define PP_SYS_MEMORY_USE_H

#include <stdint.h>

/* The largest resident size so far, in bytes. */
uint64_t pp_memory_peak_rss_bytes(void);

/* The size of the main thread's stack mapping, in bytes; 0 if /proc cannot be read. */
uint64_t pp_memory_stack_bytes(void);

/* The size of all mappings that are executable, not writable, and do not grow down, in bytes; 0 if
 * /proc cannot be read. Without [vsyscall]. */
uint64_t pp_memory_code_bytes(void);

/* What /proc/self/status says, in bytes; 0 where it says nothing. */
typedef struct pp_memory_said {
    uint64_t resident; /* of counters; before Linux 6.2 each thread keeps some pages to itself */
    uint64_t kept;     /* these pages, at most */
    uint64_t peak;
    uint64_t page_tables, swapped, huge; /* not in `resident` */
} pp_memory_said;

void pp_memory_ask(pp_memory_said *said);

#endif
