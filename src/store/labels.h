/* SPDX-License-Identifier: MIT
 *
 * labels.h: sets of labels, and the one that each thread has.
 *
 * A set never changes. It has its labels in the order of their keys, one for each key, and their
 * texts in one piece, so that two sets say the same exactly if these pieces are equal:
 *
 *   [refs class next_free | hash count size | key value | key value ... | k\0v\0k\0v\0 ]
 *                                             pointers                    texts
 *
 * Who wants to keep a set counts a reference. One that belongs to another thread may go away in the
 * same moment: its memory is that of a set all the same (labels_pool.h), of another one perhaps. So
 * a reference is taken if the count is not 0, and after that it is made sure that the other thread
 * has the set still (pp_labels_ref_of): then it is the one that was meant.
 *
 * The calling thread's own set is safe to look at without that, also in a signal handler or a hook:
 * the thread lets go of it only after it has another.
 *
 * Zone: SIGNAL.
 * Owns: the sets; the pointer to the thread's (8 bytes of TLS).
 */
#ifndef PP_STORE_LABELS_H
#define PP_STORE_LABELS_H

#include "base/compiler.h"
#include "store/labels_pool.h"

#include "pprof.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_label {
    const char *key;
    const char *value;
} pp_label;

struct pprof_labels {
    pp_labels_piece head;
    uint64_t hash;       /* of the texts */
    uint32_t count;      /* of labels */
    uint32_t text_bytes; /* behind them */
    pp_label label[];
};

/* The calling thread's set, NULL = none; through the functions below alone. */
extern PP_TLS pprof_labels *pp_labels_of_thread;

/*
 * The labels of `parent` (NULL = none) and the `pairs` of `key_values`, {key, value, key, value,
 * ...}; what comes later goes before what has the same key. The caller has the one reference. NULL:
 * *error is EINVAL (a text that is NULL, an empty key) or ENOMEM, also where they do not fit into
 * PP_LABELS_POOL_MAX.
 */
pprof_labels *pp_labels_new(const pprof_labels *parent, const char *const *key_values, size_t pairs,
                            int *error);

/* The labels of `parent` but for those with these keys, whatever their values: what a thread has
 * whose new set could not be made. `key_values` as above, also invalid ones. NULL: no labels, since
 * `parent` has none, or for want of memory. */
pprof_labels *pp_labels_without(const pprof_labels *parent, const char *const *key_values,
                                size_t pairs);

/* ---- references; NULL is nothing ---- */

void pp_labels_free(pprof_labels *labels);

/* Of a set that may be gone: false if it is. If true it may be another set by now, which the caller
 * has to find out from where it had the pointer. */
bool pp_labels_try_ref(pprof_labels *labels);

/* Of a set that cannot go away meanwhile. */
static inline pprof_labels *pp_labels_ref(pprof_labels *labels)
{
    if (labels != NULL) {
        __atomic_add_fetch(&labels->head.refs, 1, __ATOMIC_RELAXED);
    }
    return labels;
}

static inline void pp_labels_unref(pprof_labels *labels)
{
    if (labels != NULL && __atomic_sub_fetch(&labels->head.refs, 1, __ATOMIC_ACQ_REL) == 0) {
        pp_labels_free(labels);
    }
}

/* ---- the thread's ---- */

/* Valid until the calling thread has another one. */
static inline pprof_labels *pp_labels_current(void)
{
    return pp_labels_of_thread;
}

/* Gives the thread the caller's reference to `labels`, and the caller the one that the thread had.
 * A handler that comes in between may do the same, if it restores what it found. */
static inline pprof_labels *pp_labels_exchange(pprof_labels *labels)
{
    pprof_labels *before = pp_labels_of_thread;
    __atomic_store_n(&pp_labels_of_thread, labels, __ATOMIC_RELEASE);
    return before;
}

/* Where other threads see it, as long as the calling thread lives. */
static inline pprof_labels **pp_labels_place(void)
{
    return &pp_labels_of_thread;
}

/* A reference to the set that is there, of whatever thread; NULL = none. */
pprof_labels *pp_labels_ref_of(pprof_labels *const *place);

/* ---- contents ---- */

/* The value of that key; NULL = none. */
const char *pp_labels_find(const pprof_labels *labels, const char *key);

/* Their texts, labels->text_bytes of them (drawing above). */
static inline const char *pp_labels_texts(const pprof_labels *labels)
{
    return (const char *)(labels->label + labels->count);
}

/* By their texts. NULL is as good as a set without labels. */
bool pp_labels_equal(const pprof_labels *a, const pprof_labels *b);
/* Less than, equal to or greater than 0. */
int pp_labels_compare(const pprof_labels *a, const pprof_labels *b);

static inline bool pp_labels_is_empty(const pprof_labels *labels)
{
    return labels == NULL || labels->count == 0;
}

static inline uint64_t pp_labels_hash(const pprof_labels *labels)
{
    return pp_labels_is_empty(labels) ? 0 : labels->hash;
}

#endif
