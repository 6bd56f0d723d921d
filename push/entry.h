/* SPDX-License-Identifier: MIT
 *
 * entry.h: one profile on its way, in one piece of memory, which is also the file of the spool.
 *
 *   "libpprof-push 1" KIND BEGIN END NAME VALUE NAME VALUE ... ""     each ends with a NUL
 *   profile.proto                                                     the rest
 */
#ifndef PUSH_ENTRY_H
#define PUSH_ENTRY_H

#include "push/push.h"

enum { PUSH_LABELS = 64 };

typedef struct push_entry {
    push_profile profile; /* points into `bytes` and to `labels` */
    push_label labels[PUSH_LABELS];
    uint8_t *bytes;
    size_t size;
    struct push_entry *next;
} push_entry;

/* Copies a profile; labels after the 64th are left out. NULL: no memory. */
push_entry *push_entry_new(const push_profile *profile);

/* Takes the bytes, which malloc() has given, also if it refuses them. NULL: they are no entry, or
 * there is no memory. */
push_entry *push_entry_parse(uint8_t *bytes, size_t size);

void push_entry_free(push_entry *entry);

#endif
