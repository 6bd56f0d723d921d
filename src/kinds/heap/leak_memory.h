/* SPDX-License-Identifier: MIT
 *
 * leak_memory.h: reads all memory of the process that may hold a pointer, once, in the order of
 * addresses.
 *
 *   /proc/self/maps --> ranges --> pages that are there (page_runs.h) --> visit(words)
 *                                                    less the hidden spans
 *
 * A page that is absent or swapped out is not read: it stays so. Of memory that cannot be written
 * and of files that are only read, the pages that the process has changed are read (relocated
 * tables, memory that was made read-only). Device memory is not read. A mapping may vanish at any
 * moment. So words of files are copied by a system call that fails then. Those of anonymous memory,
 * most of all, are visited where they are, by a child process that a fault may end (sys/beside.h);
 * then a piece is copied, and another child goes on.
 *
 * Zone: NORMAL, and the fatal-signal writer (system calls, no loader lock).
 * Locks: none; a reading belongs to one thread.
 * Owns: nothing; everything is in the arena.
 */
#ifndef PP_KINDS_HEAP_LEAK_MEMORY_H
#define PP_KINDS_HEAP_LEAK_MEMORY_H

#include "base/arena.h"
#include "kinds/heap/page_runs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_leak_span {
    uintptr_t start, limit;
} pp_leak_span;

typedef struct pp_leak_range {
    pp_leak_span at;
    bool written; /* a page of a file counts, too */
    bool of_file;
    bool main_stack; /* the first thread's stack */
    bool program_break;
    bool guarded; /* the memory before it cannot be read */
} pp_leak_range;

typedef struct pp_leak_memory {
    pp_leak_range *ranges; /* ascending */
    size_t range_count;
    pp_leak_span *hidden; /* ascending */
    size_t hidden_count, hidden_capacity;
    size_t range, hidden_before; /* where the reading is */
    uintptr_t next;
    uint64_t *words;    /* a buffer */
    pp_page_runs *runs; /* likewise */
    bool by_core;       /* the process may not open its pagemap */
    uint64_t bytes_read, bytes_swapped, bytes_refused;
} pp_leak_memory;

/* Lists the memory. 0, -ENOMEM, or -errno if /proc cannot be read. */
int pp_leak_memory_list(pp_leak_memory *memory, pp_arena *arena);

/* The range that has the address; NULL: none. */
const pp_leak_range *pp_leak_memory_find(const pp_leak_memory *memory, uintptr_t address);

/* Leaves a span out. Before reading: pp_leak_memory_hidden_end() after the last one. */
void pp_leak_memory_hide(pp_leak_memory *memory, uintptr_t start, uintptr_t limit);
void pp_leak_memory_hidden_end(pp_leak_memory *memory);

/* Visits the words at `address`, which is a multiple of 8. `words` is a copy of them, or `address`: then
 * other threads may write to them, and the load of a word may end the visit. Such words are visited
 * again. */
typedef void pp_leak_visit(void *context, uintptr_t address, const uint64_t *words, size_t count);

/* Goes on reading, for a part of a second. 1: there is more; 0: that was all; -errno: the kernel does
 * not say which pages are there. For a function that pp_apart() calls (sys/apart.h), as are list
 * and read_span, since they open files. */
int pp_leak_memory_read(pp_leak_memory *memory, pp_leak_visit *visit, void *context);

/* Reads one span, also if it is hidden. */
int pp_leak_memory_read_span(pp_leak_memory *memory, const pp_leak_span *span, pp_leak_visit *visit,
                             void *context);

#endif
