/* SPDX-License-Identifier: MIT
 *
 * leak_stacks.h: the stacks of the threads during a pass of a search for leaks.
 *
 *   [guard page|  unused: dead words  |red zone| frames ............|TLS]
 *                                     SP - 128 ^ SP
 *
 * Below the stack pointer are remains of calls that are over. They are left out for the calling
 * thread, and for threads that wait, if the stack's bounds are sure: the first thread's, and those
 * after a guard page that have the thread's own variables at their end. A thread that has run
 * during the pass has its whole stack read. So has one that runs: nobody knows its stack pointer.
 * The arguments of the call in which a thread waits are read, too.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing; everything is in the arena.
 */
#ifndef PP_KINDS_HEAP_LEAK_STACKS_H
#define PP_KINDS_HEAP_LEAK_STACKS_H

#include "base/arena.h"
#include "kinds/heap/leak_memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_leak_rest {
    pp_leak_span below; /* the stack pointer */
    int tid;
    int64_t clock_ns; /* as long as it reads so, the thread has not run */
} pp_leak_rest;

typedef struct pp_leak_stacks {
    pp_leak_rest *rests;
    size_t rest_count;
    uint64_t *arguments; /* of the calls in which threads wait: registers that the kernel shows */
    size_t argument_count;
} pp_leak_stacks;

/* Hides what is below the stack pointers. `sp`: the caller's. `alone`: there are no other threads. 0
 * or -ENOMEM; without /proc nothing is hidden of other threads. Opens
 * files: for a function that pp_apart() calls (sys/apart.h). */
int pp_leak_stacks_read(pp_leak_stacks *stacks, uintptr_t sp, bool alone, pp_leak_memory *memory,
                        pp_arena *arena);

/* After the memory was read: reads the arguments, and what was hidden of threads that have run. 0 or
 * -errno. */
int pp_leak_stacks_read_rest(const pp_leak_stacks *stacks, pp_leak_memory *memory,
                             pp_leak_visit *visit, void *context);

#endif
