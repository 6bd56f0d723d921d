/* SPDX-License-Identifier: MIT
 *
 * walkers.h: who walks a stack: libpprof and its peers, behind one signature.
 */
#ifndef BENCH_WALKERS_H
#define BENCH_WALKERS_H

#include "chain.h"

#include <stddef.h>

typedef struct walker {
    const char *name; /* last part of the names of its results */
    /* Stores at most `capacity` return addresses of the caller's stack; how many. */
    size_t (*walk)(const chain *c, void **pcs, size_t capacity);
    chain_descend_function *descend; /* the stack that it can walk */
    unsigned repetitions; /* walks a block: some are a hundred times slower than others */
} walker;

/* libunwind's, if the build found it; else an empty list. Ends with a walker without a name. */
extern const walker libunwind_walkers[];

#endif
