/* SPDX-License-Identifier: MIT
 *
 * labels_api.c: the public functions for labels. store/labels.h has the sets.
 *
 * Zone: SIGNAL.
 */
#include "pprof.h"

#include "host/kind.h"
#include "modules/own_code.h"
#include "store/labels.h"
#include "store/switch_work.h"

#include <errno.h>

PP_NEEDS_KINDS;

pprof_labels *pprof_labels_new(const pprof_labels *parent, const char *const *key_values,
                               size_t pairs)
{
    int error = 0;
    pp_switch_work_add(PP_SWITCH_LABELS);
    pprof_labels *labels = pp_labels_new(parent, key_values, pairs, &error);
    if (labels == NULL) {
        errno = error;
    }
    return labels;
}

pprof_labels *pprof_labels_ref(pprof_labels *labels)
{
    return pp_labels_ref(labels);
}

void pprof_labels_unref(pprof_labels *labels)
{
    pp_labels_unref(labels);
}

pprof_labels *pprof_thread_labels(void)
{
    return pp_labels_ref(pp_labels_current());
}

pprof_labels *pprof_set_thread_labels(pprof_labels *labels)
{
    return pp_labels_exchange(pp_labels_ref(labels));
}

const char *pprof_label(const pprof_labels *labels, const char *key)
{
    return pp_labels_find(labels, key);
}

void pprof_for_labels(const pprof_labels *labels,
                      bool (*each)(void *ctx, const char *key, const char *value), void *ctx)
{
    if (labels == NULL || each == NULL) {
        return;
    }
    for (uint32_t i = 0; i < labels->count; i++) {
        if (!each(ctx, labels->label[i].key, labels->label[i].value)) {
            return;
        }
    }
}

/* A function of its own: what it is called after may have gone on in another thread, and the
 * compiler would take the thread's variables for those of before (<pprof_task.h>). */
__attribute__((noinline)) static void restore(pprof_labels *before)
{
    pp_labels_unref(pp_labels_exchange(before));
}

PP_SHOWN_FUNCTION void pprof_do(const char *const *key_values, size_t pairs,
                                void (*function)(void *arg), void *arg)
{
    int error = 0;
    pp_switch_work_add(PP_SWITCH_LABELS);
    pprof_labels *labels = pp_labels_new(pp_labels_current(), key_values, pairs, &error);
    if (labels == NULL) { /* better no label than the outer value of the same key */
        labels = pp_labels_without(pp_labels_current(), key_values, pairs);
    }
    pprof_labels *before = pp_labels_exchange(labels);
    function(arg);
    restore(before);
}
