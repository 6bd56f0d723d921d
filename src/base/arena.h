/* SPDX-License-Identifier: MIT
 *
 * arena.h: memory for one job (a snapshot, an encoding), straight from mmap and given back at once.
 *
 * The library never calls the host's malloc: it may be the thing that is profiled, its locks may be
 * held by the thread that a fatal signal interrupted, and it may be replaced by something that
 * calls us. An arena is a list of mappings from which pieces are cut and never given back singly.
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

struct pp_arena_chunk;

typedef struct pp_arena {
    struct pp_arena_chunk *chunks; /* newest first */
    bool failed;                   /* sticky: an allocation has returned NULL */
} pp_arena;

#define PP_ARENA_INIT                                                                              \
    {                                                                                              \
        NULL, false                                                                                \
    }

/* Zeroed memory, aligned to 16 bytes; NULL (and arena->failed) when mmap refuses. size 0 is 1. */
void *pp_arena_alloc(pp_arena *arena, size_t size);

/* count * size bytes, NULL on overflow too. */
void *pp_arena_array(pp_arena *arena, size_t count, size_t size);

/* A copy of `length` bytes of text plus a NUL. */
char *pp_arena_text(pp_arena *arena, const char *text, size_t length);

/* Gives every mapping back; the arena is then as good as new. */
void pp_arena_release(pp_arena *arena);

#endif
