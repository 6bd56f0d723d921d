/* SPDX-License-Identifier: MIT
 *
 * dot_tags.h: the labels of the samples at each node of a call graph, which hang at it as small
 * boxes.
 *
 * All text labels of a sample are one tag. Of the numeric ones only "bytes" counts; numbers that
 * are printed alike are one tag, beside the text labels that came with them. Tags below the cutoff
 * are left out: so there are few.
 *
 * Owns: the arrays, until cp_dot_tags_release().
 */
#ifndef CP_DOT_TAGS_H
#define CP_DOT_TAGS_H

#include "base/index_table.h"
#include "base/string_pool.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct cp_graph cp_graph;
typedef struct cp_report cp_report;

typedef struct cp_dot_tag {
    uint32_t node;    /* the frame */
    cp_string labels; /* "key:value\nkey:value", with a backslash and an n; 0: none */
    cp_string name;   /* of a numeric tag: the number with its unit */
    bool numeric;
    int64_t value; /* of a numeric tag */
    int64_t flat, cum;
} cp_dot_tag;

/* What a tag of a sample can be, before it is known at which node. */
typedef struct cp_dot_kind {
    cp_string labels, name;
    bool numeric;
    uint64_t sum; /* of the absolute values of its samples */
} cp_dot_kind;

typedef struct cp_dot_entry {
    uint32_t kind;
    int64_t value;
} cp_dot_entry;

typedef struct cp_dot_tags {
    const cp_report *report;
    int64_t cutoff;
    const char *unit; /* of the numeric tags */
    cp_dot_kind *kinds;
    uint32_t kind_count;
    cp_dot_entry *entries; /* the first ones are those of the first sample, ... */
    uint32_t *first;       /* per sample, and one more */
    size_t entry_count;
    cp_dot_tag *tags; /* sorted by node after cp_dot_tags_count() */
    uint32_t count;
    size_t kind_room, entry_room, tag_room;
} cp_dot_tags;

void cp_dot_tags_init(cp_dot_tags *tags, cp_report *report, int64_t cutoff);
void cp_dot_tags_release(cp_dot_tags *tags);

/* Adds up the tags of the nodes that are kept (NULL: all), and leaves out the small ones. */
void cp_dot_tags_count(cp_dot_tags *tags, const bool *kept);

/* The first tag of a node, and in *count how many follow from there. */
const cp_dot_tag *cp_dot_tags_of(const cp_dot_tags *tags, uint32_t node, uint32_t *count);

#endif
