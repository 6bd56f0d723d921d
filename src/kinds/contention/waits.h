/* SPDX-License-Identifier: MIT
 *
 * waits.h: the hooks of what threads wait for: locks, conditions, semaphores, other threads.
 *
 *   program -> entry (arch/) -> target -> real function                   nothing is counted
 *                                      -> look -> real function            nobody in the way
 *                                              -> pp_wait_slow -> try, wait, record
 *
 * Zone: HOOK.
 * Owns: the hooks.
 */
#ifndef PP_KINDS_CONTENTION_WAITS_H
#define PP_KINDS_CONTENTION_WAITS_H

#include "host/sampler.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum pp_wait_shape {
    PP_WAIT_MUTEX,
    PP_WAIT_MTX,
    PP_WAIT_RDLOCK,
    PP_WAIT_WRLOCK,
    PP_WAIT_SPIN,
    PP_WAIT_UNMUTEX,
    PP_WAIT_UNLOCK,
    PP_WAIT_COND,
    PP_WAIT_SEM,
    PP_WAIT_JOIN,
    PP_WAIT_BARRIER,
    PP_WAIT_EVENT
} pp_wait_shape;

typedef enum pp_wait_limit { PP_WAIT_EVER, PP_WAIT_UNTIL, PP_WAIT_CLOCK } pp_wait_limit;

typedef long pp_wait_function(uintptr_t, uintptr_t, uintptr_t, uintptr_t);

/* The first two members are known to the entries. */
typedef struct pp_wait_hook {
    pp_wait_function *real;
    pp_wait_function *target; /* where the entry goes */
    pp_wait_function *counting;
    pp_wait_function *entry; /* what the program calls: the leaf of the stacks */
    pp_wait_function *try;   /* takes without waiting; NULL = there is none */
    const char *name, *try_name;
    const char *version; /* of the real function; NULL = the present one */
    pp_wait_shape shape;
    pp_wait_limit limit;
    bool resolved;
} pp_wait_hook;

/* What the entry has put on the stack. */
typedef struct pp_wait_call {
    uintptr_t argument[4];
    pp_wait_hook *hook;
    uintptr_t bx, fp;
    uintptr_t return_address;
} pp_wait_call;

/* Whether hooks count, in all threads from now on. Zone: NORMAL. */
void pp_hook_waits_count(bool on);

/*
 * A second thread is about to be created: all hooks are resolved now, on the thread that has all
 * locks that anybody has. Later, the loader's lock may belong to a thread that waits for the one
 * that would resolve (a library's constructor that waits for its own threads). Zone: NORMAL.
 */
void pp_hook_waits_prepare_for_threads(void);

/* Whether they do. Read by the entry of syscall(). */
extern bool pp_hook_waits_counted;

/* ---- within this room ---- */

/* False if the function does not exist. */
bool pp_wait_resolve(pp_wait_hook *hook);

/* What threads and their ends mean for the waits. */
extern const pp_sampler pp_contention_sampler;

#endif
