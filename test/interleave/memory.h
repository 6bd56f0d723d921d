/* SPDX-License-Identifier: MIT
 *
 * memory.h: the model's memory: lists of stores, views, races (drawing in model.h).
 *
 * What is in the real memory is always what was stored last, so that the code under test reads its
 * plain data there. It is as before when the execution has ended.
 */
#ifndef PP_TEST_INTERLEAVE_MEMORY_H
#define PP_TEST_INTERLEAVE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Around an execution. */
void memory_begin(void);
void memory_end(void);

/* Another scenario: no location is known. */
void memory_forget(void);
/* Whether a location was found in this execution that several threads use: it does not count. */
bool memory_has_grown(void);

typedef uint64_t memory_change(uint64_t value, uint64_t operand);

uint64_t memory_load(uintptr_t address, unsigned size, int order);
void memory_store(uintptr_t address, unsigned size, uint64_t value, int order);
/* Returns what was there. */
uint64_t memory_modify(uintptr_t address, unsigned size, memory_change *change, uint64_t operand,
                       int order);
bool memory_compare_exchange(uintptr_t address, unsigned size, uint64_t *expected, uint64_t desired,
                             int order, int failure_order);
void memory_fence(int order);

/* Before a plain access. */
void memory_access(uintptr_t address, size_t size, bool is_write);

#endif
