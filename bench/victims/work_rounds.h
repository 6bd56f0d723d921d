/* SPDX-License-Identifier: MIT
 *
 * work_rounds.h: a round of work that programs of bench/ have in common.
 */
#ifndef BENCH_VICTIMS_WORK_ROUNDS_H
#define BENCH_VICTIMS_WORK_ROUNDS_H

#include <stdint.h>

/* Some 4 ms of hashing, sorting and walking a tree; the same each time. */
uint64_t work_round(void);

#endif
