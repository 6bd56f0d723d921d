/* SPDX-License-Identifier: MIT
 *
 * model.h: runs a few threads through a piece of lock-free code in every order, and with every
 * value that the C11 memory model lets a load return.
 *
 * The code under test is compiled once more, with -fsanitize=thread, into the test; the calls that
 * the compiler puts before each access come here instead of to the sanitizer. Threads are
 * coroutines of one thread. Before an atomic access another one may go on, and what a load returns
 * is a choice as well:
 *
 *   memory    each location has the list of all that was stored to it, in order
 *   a thread  has a view: how far in each list it has looked; it may read that entry or any later
 *             one
 *   an entry  has the view of its writer, as far as the writer released it; who acquires, joins it
 *   seq_cst   one more view, that all its fences join; an access joins what it says of its own
 *             location
 *
 * That is how release and acquire are defined by views [Kang, Hur, Lahav, Vafeiadis, Dreyer: A
 * promising semantics for relaxed-memory concurrency, 2017; here without promises]. Plain accesses
 * have to be ordered by what happens before what; two that are not are a data race, which is
 * reported as any other fault.
 *
 * What is explored: all executions with at most so many preemptions and so many loads that do not
 * return the newest value (the bounds). What is not: a load that returns what a later store of its
 * own thread leads to (load buffering), and stores to one location that are ordered otherwise than
 * they were made (2+2W). A compare-exchange never fails without reason.
 *
 * Locations that only one thread uses are no choice. They are found out while exploring: once
 * another thread comes to one, everything begins anew.
 */
#ifndef PP_TEST_INTERLEAVE_MODEL_H
#define PP_TEST_INTERLEAVE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MODEL_THREADS = 3 };

typedef struct model_scenario {
    const char *name;
    void (*setup)(void); /* alone, before the threads; may be NULL */
    void (*thread[MODEL_THREADS])(void);
    void (*check)(void); /* alone, after them; may be NULL */
} model_scenario;

/* Kinds of operations, as a set. */
enum { MODEL_LOAD = 1, MODEL_STORE = 2, MODEL_RMW = 4, MODEL_FENCE = 8 };

/* A fault that is put in: these operations of this function have that memory order. */
typedef struct model_mutant {
    const char *function;
    unsigned kinds;
    int order;
} model_mutant;

typedef struct model_bounds {
    unsigned preemptions, stale_reads;
} model_bounds;

typedef struct model_result {
    uint64_t executions;
    const char *fault; /* of the last execution; NULL: none has one */
} model_result;

/* Explores until the first fault. `mutant`: NULL = the code as it is. */
model_result model_explore(const model_scenario *scenario, const model_mutant *mutant,
                           model_bounds bounds);

/* What the last execution did, to stdout. */
void model_print_last(void);

/* ---- for scenarios ---- */

/* Ends the execution with a fault. */
#define MODEL_CHECK(condition) model_check((condition), __func__, #condition)
void model_check(bool holds, const char *function, const char *text);

/* Zeroed memory for one execution. */
void *model_alloc(size_t bytes);

/* The thread waits for another: one goes on, if there is any, at no cost. */
void model_wait(void);

/* The number of the thread that runs. */
unsigned model_self(void);

/* ---- for redirect.h ---- */

/* The next operation is of this function. */
void model_at(const char *function);
void model_fence(int order);
void *model_memcpy(void *to, const void *from, size_t bytes);
void *model_memmove(void *to, const void *from, size_t bytes);
void *model_memset(void *to, int value, size_t bytes);
int model_memcmp(const void *a, const void *b, size_t bytes);

#endif
