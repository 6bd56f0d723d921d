/* SPDX-License-Identifier: MIT
 *
 * thread_launches.c: a list of free launches, which come in slabs, and the numbers of births.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Locks: `lock`, for the free list.
 * Owns: the slabs.
 * Tested by: e2e.threads, e2e.label_moments
 */
#include "threads/thread_launches.h"

#include "base/memory.h"
#include "sys/lock.h"
#include "sys/signal_mask.h"
#include "sys/tasks.h"

enum { SLAB_BYTES = 64 * 1024 };

typedef struct slab {
    struct slab *next;
    pp_thread_launch launches[];
} slab;

enum { SLAB_LAUNCHES = (SLAB_BYTES - sizeof(slab)) / sizeof(pp_thread_launch) };

static struct {
    pp_lock lock;
    pp_thread_launch *free;
    slab *slabs;
    uint64_t births;
} state;

static void fill_free_list(void)
{
    slab *fresh = pp_memory_map(SLAB_BYTES);
    if (fresh == NULL) {
        return;
    }
    for (size_t i = 0; i < SLAB_LAUNCHES; i++) {
        fresh->launches[i].next = state.free;
        state.free = &fresh->launches[i];
    }
    fresh->next = state.slabs;
    __atomic_store_n(&state.slabs, fresh, __ATOMIC_RELEASE);
}

pp_thread_launch *pp_thread_launch_take(void)
{
    pp_signal_mask old = 0;
    pp_lock_enter(&state.lock, pp_task_self(), &old);
    if (state.free == NULL) {
        fill_free_list();
    }
    pp_thread_launch *l = state.free;
    if (l != NULL) {
        state.free = l->next;
        uint64_t birth = __atomic_add_fetch(&state.births, 1, __ATOMIC_RELAXED);
        __atomic_store_n(&l->birth, birth, __ATOMIC_SEQ_CST);
    }
    pp_lock_leave(&state.lock, &old);
    return l;
}

void pp_thread_launch_give_back(pp_thread_launch *launch)
{
    pp_signal_mask old = 0;
    __atomic_store_n(&launch->birth, 0, __ATOMIC_RELEASE);
    pp_lock_enter(&state.lock, pp_task_self(), &old);
    launch->next = state.free;
    state.free = launch;
    pp_lock_leave(&state.lock, &old);
}

uint64_t pp_thread_births(void)
{
    return __atomic_load_n(&state.births, __ATOMIC_SEQ_CST);
}

bool pp_thread_births_are_over(uint64_t births)
{
    const slab *s = __atomic_load_n(&state.slabs, __ATOMIC_ACQUIRE);
    for (; s != NULL; s = s->next) {
        for (size_t i = 0; i < SLAB_LAUNCHES; i++) {
            uint64_t birth = __atomic_load_n(&s->launches[i].birth, __ATOMIC_ACQUIRE);
            if (birth != 0 && birth <= births) {
                return false;
            }
        }
    }
    return true;
}

void pp_thread_launches_after_fork(void)
{
    pp_lock_release(&state.lock);
    for (slab *s = state.slabs; s != NULL; s = s->next) {
        for (size_t i = 0; i < SLAB_LAUNCHES; i++) {
            if (s->launches[i].birth != 0) { /* else its page is not copied for the child */
                s->launches[i].birth = 0;
            }
        }
    }
}
