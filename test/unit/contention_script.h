/* SPDX-License-Identifier: MIT
 *
 * contention_script.h: what tests of the block and mutex profiles have in common: threads in step,
 * and what the tables have gained since a moment.
 */
#ifndef TEST_CONTENTION_SCRIPT_H
#define TEST_CONTENTION_SCRIPT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pprof.h"
#include "kernel.h"
#include "kinds/contention/contention.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

/* ThreadSanitizer knows no C11 threads, holds signals back, loses its place when a wait is
 * cancelled, and takes a refusal for an error of the caller. */
#ifdef __SANITIZE_THREAD__
#define NOT_UNDER_TSAN() skip()
#else
#define NOT_UNDER_TSAN() ((void)0)
#endif

/* AddressSanitizer of gcc 13 and later aborts at a join of a thread that it has not seen begin. */
#ifdef __SANITIZE_ADDRESS__
#define MAY_JOIN_ITSELF false
#else
#define MAY_JOIN_ITSELF true
#endif

/* ---- what the tables have gained since a moment ---- */

/* A function in a section of its own: the linker says where that begins and ends. */
#define KNOWN(name)                                                                                \
    extern const char __start_in_##name[], __stop_in_##name[];                                     \
    static const known name##_code = {__start_in_##name, __stop_in_##name};                        \
    __attribute__((noinline, section("in_" #name)))

typedef struct known {
    const char *start, *stop;
} known;

static inline bool is_within(uintptr_t pc, const known *function)
{
    return pc - 1 >= (uintptr_t)function->start && pc - 1 < (uintptr_t)function->stop;
}

typedef struct totals {
    uint64_t count, amount;
    const known *function; /* only entries with this frame; NULL = all */
    const void *leaf;      /* likewise: the hooked function, by its address */
} totals;

static inline void add_entry(const pp_stack_entry *entry, void *context)
{
    totals *t = context;
    bool wanted = t->function == NULL;
    for (uint32_t i = 0; i < entry->depth && !wanted; i++)
        wanted = is_within(entry->pc[i], t->function);
    if (wanted && (t->leaf == NULL || entry->pc[0] - 1 == (uintptr_t)t->leaf)) {
        t->count += entry->count;
        t->amount += entry->amount;
    }
}

static inline totals total(const pp_stack_counts *table, const known *function, const void *leaf)
{
    totals t = {.function = function, .leaf = leaf};
    if (table != NULL)
        pp_stack_counts_each(table, add_entry, &t);
    t.count /= PP_CONTENTION_EVENT;
    return t;
}

static inline totals blocked_in(const known *function, const void *leaf)
{
    return total(pp_contention_blocked(), function, leaf);
}

static inline totals held_up_by(const known *function, const void *leaf)
{
    return total(pp_contention_held_up(), function, leaf);
}

static inline int count_everything(void **state)
{
    (void)state;
    pprof_set_block_profile_rate(1);
    pprof_set_mutex_profile_fraction(1);
    return 0;
}

/* ---- threads in step ---- */

static inline uint16_t listed_for(const void *object)
{
    return __atomic_load_n(&pp_waiters.listed[pp_contention_hash((uintptr_t)object)],
                           __ATOMIC_ACQUIRE);
}

static inline void until_listed(const void *object, unsigned count)
{
    while (listed_for(object) != count)
        sched_yield();
}

/* A waiter that is listed may not sleep yet. Until one does the lock word is 1, and an unlock has
 * no reason to look who waits. `mutex`: a normal one, or a plain mtx_t. */
static inline void until_waited_for(const void *mutex, unsigned count)
{
    until_listed(mutex, count);
    while (__atomic_load_n((const int *)mutex, __ATOMIC_ACQUIRE) == 1)
        sched_yield();
}

static inline void start(pthread_t *threads, unsigned count, void *(*function)(void *),
                         void *argument)
{
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, function, argument), 0);
}

static inline void join(const pthread_t *threads, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

#endif
