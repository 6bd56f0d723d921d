/* SPDX-License-Identifier: MIT
 *
 * labels_pool.h: the memory of sets of labels.
 *
 * The pool is type-stable: memory that was a set becomes a set again and nothing else. So a thread
 * that has a pointer to a freed set can still read its count of references (labels.h). A program
 * that makes a set for each request gets the same few pieces back each time: the pool never has
 * more pieces than were in use at one moment. A large free piece keeps only its first page.
 *
 *   class (64, 96, 128, 192, ... bytes) -> free: change, number -> piece -> piece -> 0
 *                                       -> slabs: [n][2n][4n]...   pieces 1, 2, 3, ... in order
 *
 * The head of a list holds the number of its first piece and a count of the list's changes. If
 * others pop and push while a thread is about to pop, the count differs, even if the same piece is
 * first again.
 *
 * Zone: SIGNAL.
 * Owns: the memory of all sets, for ever.
 */
#ifndef PP_STORE_LABELS_POOL_H
#define PP_STORE_LABELS_POOL_H

#include <stddef.h>
#include <stdint.h>

enum { PP_LABELS_POOL_MAX = 1 << 30 /* bytes of a piece */ };

/* The head of every piece. `refs` is 0 while the piece is free; otherwise the user sets it. */
typedef struct pp_labels_piece {
    uint32_t refs;
    uint32_t number; /* within its class; from 1 */
    uint32_t class;
    uint32_t
        next_free; /* number of the next one; 0 = none. While the piece is in use: the user's */
} pp_labels_piece;

/*
 * Returns a piece of at least `bytes` whose `refs` is 0. The bytes after the head are those of the
 * piece's last use. NULL if the kernel refuses memory, or if `bytes` is more than
 * PP_LABELS_POOL_MAX.
 */
pp_labels_piece *pp_labels_pool_take(size_t bytes);

void pp_labels_pool_give(pp_labels_piece *piece);

/* The size of all pieces, in use or free. */
size_t pp_labels_pool_bytes(void);

#endif
