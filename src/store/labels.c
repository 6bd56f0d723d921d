/* SPDX-License-Identifier: MIT
 *
 * labels.c: sets of labels (drawing in the header).
 *
 * Zone: SIGNAL.
 * Owns: the sets; the pointer to the thread's set; what switches have to do.
 */
#include "store/labels.h"

#include "base/text_hash.h"
#include "store/switch_work.h"

#include <errno.h>
#include <string.h>

PP_TLS pprof_labels *pp_labels_of_thread;

uint32_t pp_switch_work;

/* ---- making ---- */

/* A set of more bytes gets exactly the memory that it needs, which a first draft determines. A
 * smaller set gets the memory that it needs if no label replaces another. */
enum { DRAFTED_BYTES = 4096 };

static size_t bytes_of_text(const char *key, const char *value)
{
    return strlen(key) + 1 + strlen(value) + 1;
}

/* Adds the most bytes that these pairs can take to *bytes. False if a text is invalid. */
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
        *bytes += sizeof(pp_label) + bytes_of_text(key, value);
    }
    return true;
}

static size_t bytes_needed(const pprof_labels *labels)
{
    size_t bytes = sizeof *labels + labels->count * sizeof(pp_label);
    for (uint32_t i = 0; i < labels->count; i++) {
        bytes += bytes_of_text(labels->label[i].key, labels->label[i].value);
    }
    return bytes;
}

/* The index of `key` among the first `count` labels, or else the index where it belongs. */
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

/* Keeps the caller's pointers to the texts. */
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

static void remove_key(pprof_labels *labels, const char *key)
{
    bool found = false;
    uint32_t at = search(labels->label, labels->count, key, &found);
    if (found) {
        pp_label *place = &labels->label[at];
        labels->count--;
        memmove(place, place + 1, (labels->count - at) * sizeof *place);
    }
}

static const char *copy_text(const char *text, char **to)
{
    char *copy = *to;
    size_t size = strlen(text) + 1;
    memcpy(copy, text, size);
    *to += size;
    return copy;
}

static void own_texts(pprof_labels *labels)
{
    char *end = (char *)(labels->label + labels->count);
    for (uint32_t i = 0; i < labels->count; i++) {
        labels->label[i].key = copy_text(labels->label[i].key, &end);
        labels->label[i].value = copy_text(labels->label[i].value, &end);
    }
    labels->text_bytes = (uint32_t)(end - pp_labels_texts(labels));
    labels->hash = pp_text_hash(pp_labels_texts(labels), labels->text_bytes);
}

/* Makes a piece that begins as a copy of `from`, and still points to the texts of `from`. */
static pprof_labels *copy_of(const pprof_labels *from, size_t bytes)
{
    pprof_labels *labels = (pprof_labels *)pp_labels_pool_take(bytes);
    uint32_t count = from != NULL ? from->count : 0;
    if (labels == NULL) {
        return NULL;
    }
    labels->count = count;
    if (count > 0) {
        memcpy(labels->label, from->label, count * sizeof(pp_label));
    }
    return labels;
}

/* The place of the record within the set; 0 = none. */
static void set_record(pprof_labels *labels, uint32_t place)
{
    __atomic_store_n(&labels->head.next_free, place, __ATOMIC_RELAXED);
}

PP_COLD_PATH static void write_record(pprof_labels *labels, size_t room)
{
    char *end = (char *)pp_labels_texts(labels) + labels->text_bytes;
    char *record = pp_context_record_write(end, room, labels->label, labels->count);
    set_record(labels, (uint32_t)(record - (char *)labels));
}

pprof_labels *pp_labels_show(const pprof_labels *labels, pprof_labels *before)
{
    uint32_t place =
        labels != NULL ? __atomic_load_n(&labels->head.next_free, __ATOMIC_RELAXED) : 0;
    pp_thread_context_show(place != 0 ? (const char *)labels + place : NULL);
    return before;
}

/* The memory for the record of a set of `bytes`; 0: none is wanted. */
static size_t room_for_record(size_t bytes)
{
    return pp_unlikely(pp_thread_context_is_on) ? pp_context_record_room(bytes) : 0;
}

/* After the texts there is `room`. */
static pprof_labels *finish(pprof_labels *labels, size_t room)
{
    own_texts(labels);
    set_record(labels, 0);
    if (room != 0) {
        write_record(labels, room);
    }
    __atomic_store_n(&labels->head.refs, 1, __ATOMIC_RELEASE);
    return labels;
}

static pprof_labels *finish_draft(pprof_labels *draft)
{
    size_t bytes = bytes_needed(draft);
    size_t room = room_for_record(bytes);
    pprof_labels *labels = copy_of(draft, bytes + room);
    pp_labels_pool_give(&draft->head);
    return labels != NULL ? finish(labels, room) : NULL;
}

pprof_labels *pp_labels_new(const pprof_labels *parent, const char *const *key_values, size_t pairs,
                            int *error)
{
    size_t inherited = parent != NULL ? parent->count : 0;
    size_t bytes = sizeof *parent + inherited * sizeof(pp_label);
    bytes += parent != NULL ? parent->text_bytes : 0;
    if (!measure(key_values, pairs, &bytes)) {
        *error = EINVAL;
        return NULL;
    }
    bool drafted = bytes > DRAFTED_BYTES;
    size_t draft_bytes = sizeof *parent + (inherited + pairs) * sizeof(pp_label);
    size_t room = room_for_record(bytes);
    pprof_labels *labels = copy_of(parent, drafted ? draft_bytes : bytes + room);
    for (size_t i = 0; labels != NULL && i < pairs; i++) {
        insert(labels, key_values[2 * i], key_values[2 * i + 1]);
    }
    if (labels != NULL) {
        labels = drafted ? finish_draft(labels) : finish(labels, room);
    }
    *error = labels != NULL ? *error : ENOMEM;
    return labels;
}

pprof_labels *pp_labels_without(const pprof_labels *parent, const char *const *key_values,
                                size_t pairs)
{
    if (pp_labels_is_empty(parent)) {
        return NULL;
    }
    pprof_labels *draft = copy_of(parent, bytes_needed(parent));
    for (size_t i = 0; draft != NULL && key_values != NULL && i < pairs; i++) {
        if (key_values[2 * i] != NULL) {
            remove_key(draft, key_values[2 * i]);
        }
    }
    return draft != NULL ? finish_draft(draft) : NULL;
}

void pp_labels_free(pprof_labels *labels)
{
    pp_labels_pool_give(&labels->head);
}

/* ---- sets of other threads ---- */

bool pp_labels_try_ref(pprof_labels *labels)
{
    uint32_t refs = __atomic_load_n(&labels->head.refs, __ATOMIC_RELAXED);
    while (refs != 0 && !__atomic_compare_exchange_n(&labels->head.refs, &refs, refs + 1, true,
                                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    }
    return refs != 0;
}

enum { REF_ATTEMPTS = 500 };

pprof_labels *pp_labels_ref_of(pprof_labels *const *place)
{
    for (unsigned attempt = 0; attempt < REF_ATTEMPTS; attempt++) {
        pprof_labels *labels = __atomic_load_n(place, __ATOMIC_ACQUIRE);
        if (labels == NULL) {
            return NULL;
        }
        if (!pp_labels_try_ref(labels)) {
            continue; /* the thread has another set by now */
        }
        if (__atomic_load_n(place, __ATOMIC_ACQUIRE) == labels) {
            return labels;
        }
        pp_labels_unref(labels);
    }
    return NULL;
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
