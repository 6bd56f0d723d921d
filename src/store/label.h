/* SPDX-License-Identifier: MIT
 *
 * label.h: one label of a set (labels.h).
 *
 * Zone: SIGNAL.
 */
#ifndef PP_STORE_LABEL_H
#define PP_STORE_LABEL_H

typedef struct pp_label {
    const char *key;
    const char *value;
} pp_label;

#endif
