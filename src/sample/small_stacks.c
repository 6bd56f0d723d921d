/* SPDX-License-Identifier: MIT
 *
 * small_stacks.c: a list of thread ids.
 *
 * Zone: SIGNAL.
 * Locks: none. An entry is written by its own thread.
 * Owns: the list; a byte of TLS.
 */
#include "sample/small_stacks.h"

#include "arch/signal_frame.h"
#include "base/compiler.h"
#include "sys/tasks.h"

#include <stddef.h>
#include <string.h>

enum {
    LISTED = 256,
    HANDLER_BYTES = 512 /* enough to see that there is no room for more, and to lose the sample */
};

static int list[LISTED];
static unsigned listed; /* how many are not 0: most programs have none */
static bool too_many;
static PP_TLS bool own;

bool pp_small_stacks_is(const stack_t *stack)
{
    return (stack->ss_flags & SS_DISABLE) == 0 &&
           stack->ss_size < pp_signal_frame_bytes() + HANDLER_BYTES;
}

static bool replace(int from, int to)
{
    for (size_t i = 0; i < LISTED; i++) {
        int now = from;
        if (__atomic_compare_exchange_n(&list[i], &now, to, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            return true;
        }
    }
    return false;
}

bool pp_small_stacks_has_own(void)
{
    return own;
}

void pp_small_stacks_set_own(bool small)
{
    int self = pp_task_self();
    if (small == own) {
        return;
    }
    own = small;
    if (!small) {
        replace(self, 0);
        __atomic_sub_fetch(&listed, 1, __ATOMIC_RELEASE);
        return;
    }
    __atomic_add_fetch(&listed, 1, __ATOMIC_RELAXED);
    if (!replace(0, self)) {
        __atomic_store_n(&too_many, true, __ATOMIC_RELAXED);
    }
}

bool pp_small_stacks_has(int tid)
{
    if (__atomic_load_n(&listed, __ATOMIC_ACQUIRE) == 0) {
        return false;
    }
    for (size_t i = 0; i < LISTED; i++) {
        if (__atomic_load_n(&list[i], __ATOMIC_RELAXED) == tid) {
            return true;
        }
    }
    return __atomic_load_n(&too_many, __ATOMIC_RELAXED);
}

void pp_small_stacks_after_fork_in_child(void)
{
    bool small = own;
    memset(list, 0, sizeof list);
    listed = 0;
    too_many = own = false;
    pp_small_stacks_set_own(small);
}
