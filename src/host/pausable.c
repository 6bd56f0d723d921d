/* SPDX-License-Identifier: MIT
 *
 * pausable.c: see pausable.h.
 *
 * A thread is gone when the kernel knows no task of its number. pthread_join() would return a
 * little earlier, and unshare(2) would still count the thread.
 *
 * Zone: NORMAL.
 * Locks: `lock`.
 * Owns: the list.
 * Tested by: unit.pausable, e2e.identity
 */
#include "host/pausable.h"

#include "arch/shown_as.h"
#include "arch/system_call.h"
#include "base/memory.h"
#include "host/hooks.h"
#include "modules/single_thread.h"
#include "sys/apart.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/log.h"
#include "sys/own_work.h"
#include "sys/sampling_signal.h"
#include "sys/signal_mask.h"
#include "sys/task_rights.h"
#include "sys/tasks.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/prctl.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

enum {
    PLACES = 10
}; /* there are eight: deadline, interval, signal, wall, an attachment, two servers, push */

static const uint64_t longest_wait_ns = PP_NS_PER_S;
static const uint64_t look_again_ns = PP_NS_PER_S / 10;           /* should a wake-up be lost */
static const uint64_t longest_end_ns = UINT64_C(2) * PP_NS_PER_S; /* of a thread that was joined */
static const uint64_t longest_wait_for_table_ns = UINT64_C(10) * PP_NS_PER_S;

typedef enum place_state { NONE, RUNS, PAUSED } place_state;

typedef struct place {
    pp_pausable what; /* its context: NULL in a place that was never used */
    uint32_t state;   /* a place_state; a futex */
    int tid;          /* of the thread that has begun last; 0: it has not begun yet */
    long secure_bits; /* its own: it does not change them */
    pthread_t thread;
    bool is_joinable; /* `thread` is to be joined */
    bool is_in_run;   /* it is about to call run() */
} place;

static struct {
    pp_lock lock;
    unsigned stops; /* callers between stop() and go_on() */
    unsigned used;  /* threads that run or are paused */
    place places[PLACES];
} state;

static place_state state_of(const place *p)
{
    return (place_state)__atomic_load_n(&p->state, __ATOMIC_ACQUIRE);
}

static int tid_of(const place *p)
{
    return __atomic_load_n(&p->tid, __ATOMIC_ACQUIRE);
}

/* Also after its run: the last thread of a process ends in exit(), and so in the functions below. Then the caller may be
 * another thread that has got its id. */
static bool is_caller(const place *p)
{
    return (state_of(p) == RUNS && tid_of(p) == pp_task_self()) ||
           (p->is_joinable && pthread_equal(p->thread, pthread_self()));
}

static void set_state(place *p, place_state to)
{
    __atomic_store_n(&p->state, to, __ATOMIC_RELEASE);
    pp_system_call(SYS_futex, &p->state, FUTEX_WAKE_PRIVATE, INT_MAX);
}

bool pp_pausables_pause(void)
{
    return __atomic_load_n(&state.stops, __ATOMIC_ACQUIRE) != 0;
}

/* ---- the thread ---- */

/* True: the thread ends. False: the pause is over before it began. */
static bool settle(place *p, bool is_over)
{
    pp_signal_mask old = 0;
    pp_lock_enter(&state.lock, pp_task_self(), &old);
    bool ends = is_over || state.stops > 0;
    if (is_over) {
        __atomic_sub_fetch(&state.used, 1, __ATOMIC_RELAXED);
    }
    if (ends) {
        set_state(p, is_over ? NONE : PAUSED);
    }
    pp_lock_leave(&state.lock, &old);
    return ends;
}

static void *attend(void *of_place)
{
    place *p = of_place;
    const pp_signal_mask sampling = pp_signal_bit(PP_SAMPLING_SIGNAL);
    pp_system_call(SYS_rt_sigprocmask, SIG_UNBLOCK, &sampling, NULL, sizeof sampling);
    if (p->what.name != NULL) { /* pthread_setname_np(3) would open a file in the program's table */
        pp_system_call(SYS_prctl, PR_SET_NAME, p->what.name);
    }
    p->secure_bits = pp_task_secure_bits();
    __atomic_store_n(&p->tid, pp_task_self(), __ATOMIC_RELEASE);
    pp_hook_thread_leave();
    if (!p->what.stays) {
        pp_apart_leave(-1);
    }
    __atomic_store_n(&p->is_in_run, true, __ATOMIC_RELEASE);
    bool is_over = false;
    do {
        is_over = p->what.run(p->what.context);
    } while (!settle(p, is_over));
    pp_apart_end();
    return NULL;
}

PP_NOT_SHOWN(attend);

/* The thread is about to end. pthread_join would be our own hook. */
static void join_thread(place *p)
{
    if (p->is_joinable) {
        p->is_joinable = false;
        for (unsigned look = 0; pthread_tryjoin_np(p->thread, NULL) == EBUSY; look++) {
            pp_lock_pause(look);
        }
        __atomic_store_n(&p->tid, 0, __ATOMIC_RELEASE); /* another thread may get the number */
    }
}

/* libc may allocate for a thread until it is in run(): it has to know until then that there are two. */
static void hide_from_libc(const place *p, bool created)
{
    for (unsigned look = 0; created && !__atomic_load_n(&p->is_in_run, __ATOMIC_ACQUIRE); look++) {
        pp_lock_pause(look);
    }
    pp_single_thread_end();
}

/* pthread_create(3) has one error for a limit on threads and for a stack without room. Returns
 * -ENOMEM for the latter. */
static int explain(int error, const pthread_attr_t *attributes)
{
    size_t bytes = 0;
    if (error != EAGAIN || pthread_attr_getstacksize(attributes, &bytes) != 0) {
        return -error;
    }
    void *stack = pp_memory_map(bytes);
    if (stack == NULL) {
        return -ENOMEM;
    }
    pp_memory_unmap(stack, bytes);
    return -error;
}

/* The thread blocks all signals, as the caller does, so that none of the program's is delivered to
 * it. Its stack is the one of the thread before: libc keeps it, and need not allocate. */
static int create(place *p)
{
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error != 0) {
        return -error;
    }
    if (p->what.stack_bytes != 0) {
        pthread_attr_setstacksize(&attributes, p->what.stack_bytes);
    }
    bool was_single = p->what.avoids_libc && pp_single_thread_begin();
    p->is_in_run = false;
    error = explain(pthread_create(&p->thread, &attributes, attend, p), &attributes);
    pthread_attr_destroy(&attributes);
    if (error == 0) {
        p->is_joinable = true;
    }
    if (was_single) {
        hide_from_libc(p, error == 0);
    }
    return error;
}

/* ---- begin and end ---- */

static place *place_of(const void *context)
{
    unsigned i = 0;
    while (i < PLACES && state.places[i].what.context != context) {
        i++;
    }
    return i < PLACES ? &state.places[i] : NULL;
}

/* No thread that runs has the id of the one before. */
static int start(place *p)
{
    join_thread(p);
    __atomic_store_n(&p->state, RUNS, __ATOMIC_RELEASE);
    int error = create(p);
    if (error != 0) {
        p->state = NONE;
    }
    return error;
}

static int begin(place *p, const pp_pausable *what)
{
    if (state_of(p) != NONE) {
        return -EBUSY;
    }
    p->what = *what;
    int error = 0;
    if (state.stops > 0) {
        p->state = PAUSED;
    } else {
        error = start(p);
    }
    if (error == 0) {
        __atomic_add_fetch(&state.used, 1, __ATOMIC_RELAXED);
    }
    return error;
}

int pp_pausable_begin(const pp_pausable *what)
{
    pp_signal_mask old = 0;
    pp_lock_enter(&state.lock, pp_task_self(), &old);
    place *p = place_of(what->context);
    p = p != NULL ? p : place_of(NULL);
    int error = p != NULL ? begin(p, what) : -EAGAIN;
    pp_lock_leave(&state.lock, &old);
    return error;
}

static bool is_there(int tid)
{
    return pp_system_call(SYS_tgkill, pp_task_process(), tid, 0) == 0;
}

/* The kernel takes a thread from all its lists under the lock of the process's signals, which the
 * last call needs. The wait has an end because the id can be given to another thread of the process. */
static void wait_until_gone(int tid, uint64_t until_ns)
{
    uint64_t signals = 0;
    for (unsigned attempt = 0; tid != 0 && is_there(tid) && pp_clock_ns(CLOCK_MONOTONIC) < until_ns;
         attempt++) {
        pp_lock_pause(attempt);
    }
    pp_system_call(SYS_rt_sigpending, &signals, sizeof signals);
}

static bool wait_until_it_stops(place *p, uint64_t until_ns)
{
    const struct timespec at = {.tv_sec = (time_t)(until_ns / PP_NS_PER_S),
                                .tv_nsec = (long)(until_ns % PP_NS_PER_S)};
    while (state_of(p) == RUNS && pp_clock_ns(CLOCK_MONOTONIC) < until_ns) {
        pp_system_call(SYS_futex, &p->state, FUTEX_WAIT_BITSET_PRIVATE, RUNS, &at, NULL,
                       FUTEX_BITSET_MATCH_ANY);
    }
    return state_of(p) != RUNS;
}

/* A paused thread does not begin again. Returns the state that the place had: RUNS if the thread has
 * begun again since it was seen to stop. Stores the thread's id. */
static place_state forget(place *p, int *tid)
{
    pp_signal_mask old = 0;
    pp_lock_enter(&state.lock, pp_task_self(), &old);
    place_state found = state_of(p);
    if (found == PAUSED) {
        p->state = NONE;
        __atomic_sub_fetch(&state.used, 1, __ATOMIC_RELAXED);
    }
    *tid = tid_of(p);
    if (found != RUNS) {
        join_thread(p);
    }
    pp_lock_leave(&state.lock, &old);
    return found;
}

void pp_pausable_end(const void *context)
{
    place *p = place_of(context);
    place_state found = RUNS;
    int tid = 0;
    if (p == NULL || is_caller(p)) {
        return;
    }
    while (found == RUNS) {
        p->what.wake(p->what.context);
        wait_until_it_stops(p, pp_clock_ns(CLOCK_MONOTONIC) + look_again_ns);
        found = forget(p, &tid);
    }
    wait_until_gone(tid, pp_clock_ns(CLOCK_MONOTONIC) + longest_end_ns);
    if (found == PAUSED && p->what.lost != NULL) {
        p->what.lost(p->what.context);
    }
}

/* ---- pause ---- */

static bool is_like(const place *p, const pp_task_capabilities *capabilities, long secure_bits)
{
    pp_task_capabilities others;
    int tid = tid_of(p);
    return tid != 0 && p->secure_bits == secure_bits && pp_task_capabilities_read(tid, &others) &&
           memcmp(&others, capabilities, sizeof others) == 0;
}

bool pp_pausables_differ_from_caller(void)
{
    pp_task_capabilities capabilities;
    bool differ = !pp_task_capabilities_read(0, &capabilities);
    long secure_bits = pp_task_secure_bits();
    for (unsigned i = 0; i < PLACES && !differ; i++) {
        const place *p = &state.places[i];
        differ = state_of(p) == PAUSED ||
                 (state_of(p) == RUNS && !is_like(p, &capabilities, secure_bits));
    }
    return differ;
}

unsigned pp_pausables_count(void)
{
    return __atomic_load_n(&state.used, __ATOMIC_RELAXED);
}

bool pp_pausables_concern_caller(void)
{
    return pp_pausables_count() != 0 && pp_thread_marks.own_work_sp != PP_OWN_THREAD;
}

static void stop_within(uint64_t limit_ns)
{
    pp_signal_mask old = 0;
    pp_lock_enter(&state.lock, pp_task_self(), &old);
    __atomic_add_fetch(&state.stops, 1, __ATOMIC_RELEASE);
    pp_lock_leave(&state.lock, &old);
    uint64_t until_ns = pp_clock_ns(CLOCK_MONOTONIC) + limit_ns;
    for (unsigned i = 0; i < PLACES; i++) {
        if (state_of(&state.places[i]) == RUNS) {
            state.places[i].what.wake(state.places[i].what.context);
        }
    }
    for (unsigned i = 0; i < PLACES; i++) {
        place *p = &state.places[i];
        if (!is_caller(p) && wait_until_it_stops(p, until_ns)) {
            wait_until_gone(tid_of(p), until_ns);
        }
    }
}

void pp_pausables_stop(void)
{
    stop_within(longest_wait_ns);
}

static void say_that_it_is_lost(const place *p, int error)
{
    pp_log_error(p->what.name != NULL ? p->what.name : "libpprof",
                 ": the thread could not be created again after the program has changed its user "
                 "or its namespaces",
                 error, NULL);
}

/* Begins the thread again. 0 or -errno. */
static int begin_again(place *p)
{
    int error = start(p);
    if (error != 0) {
        __atomic_sub_fetch(&state.used, 1, __ATOMIC_RELAXED);
    }
    return error;
}

void pp_pausables_go_on(void)
{
    int errors[PLACES] = {0};
    pp_signal_mask old = 0;
    pp_lock_enter(&state.lock, pp_task_self(), &old);
    bool is_last = __atomic_sub_fetch(&state.stops, 1, __ATOMIC_RELEASE) == 0;
    for (unsigned i = 0; i < PLACES && is_last; i++) {
        bool was_paused = state_of(&state.places[i]) == PAUSED;
        errors[i] = was_paused ? begin_again(&state.places[i]) : 0;
    }
    pp_lock_leave(&state.lock, &old);
    for (unsigned i = 0; i < PLACES; i++) {
        const pp_pausable *what = &state.places[i].what;
        if (errors[i] != 0) {
            say_that_it_is_lost(&state.places[i], errors[i]);
        }
        if (errors[i] != 0 && what->lost != NULL) {
            what->lost(what->context);
        }
    }
}

bool pp_pausables_keep_table(void)
{
    bool keep = pp_apart_stay_all();
    if (!keep) {
        pp_signal_mask old = 0;
        pp_signals_block(&old);
        stop_within(longest_wait_for_table_ns);
        keep = pp_apart_stay_all();
        pp_pausables_go_on();
        pp_signals_restore(&old);
    }
    return keep;
}

void pp_pausables_after_fork(void)
{
    pp_lock_release(&state.lock);
    state.stops = state.used = 0;
    for (unsigned i = 0; i < PLACES; i++) {
        state.places[i].state = NONE;
        state.places[i].is_joinable = false;
        state.places[i].tid = 0;
    }
}
