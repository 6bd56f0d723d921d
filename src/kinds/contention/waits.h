/* SPDX-License-Identifier: MIT
 *
 * waits.h: the hooks of the functions that wait: for locks, conditions, semaphores and threads; and
 * of the functions that release locks.
 *
 *   program -> entry (in .S) -> target -> real function                   nothing is counted
 *                                      -> free? -> real function          no contention
 *                                               -> pp_wait_slow -> try, wait, record
 *   program -> entry of a mutex -> free? -> real function
 *                                        -> target
 *
 * Zone: HOOK.
 * Owns: the hooks.
 */
#ifndef PP_KINDS_CONTENTION_WAITS_H
#define PP_KINDS_CONTENTION_WAITS_H

#include "arch/hook_layout.h"
#include "host/call_slots.h"
#include "host/sampler.h"

#include <stdbool.h>
#include <stdint.h>

/* The kind of a hooked function. */
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

/* How long a hooked function waits: for ever, until a time, or until a time on a given clock. */
typedef enum pp_wait_limit { PP_WAIT_EVER, PP_WAIT_UNTIL, PP_WAIT_CLOCK } pp_wait_limit;

typedef long pp_wait_function(uintptr_t, uintptr_t, uintptr_t, uintptr_t);

typedef struct pp_wait_hook {
    pp_wait_function *real;
    pp_wait_function *target; /* where the entry jumps to: real or counting */
    pp_wait_function *counting;
    pp_wait_function *entry; /* the function that the program calls: the leaf of the stacks */
    pp_wait_function *try;   /* does the same without waiting; NULL = there is none */
    const char *name, *try_name;
    const char *version; /* of the real function's symbol; NULL = the default one */
    pp_wait_shape shape;
    pp_wait_limit limit;
    bool resolved;
} pp_wait_hook;

PP_ASSERT_HOOK(pp_wait_hook);

/* A call of a hooked function, as the entry has put it on the stack. */
typedef struct pp_wait_call {
    uintptr_t argument[4];
    pp_wait_hook *hook;
    uintptr_t bx, fp;
    uintptr_t return_address;
} pp_wait_call;

PP_ASSERT_CALL(pp_wait_call, 4);

/* As pp_kind_hooks.list_called (host/kind.h). Zone: NORMAL. */
size_t pp_hook_waits_list_called(pp_called_hook *list, size_t capacity);

/* Makes the hooks of all threads count, or stop counting, from now on. Zone: NORMAL. */
void pp_hook_waits_count(bool on);

/*
 * Resolves all hooks before a second thread is created, while no other thread can hold a lock.
 * Later, the loader's lock may belong to a thread that waits for the one that would resolve (a
 * library's constructor that waits for its own threads). Zone: NORMAL.
 */
void pp_hook_waits_prepare_for_threads(void);

/* Whether the hooks count. The entry of syscall() reads this. */
extern bool pp_hook_waits_counted;

/* ---- within this room ---- */

/* Finds the real function, at the first call. False if there is none. */
bool pp_wait_resolve(pp_wait_hook *hook);

/* Resolves the hooks before the first thread begins; a thread that ends gives its waiters back. */
extern const pp_sampler pp_contention_sampler;

#endif
