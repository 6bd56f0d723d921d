/* SPDX-License-Identifier: MIT
 *
 * sample_labels.c: copies the labels of a set.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#include "profile/sample_labels.h"

#include <string.h>

static bool has_key(const pp_sample_label *own, uint32_t own_count, const char *key)
{
    for (uint32_t i = 0; i < own_count; i++) {
        if (strcmp(own[i].key, key) == 0) {
            return true;
        }
    }
    return false;
}

bool pp_labels_to_sample_labels(const pprof_labels *labels, const pp_sample_label *own,
                                uint32_t own_count, pp_arena *arena, pp_profile_sample *sample)
{
    sample->labels = own;
    sample->label_count = own_count;
    if (pp_labels_is_empty(labels)) {
        return true;
    }
    size_t room = (size_t)labels->count + own_count;
    pp_sample_label *list = pp_arena_array(arena, room, sizeof *list);
    char *texts = pp_arena_text(arena, pp_labels_texts(labels), labels->text_bytes);
    if (list == NULL || texts == NULL) {
        return false;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < labels->count; i++) {
        const char *key = texts;
        const char *value = key + strlen(key) + 1;
        if (!has_key(own, own_count, key)) {
            list[count++] = (pp_sample_label){.key = key, .text = value};
        }
        texts += value - key + (ptrdiff_t)strlen(value) + 1;
    }
    if (own_count > 0) {
        memcpy(&list[count], own, own_count * sizeof *own);
    }
    sample->labels = list;
    sample->label_count = count + own_count;
    return true;
}
