/* SPDX-License-Identifier: MIT
 *
 * labels_pool.h: the memory of sets of labels.
 *
 * Type-stable: a piece that was a set is only ever given out as a set again, so that whoever has a
 * pointer to one that may be gone can still look at its count of references (labels.h). A program
 * that makes a set for each request gets the same few pieces back all the time: there are never
 * more than were in use at one moment. A large piece that is free holds no memory but its first
 * page.
 *
 *   class (64, 96, 128, 192, ... bytes) -> free: change, number -> piece -> piece -> 0
 *                                       -> slabs: [n][2n][4n]...   pieces 1, 2, 3, ... in order
 *
 * A list begins with the number of its first piece, and with how often it was changed: a thread
 * that is about to pop, and is held up while others pop and push, cannot take the same first piece
 * for the same list.
 *
 * Zone: SIGNAL.
 * Owns: the memory of all sets, for ever.
 */
#ifndef PP_STORE_LABELS_POOL_H
#define PP_STORE_LABELS_POOL_H

#include <stddef.h>
#include <stdint.h>

enum { PP_LABELS_POOL_MAX = 1 << 30 /* bytes of a piece */ };

/* What every piece begins with. `refs` is 0 while it is free, and is the user's otherwise. */
typedef struct pp_labels_piece {
    uint32_t refs;
    uint32_t number; /* within its class; from 1 */
    uint32_t class;
    uint32_t next_free; /* number of the next one; 0 = none */
} pp_labels_piece;

/* A piece of at least `bytes` whose refs are 0; what lies behind its head is left over from whoever
 * had it before. NULL when the kernel refuses memory, or if it is more than PP_LABELS_POOL_MAX. */
pp_labels_piece *pp_labels_pool_take(size_t bytes);

void pp_labels_pool_give(pp_labels_piece *piece);

/* Of all pieces that there are, in use or not. */
size_t pp_labels_pool_bytes(void);

#endif
