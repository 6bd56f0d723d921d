/* SPDX-License-Identifier: MIT
 *
 * stack_sums.h: the stacks of a report as frames, each once, with the sums of their values.
 *
 * Samples with equal frames become one stack, whatever their addresses and labels are. The formats
 * that are written from it have no negative numbers: what the difference of two profiles makes
 * negative is left out.
 *
 * Owns: the arrays, until cp_stack_sums_release().
 */
#ifndef CP_STACK_SUMS_H
#define CP_STACK_SUMS_H

#include "base/pool.h"

#include <stdint.h>

typedef struct cp_report cp_report;

typedef struct cp_stack_sum {
    const uint32_t *frames; /* of the report's frame table, the root first */
    int64_t *values;        /* one for each sample type */
    uint32_t frame_count;
} cp_stack_sum;

/* The stacks are in the order of their first samples. */
typedef struct cp_stack_sums {
    cp_stack_sum *stacks;
    uint32_t count;
    cp_pool pool;
} cp_stack_sums;

void cp_stack_sums_init(cp_stack_sums *sums, const cp_report *report);
void cp_stack_sums_release(cp_stack_sums *sums);

/* Warns on stderr if stacks have a negative value of that type. */
void cp_stack_sums_warn(const cp_stack_sums *sums, uint32_t type);

#endif
