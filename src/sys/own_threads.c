/* SPDX-License-Identifier: MIT
 *
 * own_threads.c: see own_threads.h.
 *
 * Zone: SIGNAL.
 * Owns: the lists.
 */
#include "sys/own_threads.h"

#include "sys/file_calls.h"
#include "sys/lock.h"

#include <stddef.h>

enum { MOST = 8, LENT_MOST = 32, IS_CREATED = -1, LOOKS = 24000 /* some 2 s */ };

PP_TLS pp_marks pp_thread_marks;

static struct {
    int ids[MOST];       /* 0: free */
    int lent[LENT_MOST]; /* 0: free; IS_CREATED: the kernel has not stored the id yet */
    unsigned lent_end; /* no place from here on was ever taken; a snapshot looks for each thread */
} own;

void pp_own_threads_replace(int from, int to)
{
    for (unsigned i = 0; i < MOST; i++) {
        int expected = from;
        if (__atomic_compare_exchange_n(&own.ids[i], &expected, to, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
            return;
        }
    }
}

bool pp_own_threads_have(int tid)
{
    unsigned i = 0;
    while (i < MOST && __atomic_load_n(&own.ids[i], __ATOMIC_ACQUIRE) != tid) {
        i++;
    }
    return i < MOST;
}

unsigned pp_own_threads_count(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < MOST; i++) {
        count += __atomic_load_n(&own.ids[i], __ATOMIC_ACQUIRE) != 0;
    }
    return count;
}

/* ---- threads that act for others ---- */

/* The thread that takes the place is created after this. */
static void take_in(unsigned place)
{
    unsigned end = __atomic_load_n(&own.lent_end, __ATOMIC_RELAXED);
    while (end <= place && !__atomic_compare_exchange_n(&own.lent_end, &end, place + 1, false,
                                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    }
}

static unsigned lent_end(void)
{
    return __atomic_load_n(&own.lent_end, __ATOMIC_ACQUIRE);
}

int *pp_own_threads_lend(int self)
{
    pp_thread_marks.acts_for = self; /* also of the new thread, which has the caller's marks */
    for (unsigned i = 0; i < LENT_MOST; i++) {
        int expected = 0;
        if (__atomic_compare_exchange_n(&own.lent[i], &expected, IS_CREATED, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            take_in(i);
            return &own.lent[i];
        }
    }
    return NULL;
}

void pp_own_threads_take_back(int *place)
{
    pp_thread_marks.acts_for = 0;
    if (place != NULL) {
        __atomic_store_n(place, 0, __ATOMIC_RELEASE);
    }
}

void pp_own_threads_act_for(int self)
{
    pp_thread_marks.acts_for = self;
}

int pp_own_threads_acts_for(void)
{
    return pp_thread_marks.acts_for;
}

/* A place that stays in this state is one that a child of fork has inherited. */
static int lent_at(unsigned i)
{
    int tid = __atomic_load_n(&own.lent[i], __ATOMIC_ACQUIRE);
    for (unsigned look = 0; tid == IS_CREATED && look < LOOKS; look++) {
        pp_lock_pause(look);
        tid = __atomic_load_n(&own.lent[i], __ATOMIC_ACQUIRE);
    }
    if (tid == IS_CREATED && __atomic_compare_exchange_n(&own.lent[i], &tid, 0, false,
                                                         __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        tid = 0;
    }
    return tid;
}

bool pp_own_threads_acts(int tid)
{
    unsigned end = lent_end();
    unsigned i = 0;
    while (i < end && lent_at(i) != tid) {
        i++;
    }
    return i < end;
}

unsigned pp_own_threads_lent(void)
{
    unsigned end = lent_end();
    unsigned count = 0;
    for (unsigned i = 0; i < end; i++) {
        count += lent_at(i) != 0;
    }
    return count;
}

unsigned pp_tasks_count_all(void)
{
    struct stat status;
    if (pp_path_status("/proc/self/task", &status) != 0 || status.st_nlink < 2) {
        return 0;
    }
    return (unsigned)status.st_nlink - 2; /* "." and ".." */
}

void pp_own_threads_after_fork_in_child(void)
{
    for (unsigned i = 0; i < LENT_MOST; i++) {
        own.lent[i] = 0;
    }
}
