/* SPDX-License-Identifier: MIT
 *
 * holders.h: what holds the resident memory of another process, as far as /proc says it.
 *
 * Nothing is loaded into the process, and it is not stopped. Stacks of threads that wait are found by
 * their stack pointers, glibc's arenas by what glibc writes there. Who allocated which block is known
 * by nobody but libpprof in the process.
 */
#ifndef PP_REMOTE_HOLDERS_H
#define PP_REMOTE_HOLDERS_H

#include "remote/dump.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct pp_remote_held {
    const char *holder; /* as the profile `memory` names it: "pprof_memory_code" */
    const char *name;   /* of a file or a thread; NULL: none */
    uint64_t arena;     /* of glibc; 0: none */
    uint64_t resident, private_bytes, swapped;
} pp_remote_held;

/* Is called for each piece of memory; pieces of one name may come apart. */
typedef void pp_remote_held_visit(const pp_remote_held *held, void *context);

typedef struct pp_remote_memory {
    uint64_t before, resident;  /* by the kernel's counters, before the reading and after it */
    uint64_t page_tables, huge; /* not in these */
    bool sees_memory;           /* false: arenas are not known */
} pp_remote_memory;

/* 0, or -1 with the reason: there is no such process, it has ended meanwhile, or it may not be
 * looked at. */
int pp_remote_holders(int pid, pp_remote_held_visit *visit, void *context, pp_remote_memory *memory,
                      pp_remote_error *error);

#endif
