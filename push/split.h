/* SPDX-License-Identifier: MIT
 *
 * split.h: cuts a profile that is too large for a server into several, which add up to it.
 */
#ifndef PUSH_SPLIT_H
#define PUSH_SPLIT_H

#include "push/entry.h"

#include <stdint.h>

typedef struct push_limits {
    uint64_t bytes; /* of the profile without gzip; 0: any */
    size_t samples; /* 0: any number */
} push_limits;

/*
 * The entry, or the list of its parts: each has some of the samples, and what they refer to. Takes the entry.
 * The times of the parts differ by a microsecond, so that each is a profile of its own. A profile that cannot be
 * read, or whose single sample is too large, stays as it is. NULL: no memory; the entry is freed.
 */
push_entry *push_split(push_entry *entry, const push_limits *limits);

#endif
