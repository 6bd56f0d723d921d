/* SPDX-License-Identifier: MIT
 *
 * small_stacks.c: a list of threads, as an array.
 *
 * Zone: SIGNAL.
 * Locks: none. Each thread writes its own entry.
 * Owns: the list; a word of TLS.
 * Tested by: e2e.alternate_stacks
 */
#include "threads/small_stacks.h"

#include "arch/signal_frame.h"
#include "base/compiler.h"
#include "sys/tasks.h"

#include <stddef.h>

enum { LISTED = 256 };

typedef struct entry {
    int tid; /* 0 = free */
    uintptr_t thread;
} entry;

typedef struct small_stacks {
    entry list[LISTED];
    unsigned listed; /* the number of threads with a small stack: most programs have none */
    bool too_many;
    uint64_t registers; /* that the process may use, when `frame_bytes` was last made larger */
    size_t frame_bytes; /* of a signal with `registers`, or more */
} small_stacks;

static small_stacks state;
static PP_TLS uintptr_t own; /* pthread_self() while the thread has a small stack */

/* The size of a signal's frame. It is computed again when the process may use more registers than
 * before. The stored size never gets smaller, even if several threads compute it at a time. */
static size_t frame_bytes(void)
{
    uint64_t permitted = pp_signal_features();
    if (__atomic_load_n(&state.registers, __ATOMIC_ACQUIRE) != permitted) {
        size_t now = pp_signal_frame_bytes(permitted);
        size_t before = __atomic_load_n(&state.frame_bytes, __ATOMIC_RELAXED);
        while (now > before && !__atomic_compare_exchange_n(&state.frame_bytes, &before, now, true,
                                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        }
        __atomic_store_n(&state.registers, permitted, __ATOMIC_RELEASE);
    }
    return __atomic_load_n(&state.frame_bytes, __ATOMIC_RELAXED);
}

bool pp_small_stacks_is(const stack_t *stack)
{
    return (stack->ss_flags & SS_DISABLE) == 0 && stack->ss_size < frame_bytes() + PP_SAMPLE_ROOM;
}

static entry *entry_of(int tid)
{
    for (size_t i = 0; i < LISTED; i++) {
        if (__atomic_load_n(&state.list[i].tid, __ATOMIC_ACQUIRE) == tid) {
            return &state.list[i];
        }
    }
    return NULL;
}

static bool add(int tid, uintptr_t thread)
{
    for (size_t i = 0; i < LISTED; i++) {
        int none = 0;
        if (__atomic_compare_exchange_n(&state.list[i].tid, &none, tid, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            __atomic_store_n(&state.list[i].thread, thread, __ATOMIC_RELEASE);
            return true;
        }
    }
    return false;
}

static void drop(entry *e)
{
    if (e != NULL) {
        __atomic_store_n(&e->thread, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&e->tid, 0, __ATOMIC_RELEASE);
    }
}

/* Drops the entries of threads that have ended: no hook sees the end of a thread that was created
 * past the hooks. */
static void drop_ended(void)
{
    for (size_t i = 0; i < LISTED; i++) {
        int tid = __atomic_load_n(&state.list[i].tid, __ATOMIC_RELAXED);
        if (tid != 0 && pp_task_cpu_ns(tid) < 0 &&
            __atomic_compare_exchange_n(&state.list[i].tid, &tid, 0, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            __atomic_sub_fetch(&state.listed, 1, __ATOMIC_RELEASE);
        }
    }
}

bool pp_small_stacks_has_own(void)
{
    return own != 0;
}

void pp_small_stacks_set_own(uintptr_t thread)
{
    int self = pp_task_self();
    if ((thread != 0) == (own != 0)) {
        return;
    }
    own = thread;
    if (thread == 0) {
        drop(entry_of(self));
        __atomic_sub_fetch(&state.listed, 1, __ATOMIC_RELEASE);
        return;
    }
    __atomic_add_fetch(&state.listed, 1, __ATOMIC_RELAXED);
    if (add(self, thread)) {
        return;
    }
    drop_ended();
    if (!add(self, thread)) {
        __atomic_store_n(&state.too_many, true, __ATOMIC_RELAXED);
    }
}

bool pp_small_stacks_has(int tid)
{
    if (__atomic_load_n(&state.listed, __ATOMIC_ACQUIRE) == 0) {
        return false;
    }
    return entry_of(tid) != NULL || __atomic_load_n(&state.too_many, __ATOMIC_RELAXED);
}

int pp_small_stacks_find(uintptr_t thread)
{
    if (__atomic_load_n(&state.listed, __ATOMIC_ACQUIRE) == 0) {
        return 0;
    }
    for (size_t i = 0; i < LISTED; i++) {
        if (__atomic_load_n(&state.list[i].thread, __ATOMIC_ACQUIRE) == thread) {
            return __atomic_load_n(&state.list[i].tid, __ATOMIC_RELAXED);
        }
    }
    return 0;
}

void pp_small_stacks_after_fork_in_child(void)
{
    uintptr_t thread = own;
    state = (small_stacks){.listed = 0};
    own = 0;
    pp_small_stacks_set_own(thread);
}
