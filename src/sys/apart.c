/* SPDX-License-Identifier: MIT
 *
 * apart.c: see apart.h.
 *
 * Zone: SIGNAL.
 * Owns: whether it is permitted; the kept descriptor; the number of holders.
 * Tested by: unit.apart, e2e.descriptors
 */
#include "sys/apart.h"

#include "arch/apart_call.h"
#include "arch/system_call.h"
#include "sys/lock.h"
#include "sys/own_threads.h"
#include "sys/signal_mask.h"

#include <errno.h>
#include <limits.h>
#include <linux/close_range.h>
#include <sched.h>
#include <stdint.h>
#include <unistd.h>

enum {
    FLAGS = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
            CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID
};

/* Of the calling thread, in its marks; the new thread has the marks of its caller. */
typedef enum place { OUTSIDE, ON_CALLER, IN_OWN_TABLE } place;

enum { STAYS = -1 };

static struct {
    bool permitted;
    int kept; /* -1: none */
    int left; /* threads that have left for good; STAYS: none may */
    int holders;
} state = {.kept = -1};

typedef struct work {
    void (*function)(void *argument);
    void *argument;
} work;

void pp_apart_permit(bool permitted)
{
    __atomic_store_n(&state.permitted, permitted, __ATOMIC_RELAXED);
}

void pp_apart_keep(int fd)
{
    __atomic_store_n(&state.kept, fd, __ATOMIC_RELAXED);
}

bool pp_apart_has_table(void)
{
    return pp_thread_marks.place == IN_OWN_TABLE;
}

static void close_between(int above, int below)
{
    if (below - above > 1) {
        pp_system_call(SYS_close_range, above + 1, below - 1, 0);
    }
}

void pp_apart_hold(void)
{
    __atomic_add_fetch(&state.holders, 1, __ATOMIC_SEQ_CST);
}

void pp_apart_release(void)
{
    int holders = __atomic_load_n(&state.holders, __ATOMIC_SEQ_CST);
    while (holders > 0 && !__atomic_compare_exchange_n(&state.holders, &holders, holders - 1, false,
                                                       __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
}

/* The call that closes and the one that holds take the same lock of the table, so a file that is held was closed after
 * pp_apart_hold(). A thread that was killed in its call (by a filter) is waited for once. */
void pp_apart_wait_for_release(void)
{
    enum { PATIENCE = 2000 /* calls of pp_lock_pause() */ };
    unsigned attempt = 0;
    while (__atomic_load_n(&state.holders, __ATOMIC_SEQ_CST) > 0) {
        pp_lock_pause(attempt);
        if (++attempt == PATIENCE) {
            __atomic_store_n(&state.holders, 0, __ATOMIC_SEQ_CST);
        }
    }
}

/* The first call makes the new table, with the numbers below at most: the kernel copies what the call
 * does not close, and, for the length of the call, the first 64. `also` is kept, too, unless it is -1. In a trial
 * child, which may be killed here and has descriptors of its own, nobody has to wait. */
static bool leave_table(int also)
{
    int kept = __atomic_load_n(&state.kept, __ATOMIC_RELAXED);
    int low = kept < also ? kept : also;
    int high = kept < also ? also : kept;
    bool is_trial = pp_apart_has_table();
    if (!is_trial) {
        pp_apart_hold();
    }
    bool left = pp_system_call(SYS_close_range, high + 1, UINT_MAX, CLOSE_RANGE_UNSHARE) == 0;
    if (left) {
        close_between(-1, low);
        close_between(low, high);
    }
    if (!is_trial) {
        pp_apart_release();
    }
    return left;
}

static void run(void *of_work)
{
    const work *w = of_work;
    pp_thread_marks.place = leave_table(STDERR_FILENO) ? IN_OWN_TABLE : ON_CALLER;
    w->function(w->argument);
}

/* The kernel wakes the caller before it has taken the thread from its lists; on a busy machine the
 * thread may not run again for many time slices, and until it has, lists must know it as lent. It is
 * taken out under the lock of the process's signals, which the last call needs. The wait has an end
 * because the id can be given to another thread in the end. */
static void wait_until_gone(int tid)
{
    enum { ATTEMPTS = 24000 /* some 2 s */ };
    uint64_t signals = 0;
    for (unsigned attempt = 0;
         attempt < ATTEMPTS && pp_system_call(SYS_tgkill, pp_system_call(SYS_getpid), tid, 0) == 0;
         attempt++) {
        pp_lock_pause(attempt);
    }
    pp_system_call(SYS_rt_sigpending, &signals, sizeof signals);
}

/* False: there is no such thread. `tid`: where the kernel stores its id. */
static bool run_on_thread(const work *w, int *tid)
{
    int lives = 1;
    long error = pp_apart_call(FLAGS, tid, &lives, run, (void *)w);
    if (error == 0) {
        wait_until_gone(__atomic_load_n(tid, __ATOMIC_RELAXED));
    }
    return error == 0;
}

static bool run_apart(const work *w)
{
    int unlisted = 0;
    int *tid = pp_own_threads_lend((int)pp_system_call(SYS_gettid));
    bool ran = run_on_thread(w, tid != NULL ? tid : &unlisted);
    pp_own_threads_take_back(tid);
    return ran;
}

static void call(const work *w, bool stays)
{
    const pp_signal_mask all = ~UINT64_C(0);
    pp_signal_mask old = 0;
    int saved_errno = errno;
    pp_system_call(SYS_rt_sigprocmask, SIG_BLOCK, &all, &old, sizeof all);
    pp_thread_marks.place = ON_CALLER;
    if (stays || !__atomic_load_n(&state.permitted, __ATOMIC_RELAXED) ||
        pp_tasks_count_all() == 1 || !run_apart(w)) {
        w->function(w->argument);
    }
    pp_thread_marks.place = OUTSIDE;
    pp_signals_restore(&old);
    errno = saved_errno;
}

void pp_apart(void (*function)(void *argument), void *argument)
{
    const work w = {function, argument};
    if (pp_thread_marks.place == OUTSIDE) {
        call(&w, false);
    } else {
        function(argument);
    }
}

void pp_apart_stay(void (*function)(void *argument), void *argument)
{
    const work w = {function, argument};
    if (pp_thread_marks.place == OUTSIDE) {
        call(&w, true);
    } else {
        function(argument);
    }
}

int pp_apart_fetch(int fd)
{
    long process = pp_system_call(SYS_pidfd_open, pp_system_call(SYS_getpid), 0);
    long copy = process >= 0 ? pp_system_call(SYS_pidfd_getfd, process, fd, 0) : process;
    if (process >= 0) {
        pp_system_call(SYS_close, process);
    }
    return (int)copy;
}

static void move(place from, place to)
{
    if (pp_thread_marks.place == from) {
        pp_thread_marks.place = (uint8_t)to;
    }
}

void pp_apart_suspend(void)
{
    move(OUTSIDE, ON_CALLER);
}

void pp_apart_resume(void)
{
    move(ON_CALLER, OUTSIDE);
}

unsigned pp_apart_before_child(void)
{
    unsigned before = pp_thread_marks.place;
    pp_thread_marks.place = IN_OWN_TABLE;
    return before;
}

void pp_apart_after_child(unsigned before)
{
    pp_thread_marks.place = (uint8_t)before;
}

bool pp_apart_may_leave(void)
{
    return __atomic_load_n(&state.permitted, __ATOMIC_RELAXED) &&
           __atomic_load_n(&state.left, __ATOMIC_RELAXED) != STAYS;
}

static bool count_leaver(void)
{
    int left = __atomic_load_n(&state.left, __ATOMIC_RELAXED);
    while (left != STAYS && !__atomic_compare_exchange_n(&state.left, &left, left + 1, false,
                                                         __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    }
    return left != STAYS;
}

bool pp_apart_leave(int kept)
{
    if (pp_apart_has_table()) {
        return true;
    }
    if (!pp_apart_may_leave() || !count_leaver()) {
        return false;
    }
    if (!leave_table(kept)) {
        __atomic_sub_fetch(&state.left, 1, __ATOMIC_ACQ_REL);
        return false;
    }
    pp_thread_marks.place = IN_OWN_TABLE;
    return true;
}

void pp_apart_end(void)
{
    if (pp_apart_has_table()) {
        __atomic_sub_fetch(&state.left, 1, __ATOMIC_ACQ_REL);
    }
}

void pp_apart_after_fork_in_child(void)
{
    if (state.left != STAYS) {
        state.left = 0;
    }
    state.holders = 0;
}

bool pp_apart_stay_all(void)
{
    int none = 0;
    return __atomic_compare_exchange_n(&state.left, &none, STAYS, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED) ||
           none == STAYS;
}

static void note_table(void *of_result)
{
    *(bool *)of_result = pp_apart_has_table();
    pp_apart_fetch(STDERR_FILENO);
}

/* In a trial child, whose memory may be the program's: what it would note of the thread would stay if a filter kills
 * both. */
bool pp_apart_try(void)
{
    bool has_table = false;
    int tid = 0;
    const work w = {note_table, &has_table};
    uint8_t before = pp_thread_marks.place;
    bool ran = run_on_thread(&w, &tid);
    pp_thread_marks.place = before;
    return ran && has_table;
}
