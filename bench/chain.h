/* SPDX-License-Identifier: MIT
 *
 * chain.h: deep stacks that are never the same twice.
 *
 * 64 functions with frames of different sizes and kinds call each other in an order that a random
 * number decides, and the last of them calls `bottom`:
 *
 *   chain_descend -> step_17 -> step_3 -> step_60 -> ... -> bottom
 *
 * chain.c is compiled twice: without frame pointers, as distributions build programs, and with
 * them, for the walker that needs them.
 */
#ifndef BENCH_CHAIN_H
#define BENCH_CHAIN_H

#include <stdint.h>

typedef struct chain {
    uint64_t path; /* decides the functions; consumed on the way down */
    void (*bottom)(struct chain *chain);
    uintptr_t top; /* set: the frame address of chain_descend, where a frame-pointer walk ends */
} chain;

typedef uint64_t chain_descend_function(chain *c, unsigned depth);

/* Calls `bottom` with `depth` frames of step functions below this one. */
chain_descend_function chain_descend_plain;
chain_descend_function chain_descend_frame_pointer;

#endif
