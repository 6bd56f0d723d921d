/* SPDX-License-Identifier: MIT
 *
 * labels_pool.c: free lists and slabs (drawing in the header).
 *
 * Zone: SIGNAL.
 * Owns: the slabs.
 * Tested by: unit.labels, interleave.labels
 */
#include "store/labels_pool.h"

#include "base/memory.h"

#include <stdbool.h>

enum {
    LEAST = 64,
    CLASSES = 49,      /* LEAST * 2^24 is PP_LABELS_POOL_MAX; one step between two powers */
    FIRST_SLAB = 4096, /* the least bytes of the first slab; each slab has twice the pieces */
    SLABS = 28,
    LARGE = 19, /* the first class above 32 KiB: rare, of whole pages; a free piece is emptied */
    PAGE = 4096,
    CHANGE_SHIFT = 32
};

typedef struct class
{
    uint64_t free; /* count of changes << CHANGE_SHIFT | number of the first piece */
    uint32_t used; /* pieces that the pool ever gave out */
    char *slabs[SLABS];
} __attribute__((aligned(64))) class;

static class classes[CLASSES];

static size_t size_of_class(unsigned index)
{
    size_t power = (size_t)LEAST << index / 2;
    return index % 2 == 0 ? power : power + power / 2;
}

static unsigned class_of(size_t bytes)
{
    unsigned index = 0;
    while (size_of_class(index) < bytes) {
        index++;
    }
    return index;
}

/* ---- numbers ---- */

typedef struct position {
    unsigned slab;
    size_t piece_bytes, slab_bytes, offset;
} position;

static position position_of(unsigned index, uint32_t number)
{
    position p = {.piece_bytes = size_of_class(index)};
    size_t first = FIRST_SLAB / p.piece_bytes + (FIRST_SLAB % p.piece_bytes != 0);
    size_t before = number - 1;
    p.slab = 63 - (unsigned)__builtin_clzll(before / first + 1);
    p.slab_bytes = (first << p.slab) * p.piece_bytes;
    p.offset = (before - ((first << p.slab) - first)) * p.piece_bytes;
    return p;
}

static pp_labels_piece *piece_of(unsigned index, uint32_t number)
{
    position p = position_of(index, number);
    char *slab = __atomic_load_n(&classes[index].slabs[p.slab], __ATOMIC_ACQUIRE);
    return (pp_labels_piece *)(void *)(slab + p.offset);
}

static bool have_slab(class *c, const position *p)
{
    char *none = NULL;
    if (p->slab >= SLABS) {
        return false;
    }
    if (__atomic_load_n(&c->slabs[p->slab], __ATOMIC_ACQUIRE) != NULL) {
        return true;
    }
    char *slab = pp_memory_map(p->slab_bytes);
    if (slab == NULL) {
        return false;
    }
    if (!__atomic_compare_exchange_n(&c->slabs[p->slab], &none, slab, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
        pp_memory_unmap(slab, p->slab_bytes);
    }
    return true;
}

static pp_labels_piece *new_piece(unsigned index)
{
    class *c = &classes[index];
    uint32_t used = __atomic_load_n(&c->used, __ATOMIC_RELAXED);
    do {
        position p = position_of(index, used + 1);
        if (!have_slab(c, &p)) {
            return NULL;
        }
    } while (!__atomic_compare_exchange_n(&c->used, &used, used + 1, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    pp_labels_piece *piece = piece_of(index, used + 1);
    piece->number = used + 1;
    piece->class = index;
    return piece;
}

/* ---- lists ---- */

static uint64_t changed(uint64_t list, uint32_t first)
{
    return ((list >> CHANGE_SHIFT) + 1) << CHANGE_SHIFT | first;
}

static pp_labels_piece *pop(unsigned index)
{
    uint64_t *list = &classes[index].free;
    uint64_t now = __atomic_load_n(list, __ATOMIC_ACQUIRE);
    while ((uint32_t)now != 0) {
        pp_labels_piece *first = piece_of(index, (uint32_t)now);
        uint32_t next = __atomic_load_n(&first->next_free, __ATOMIC_RELAXED);
        if (__atomic_compare_exchange_n(list, &now, changed(now, next), true, __ATOMIC_ACQUIRE,
                                        __ATOMIC_ACQUIRE)) {
            return first;
        }
    }
    return NULL;
}

pp_labels_piece *pp_labels_pool_take(size_t bytes)
{
    if (bytes > PP_LABELS_POOL_MAX) {
        return NULL;
    }
    unsigned index = class_of(bytes);
    pp_labels_piece *piece = pop(index);
    return piece != NULL ? piece : new_piece(index);
}

/* Keeps the head, because other threads may read its `refs`. */
static void empty_if_large(pp_labels_piece *piece)
{
    if (piece->class >= LARGE) {
        pp_memory_empty((char *)piece + PAGE, size_of_class(piece->class) - PAGE);
    }
}

void pp_labels_pool_give(pp_labels_piece *piece)
{
    empty_if_large(piece);
    uint64_t *list = &classes[piece->class].free;
    uint64_t now = __atomic_load_n(list, __ATOMIC_RELAXED);
    do {
        __atomic_store_n(&piece->next_free, (uint32_t)now, __ATOMIC_RELAXED);
    } while (!__atomic_compare_exchange_n(list, &now, changed(now, piece->number), true,
                                          __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

size_t pp_labels_pool_bytes(void)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < CLASSES; i++) {
        bytes += __atomic_load_n(&classes[i].used, __ATOMIC_RELAXED) * size_of_class(i);
    }
    return bytes;
}
