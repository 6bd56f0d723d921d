/* SPDX-License-Identifier: MIT
 *
 * labels.c: sets of labels (drawing in the header).
 *
 * Zone: SIGNAL.
 * Locks: none.
 * Owns: nothing more than the header says.
 */
#include "store/labels.h"

#include <errno.h>
#include <string.h>

PP_TLS pprof_labels *pp_labels_of_thread;

/* ---- making ---- */

/* Adds what a set of these takes at most to *bytes. */
static bool measure(const char *const *key_values, size_t pairs, size_t *bytes)
{
    if (key_values == NULL && pairs > 0) {
        return false;
    }
    for (size_t i = 0; i < pairs; i++) {
        const char *key = key_values[2 * i];
        const char *value = key_values[2 * i + 1];
        if (key == NULL || value == NULL || *key == '\0') {
            return false;
        }
        *bytes += sizeof(pp_label) + strlen(key) + 1 + strlen(value) + 1;
        if (*bytes > PP_LABELS_POOL_MAX) {
            return false;
        }
    }
    return true;
}

/* Where `key` is in the first `count` labels, or else belongs. */
static uint32_t search(const pp_label *labels, uint32_t count, const char *key, bool *found)
{
    uint32_t low = 0;
    uint32_t high = count;
    *found = false;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(labels[middle].key, key);
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The texts are the caller's still. */
static void insert(pprof_labels *labels, const char *key, const char *value)
{
    bool found = false;
    uint32_t at = search(labels->label, labels->count, key, &found);
    pp_label *place = &labels->label[at];
    if (!found) {
        memmove(place + 1, place, (labels->count - at) * sizeof *place);
        labels->count++;
        place->key = key;
    }
    place->value = value;
}

static const char *copy_text(const char *text, char **to)
{
    char *copy = *to;
    size_t size = strlen(text) + 1;
    memcpy(copy, text, size);
    *to += size;
    return copy;
}

static uint64_t hash_of(const char *text, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a, then mixed */
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
    }
    return (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15);
}

static void own_texts(pprof_labels *labels)
{
    char *end = (char *)(labels->label + labels->count);
    for (uint32_t i = 0; i < labels->count; i++) {
        labels->label[i].key = copy_text(labels->label[i].key, &end);
        labels->label[i].value = copy_text(labels->label[i].value, &end);
    }
    labels->text_bytes = (uint32_t)(end - pp_labels_texts(labels));
    labels->hash = hash_of(pp_labels_texts(labels), labels->text_bytes);
}

pprof_labels *pp_labels_new(const pprof_labels *parent, const char *const *key_values, size_t pairs,
                            int *error)
{
    uint32_t inherited = parent != NULL ? parent->count : 0;
    size_t bytes = sizeof *parent;
    if (parent != NULL) {
        bytes += inherited * sizeof(pp_label) + parent->text_bytes;
    }
    if (!measure(key_values, pairs, &bytes)) {
        *error = EINVAL;
        return NULL;
    }
    pprof_labels *labels = (pprof_labels *)pp_labels_pool_take(bytes);
    if (labels == NULL) {
        *error = ENOMEM;
        return NULL;
    }
    labels->count = inherited;
    if (inherited > 0) {
        memcpy(labels->label, parent->label, inherited * sizeof(pp_label));
    }
    for (size_t i = 0; i < pairs; i++) {
        insert(labels, key_values[2 * i], key_values[2 * i + 1]);
    }
    own_texts(labels);
    __atomic_store_n(&labels->head.refs, 1, __ATOMIC_RELEASE);
    return labels;
}

void pp_labels_free(pprof_labels *labels)
{
    pp_labels_pool_give(&labels->head);
}

/* ---- other threads' ---- */

bool pp_labels_try_ref(pprof_labels *labels)
{
    uint32_t refs = __atomic_load_n(&labels->head.refs, __ATOMIC_RELAXED);
    while (refs != 0 && !__atomic_compare_exchange_n(&labels->head.refs, &refs, refs + 1, true,
                                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    }
    return refs != 0;
}

pprof_labels *pp_labels_ref_of(pprof_labels *const *place)
{
    for (;;) {
        pprof_labels *labels = __atomic_load_n(place, __ATOMIC_ACQUIRE);
        if (labels == NULL) {
            return NULL;
        }
        if (!pp_labels_try_ref(labels)) {
            continue; /* it has another one by now */
        }
        if (__atomic_load_n(place, __ATOMIC_ACQUIRE) == labels) {
            return labels;
        }
        pp_labels_unref(labels);
    }
}

/* ---- contents ---- */

const char *pp_labels_find(const pprof_labels *labels, const char *key)
{
    bool found = false;
    if (labels == NULL || key == NULL) {
        return NULL;
    }
    uint32_t at = search(labels->label, labels->count, key, &found);
    return found ? labels->label[at].value : NULL;
}

bool pp_labels_equal(const pprof_labels *a, const pprof_labels *b)
{
    return a == b || (pp_labels_hash(a) == pp_labels_hash(b) && pp_labels_compare(a, b) == 0);
}

int pp_labels_compare(const pprof_labels *a, const pprof_labels *b)
{
    if (pp_labels_is_empty(a) || pp_labels_is_empty(b)) {
        return (int)!pp_labels_is_empty(a) - (int)!pp_labels_is_empty(b);
    }
    uint32_t shorter = a->text_bytes < b->text_bytes ? a->text_bytes : b->text_bytes;
    int order = memcmp(pp_labels_texts(a), pp_labels_texts(b), shorter);
    return order != 0 ? order : (a->text_bytes > b->text_bytes) - (a->text_bytes < b->text_bytes);
}
