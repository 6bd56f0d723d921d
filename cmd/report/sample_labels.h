/* SPDX-License-Identifier: MIT
 *
 * sample_labels.h: the labels of one sample, key by key.
 *
 *   cp_label_group group = {0};
 *   while (cp_label_group_next(sample, &group)) {
 *       labels group.first to group.end - 1 have one key, and all are texts or all are numbers
 *   }
 */
#ifndef CP_SAMPLE_LABELS_H
#define CP_SAMPLE_LABELS_H

#include "profile/profile_model.h"

typedef struct cp_label_group {
    uint32_t first, end;
} cp_label_group;

static inline bool cp_label_group_next(const cp_sample *sample, cp_label_group *group)
{
    const cp_label *labels = sample->labels;

    group->first = group->end;
    if (group->first >= sample->label_count) {
        return false;
    }
    while (group->end < sample->label_count && labels[group->end].key == labels[group->first].key &&
           labels[group->end].numeric == labels[group->first].numeric) {
        group->end++;
    }
    return true;
}

#endif
