/* SPDX-License-Identifier: MIT
 *
 * loader_use.c: see loader_use.h.
 *
 * Zone: HOOK.
 * Owns: the threads that are out of the loader; the forks that are under way.
 * Tested by: unit.loader, e2e.load_after_fork
 */
#include "modules/loader_use.h"

#include "modules/loader.h"
#include "sys/lock.h"
#include "sys/tasks.h"

#include <stdint.h>

enum {
    MOST_OUT = 8, /* further threads count as being in the loader */
    FORK_LOOKS =
        4000 /* some 0.4 s: what runs at a fork may wait for a lock of the thread that goes in */
};

static struct {
    uint32_t forks;    /* that are under way */
    bool went_in;      /* a thread did not wait for the end of them */
    int out[MOST_OUT]; /* threads, 0: free */
} use;

static bool replace_out(int from, int to)
{
    for (unsigned i = 0; i < MOST_OUT; i++) {
        int expected = from;
        if (__atomic_compare_exchange_n(&use.out[i], &expected, to, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED)) {
            return true;
        }
    }
    return false;
}

static bool is_forking(void)
{
    return __atomic_load_n(&use.forks, __ATOMIC_SEQ_CST) != 0;
}

void pp_loader_go_out(void)
{
    replace_out(0, pp_task_self());
}

/* Either this sees the fork, or the fork sees that this thread is not out. */
bool pp_loader_go_in(void)
{
    int self = pp_task_self();
    bool was_out = replace_out(self, 0);
    for (unsigned look = 0; was_out && is_forking(); look++) {
        if (look == FORK_LOOKS) {
            __atomic_store_n(&use.went_in, true, __ATOMIC_SEQ_CST);
            break;
        }
        replace_out(0, self);
        pp_lock_pause(look);
        replace_out(self, 0);
    }
    return was_out;
}

void pp_loader_wait(bool begins)
{
    if (begins) {
        pp_loader_go_out();
    } else {
        pp_loader_go_in();
    }
}

bool pp_loader_begin_fork(void)
{
    unsigned out = 0;
    if (__atomic_fetch_add(&use.forks, 1, __ATOMIC_SEQ_CST) == 0) {
        use.went_in = false;
    }
    for (unsigned i = 0; i < MOST_OUT; i++) {
        out += __atomic_load_n(&use.out[i], __ATOMIC_SEQ_CST) != 0;
    }
    return pp_tasks_count() == 1 + out;
}

void pp_loader_end_fork(void)
{
    __atomic_sub_fetch(&use.forks, 1, __ATOMIC_SEQ_CST);
}

void pp_loader_after_fork_in_child(void)
{
    if (use.went_in) {
        pp_loader_suspect();
    }
    use.forks = 0;
    for (unsigned i = 0; i < MOST_OUT; i++) {
        use.out[i] = 0;
    }
}
