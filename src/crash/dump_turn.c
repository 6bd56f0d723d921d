/* SPDX-License-Identifier: MIT
 *
 * dump_turn.c: two words.
 *
 * Zone: SIGNAL.
 * Tested by: e2e.crash
 */
#include "crash/dump_turn.h"

#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/tasks.h"

static const uint64_t a_little_more_ns = 5000000000;

static struct {
    pp_lock turn;
    bool last;
} state;

bool pp_dump_turn_try(int self)
{
    return pp_lock_try(&state.turn, self);
}

bool pp_dump_turn_wait(int self)
{
    return pp_lock_take_within(&state.turn, self, PP_DUMP_PATIENCE_NS + a_little_more_ns);
}

bool pp_dump_turn_is_of(int self)
{
    return pp_lock_held_by(&state.turn, self);
}

void pp_dump_turn_end(void)
{
    pp_lock_release(&state.turn);
}

void pp_dump_turn_is_last(void)
{
    __atomic_store_n(&state.last, true, __ATOMIC_RELEASE);
}

void pp_dump_turn_let_crash(void)
{
    if (__atomic_load_n(&state.last, __ATOMIC_ACQUIRE) && !pp_dump_turn_is_of(pp_task_self())) {
        pp_dump_turn_wait(pp_task_self());
    }
}

void pp_dump_turn_after_fork(void)
{
    pp_lock_release(&state.turn);
    state.last = false;
}
