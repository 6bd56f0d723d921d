/* SPDX-License-Identifier: MIT
 *
 * scratch.c: borrowing of walk buffers (drawing in the header).
 *
 * Zone: SIGNAL.
 * Owns: the buffers; the calling thread's innermost borrower.
 */
#include "unwind/scratch.h"

#include "arch/system_call.h"
#include "base/compiler.h"
#include "sys/left_frame.h"
#include "sys/sanitizers.h"
#include "sys/tasks.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
    BUFFERS = 64,     /* how many threads can be in a walk at one time */
    UNNAMED = INT_MIN /* the owner, if that is a handler of samples */
};

static struct {
    int owner[BUFFERS]; /* states in the header's drawing */
    unsigned suspect;   /* the buffer whose owner is checked next, modulo BUFFERS */
    pp_scratch buffer[BUFFERS];
} all;

static PP_TLS struct {
    /* The stack pointer of the thread's innermost borrower. It is written before a buffer is taken,
     * and cleared after that was given back: a thread for which this is 0 holds none. */
    uintptr_t inside;
    int self; /* the thread's id; 0 = not known yet */
} own;

static int own_id(void)
{
    if (pp_unlikely(own.self == 0)) {
        own.self = pp_task_self();
    }
    return own.self;
}

/* Handlers of this thread see this store in the program's order. */
static void set_inside(uintptr_t sp)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    *(volatile uintptr_t *)&own.inside = sp;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static int owner_of(unsigned index)
{
    return __atomic_load_n(&all.owner[index], __ATOMIC_RELAXED);
}

static void set_owner(unsigned index, int who)
{
    __atomic_store_n(&all.owner[index], who, __ATOMIC_RELEASE);
}

static bool change_owner(unsigned index, int from, int to)
{
    return __atomic_compare_exchange_n(&all.owner[index], &from, to, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

static bool is_own(unsigned index)
{
    return owner_of(index) == own_id() || owner_of(index) == -own_id();
}

/* ---- buffers whose borrowers were left by a jump ---- */

static void take_back(unsigned index)
{
    pp_memo_abandon(&all.buffer[index].space.memo_use);
    set_owner(index, 0);
}

/* Takes back those of the thread's buffers whose borrowers were left. The innermost borrower may
 * have taken a buffer and not yet written its stack pointer: this does it instead, before `inside`
 * becomes another borrower's. */
PP_COLD_PATH static void take_back_left(uintptr_t sp)
{
    bool any = false;
    for (unsigned i = 0; i < BUFFERS; i++) {
        if (!is_own(i)) {
            continue;
        }
        if (owner_of(i) < 0) {
            all.buffer[i].sp = own.inside;
            set_owner(i, own_id());
        }
        if (pp_frame_was_left(all.buffer[i].sp, sp)) {
            take_back(i);
        } else {
            any = true;
        }
    }
    if (!any &&
        pp_frame_was_left(own.inside, sp)) { /* otherwise its borrower is about to take a buffer */
        set_inside(0);
    }
}

/* Looks at one owner each time, so that many failures in a row stay cheap. */
PP_COLD_PATH static int take_of_the_dead(int taker)
{
    unsigned index = __atomic_fetch_add(&all.suspect, 1, __ATOMIC_RELAXED) % BUFFERS;
    int who = owner_of(index);
    if (who == UNNAMED ||
        pp_system_call(SYS_tgkill, pp_system_call(SYS_getpid), who < 0 ? -who : who, 0) != -ESRCH ||
        !change_owner(index, who, taker)) {
        return -1;
    }
    pp_memo_abandon(&all.buffer[index].space.memo_use);
    return (int)index;
}

/* ---- taking and giving ---- */

static int take(int who)
{
    for (unsigned i = 0; i < BUFFERS; i++) {
        if (owner_of(i) == 0 && change_owner(i, 0, who)) {
            return (int)i;
        }
    }
    return take_of_the_dead(who);
}

pp_scratch *pp_scratch_take(void)
{
    int index = take(UNNAMED);
    return index >= 0 ? &all.buffer[index] : NULL;
}

pp_scratch *pp_scratch_take_at(uintptr_t sp)
{
    int who = own_id();
    if (pp_unlikely(own.inside != 0)) {
        take_back_left(sp);
    }
    uintptr_t outer = own.inside;
    set_inside(sp);
    int index = take(-who);
    if (index < 0) {
        set_inside(outer);
        return NULL;
    }
    all.buffer[index].outer_sp = outer;
    all.buffer[index].sp = sp;
    set_owner((unsigned)index, who);
    return &all.buffer[index];
}

/* If the giver is not the innermost borrower, one further inside was left by a jump. `inside` then
 * stays, so that take_back_left() finds that one. */
void pp_scratch_give(pp_scratch *buffer)
{
    unsigned index = (unsigned)(buffer - all.buffer);
    bool innermost = owner_of(index) != UNNAMED && buffer->sp == own.inside;
    uintptr_t outer = buffer->outer_sp;
    if (pp_unlikely(pp_sanitizers_look_for_leaks())) {
        memset(&buffer->space, 0, sizeof buffer->space); /* registers, words of the stack */
    }
    set_owner(index, 0);
    if (innermost) {
        set_inside(outer);
    }
}

/* ---- threads and processes ---- */

void pp_scratch_thread_end(void)
{
    for (unsigned i = 0; own.inside != 0 && i < BUFFERS; i++) {
        if (is_own(i)) {
            take_back(i);
        }
    }
    set_inside(0);
}

void pp_scratch_after_fork_in_child(void)
{
    int before = own.self;
    own.self = pp_task_self();
    for (unsigned i = 0; i < BUFFERS; i++) {
        bool kept = before != 0 && (all.owner[i] == before || all.owner[i] == -before);
        all.owner[i] = !kept ? 0 : all.owner[i] > 0 ? own.self : -own.self;
    }
}
