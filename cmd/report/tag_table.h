/* SPDX-License-Identifier: MIT
 *
 * tag_table.h: what the samples of each label add up to.
 *
 * Numbers that are printed alike, such as 1024 and 1025 bytes, are one row.
 *
 * Owns: the rows and their texts.
 */
#ifndef CP_TAG_TABLE_H
#define CP_TAG_TABLE_H

#include "base/pool.h"

#include <stdint.h>

typedef struct cp_report cp_report;

typedef struct cp_tag {
    const char *key, *value;
    int64_t sum;
} cp_tag;

/* The rows are sorted by key, then the largest first, then by value. */
typedef struct cp_tags {
    cp_tag *rows;
    uint32_t count;
    cp_pool pool;
} cp_tags;

void cp_tags_init(cp_tags *tags, const cp_report *report);
void cp_tags_release(cp_tags *tags);

/* The end of the rows that have the key of row `first`. */
uint32_t cp_tags_end(const cp_tags *tags, uint32_t first);
/* The sum of the rows from first to end - 1. */
int64_t cp_tags_sum(const cp_tags *tags, uint32_t first, uint32_t end);

#endif
