/* SPDX-License-Identifier: MIT
 *
 * arena.h: memory for one job (a snapshot, an encoding), mapped by mmap and freed at once.
 *
 * The library never calls the host's malloc: the profile may be of this malloc, the thread that a
 * fatal signal interrupted may hold its locks, and an allocator that replaces it may call the
 * library. An arena is a list of mappings; it cuts pieces from them, and never frees a single
 * piece.
 *
 *   pp_arena.chunks -> [header|used.....|free   ] -> [header|used................] -> NULL
 *
 * Zone: NORMAL, and the fatal-signal writer (mmap and munmap only, no locks).
 * Locks: none; an arena belongs to one thread at a time.
 * Owns: its mappings.
 */
#ifndef PP_BASE_ARENA_H
#define PP_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pp_arena_chunk;

typedef struct pp_arena {
    struct pp_arena_chunk *chunks; /* newest first */
    bool failed;                   /* sticky: an allocation has returned NULL */
} pp_arena;

#define PP_ARENA_INIT                                                                              \
    {                                                                                              \
        NULL, false                                                                                \
    }

/* Returns zeroed memory, aligned to 16 bytes; NULL (and arena->failed) if mmap refuses. Size 0
 * counts as 1. */
void *pp_arena_alloc(pp_arena *arena, size_t size);

/* Returns count * size bytes; NULL also on overflow. */
void *pp_arena_array(pp_arena *arena, size_t count, size_t size);

/* The same for an array that is going to be filled: the kernel provides the pages of all but a
 * small one at once, which takes less time than one by one. */
void *pp_arena_array_filled(pp_arena *arena, size_t count, size_t size);

/* Returns a copy of `length` bytes of text plus a NUL. */
char *pp_arena_text(pp_arena *arena, const char *text, size_t length);

/* Calls `visit` with each mapping of the arena. */
void pp_arena_each(const pp_arena *arena,
                   void (*visit)(uintptr_t start, size_t bytes, void *context), void *context);

/* Makes the arena like a new one, except that a small one keeps its mapping: for jobs that come again. */
void pp_arena_empty(pp_arena *arena);

/* Unmaps everything; the arena is then like a new one. */
void pp_arena_release(pp_arena *arena);

#endif
