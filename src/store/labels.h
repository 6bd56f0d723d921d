/* SPDX-License-Identifier: MIT
 *
 * labels.h: sets of labels, and the set of each thread.
 *
 * A set never changes. It holds its labels in the order of their keys, each key once, and their
 * texts in one piece. So two sets are equal exactly if these pieces are equal:
 *
 *   [refs class record | hash count size | key value | key value ... | k\0v\0k\0v\0 | record ]
 *                                          pointers                    texts         thread_context.h
 *
 * A reference keeps a set alive. A set of another thread may be freed at any moment, and its memory
 * then belongs to another set (labels_pool.h), never to anything else. So pp_labels_ref_of() first
 * takes a reference if the count is not 0, then checks that the other thread still has this set:
 * only then is it the set that the caller meant.
 *
 * A thread may read its own set without these steps, also in a signal handler or a hook: it
 * releases a set only after it has another one.
 *
 * Zone: SIGNAL.
 * Owns: the sets; the pointer to the thread's set (8 bytes of TLS).
 */
#ifndef PP_STORE_LABELS_H
#define PP_STORE_LABELS_H

#include "base/compiler.h"
#include "store/label.h"
#include "store/labels_pool.h"
#include "store/thread_context.h"

#include "pprof.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pprof_labels {
    pp_labels_piece head;
    uint64_t hash;       /* of the texts */
    uint32_t count;      /* of labels */
    uint32_t text_bytes; /* of the texts, which follow the pointers */
    pp_label label[];
};

/* The calling thread's set; NULL = none. Only the functions below access this variable. */
extern PP_TLS pprof_labels *pp_labels_of_thread;

/*
 * Makes a set of the labels of `parent` (NULL = none) and of the `pairs` of `key_values`, {key,
 * value, key, value, ...}. A later pair replaces an earlier label of the same key. The caller gets
 * the only reference. On failure the result is NULL and *error is EINVAL (a NULL text or an empty
 * key) or ENOMEM (also where the set exceeds PP_LABELS_POOL_MAX).
 */
pprof_labels *pp_labels_new(const pprof_labels *parent, const char *const *key_values, size_t pairs,
                            int *error);

/*
 * Makes a set of the labels of `parent` without those that have a key of `key_values`, whatever
 * their values. A thread gets this set if its new set could not be made. `key_values` is as above,
 * but may be invalid. NULL: no labels, because `parent` has none or for want of memory.
 */
pprof_labels *pp_labels_without(const pprof_labels *parent, const char *const *key_values,
                                size_t pairs);

/* ---- references; all functions accept NULL and do nothing ---- */

void pp_labels_free(pprof_labels *labels);

/*
 * Takes a reference to a set that another thread may have freed: false if the set is free. If true,
 * the memory may hold another set by now; the caller compares with the place that held the pointer.
 */
bool pp_labels_try_ref(pprof_labels *labels);

/* Takes a reference to a set that nobody can free meanwhile. */
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

/* ---- the thread's set ---- */

/* Returns the calling thread's set, valid until the thread has another one. */
static inline pprof_labels *pp_labels_current(void)
{
    return pp_labels_of_thread;
}

/* Has the calling thread show the record of the set. Returns `before`, so that callers can keep it where
 * they got it. */
pprof_labels *pp_labels_show(const pprof_labels *labels, pprof_labels *before);

/* Gives the thread the caller's reference to `labels`, and the caller the reference that the thread
 * had. A signal handler may do the same in between, if it restores the set that it found. */
static inline pprof_labels *pp_labels_exchange(pprof_labels *labels)
{
    pprof_labels *before = pp_labels_of_thread;
    __atomic_store_n(&pp_labels_of_thread, labels, __ATOMIC_RELEASE);
    if (pp_unlikely(pp_thread_context_is_on)) {
        return pp_labels_show(labels, before);
    }
    return before;
}

/* Exchanges the calling thread's set with the one at `place`, with its reference. */
static inline void pp_labels_swap(pprof_labels **place)
{
    pprof_labels *labels = __atomic_load_n(place, __ATOMIC_RELAXED);
    __atomic_store_n(place, pp_labels_exchange(labels), __ATOMIC_RELAXED);
}

/* The same if no reader outside of the process sees the sets; else false. */
static inline bool pp_labels_swap_unshown(pprof_labels **place)
{
    if (pp_unlikely(pp_thread_context_is_on)) {
        return false;
    }
    pprof_labels *labels = __atomic_load_n(place, __ATOMIC_RELAXED);
    __atomic_store_n(place, pp_labels_of_thread, __ATOMIC_RELAXED);
    __atomic_store_n(&pp_labels_of_thread, labels, __ATOMIC_RELEASE);
    return true;
}

/* Returns the place where other threads read the calling thread's set; valid as long as the calling
 * thread lives. */
static inline pprof_labels **pp_labels_place(void)
{
    return &pp_labels_of_thread;
}

/*
 * Takes a reference to the set at `place`, of any thread; NULL = none. A thread that exchanges its set
 * all the time may do so between any two of the steps above: after some hundred attempts the result is
 * NULL. Such a thread's labels are those of its own answer (threads/thread_answers.h).
 */
pprof_labels *pp_labels_ref_of(pprof_labels *const *place);

/* ---- contents ---- */

/* Returns the value of `key`; NULL = none. */
const char *pp_labels_find(const pprof_labels *labels, const char *key);

/* The texts of a set: labels->text_bytes bytes (drawing above). */
static inline const char *pp_labels_texts(const pprof_labels *labels)
{
    return (const char *)(labels->label + labels->count);
}

/* Compares two sets by their texts. NULL equals a set without labels. */
bool pp_labels_equal(const pprof_labels *a, const pprof_labels *b);
/* Orders two sets by their texts: less than, equal to or greater than 0. */
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
