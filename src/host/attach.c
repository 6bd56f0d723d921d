/* SPDX-License-Identifier: MIT
 *
 * attach.c: the thread of an attachment, and what cpprof reads of it.
 *
 * Zone: NORMAL.
 * Locks: `lock`.
 * Owns: pprof_attach_state; the thread.
 * Tested by: e2e.attached
 */
#include "host/attach.h"

#include "arch/system_call.h"
#include "base/shown_as.h"
#include "host/deadline.h"
#include "host/threads.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/signal_mask.h"
#include "sys/tasks.h"

#include "pprof_attach.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

enum {
    STACK_BYTES = 1 << 20, /* as libpprof-http's */
    LOOKS_A_SECOND = 20,   /* a library that was loaded is seen after 50 ms */
    PATIENCE_MS = 2000
};

/* A client that does not come within this time was killed on its way. */
static const uint64_t lease_ns = 60 * (uint64_t)PP_NS_PER_S;

/* NOLINTNEXTLINE(readability-identifier-naming): public */
__attribute__((visibility("default")))
pprof_attach_status pprof_attach_state = {.version = PPROF_ATTACH_VERSION};

static struct {
    const pp_attach_work *work;
    pp_lock lock;
    bool prepared;
    bool runs;       /* the thread exists, or is about to */
    uint32_t wanted; /* a futex */
    uint32_t holders;
    bool is_held; /* the first who came has said `hold`: the attachment ends with the last holder */
    uint64_t until_ns; /* nobody has come if it is this late; 0: somebody has */
} attach;

void pp_attach_init(const pp_attach_work *work)
{
    attach.work = work;
}

/* ---- what cpprof reads ---- */

void pp_attach_remark(const char *text)
{
    size_t length = strlen(text);
    size_t kept =
        length < sizeof pprof_attach_state.text ? length : sizeof pprof_attach_state.text - 1;
    memcpy(pprof_attach_state.text, text, kept);
    pprof_attach_state.text[kept] = '\0';
}

static void show(enum pprof_attach_phase phase)
{
    __atomic_store_n(&pprof_attach_state.state, phase, __ATOMIC_RELEASE);
}

static void show_start(void)
{
    pprof_attach_state.error = 0;
    pp_attach_remark("");
    show(PPROF_ATTACH_STARTING);
}

static void show_failure(int error, const char *why)
{
    pprof_attach_state.error = error;
    pp_attach_remark(why);
    show(PPROF_ATTACH_FAILED);
}

/* ---- what is wanted ---- */

static bool is_wanted(void)
{
    return __atomic_load_n(&attach.wanted, __ATOMIC_ACQUIRE) != 0;
}

static bool is_phase(enum pprof_attach_phase phase)
{
    return __atomic_load_n(&pprof_attach_state.state, __ATOMIC_RELAXED) == (uint32_t)phase;
}

/* A reader never sees READY after the call. */
void pp_attach_end(void)
{
    pp_signal_mask old = 0;
    pp_lock_enter(&attach.lock, pp_task_self(), &old);
    __atomic_store_n(&attach.wanted, 0, __ATOMIC_RELEASE);
    if (is_phase(PPROF_ATTACH_READY)) {
        show(PPROF_ATTACH_DETACHING);
    }
    pp_lock_leave(&attach.lock, &old);
    pp_system_call(SYS_futex, &attach.wanted, FUTEX_WAKE_PRIVATE, 1);
}

void pp_attach_look(void)
{
    if (is_wanted()) {
        attach.work->look();
    }
}

void pp_attach_end_now(void)
{
    static const struct timespec pause = {.tv_nsec = 1000000};
    pp_attach_end();
    for (unsigned i = 0; i < PATIENCE_MS && __atomic_load_n(&attach.runs, __ATOMIC_ACQUIRE); i++) {
        pp_system_call(SYS_nanosleep, &pause, NULL);
    }
}

void pp_attach_expect_end(void)
{
    __atomic_store_n(&attach.until_ns, 0, __ATOMIC_RELAXED);
}

void pp_attach_hold(void)
{
    if (__atomic_load_n(&attach.until_ns, __ATOMIC_RELAXED) != 0) {
        __atomic_store_n(&attach.is_held, true, __ATOMIC_RELAXED);
    }
    __atomic_add_fetch(&attach.holders, 1, __ATOMIC_RELAXED);
}

void pp_attach_release(void)
{
    if (__atomic_sub_fetch(&attach.holders, 1, __ATOMIC_ACQ_REL) == 0 &&
        __atomic_load_n(&attach.is_held, __ATOMIC_RELAXED)) {
        pp_attach_end();
    }
}

/* ---- the thread ---- */

static bool nobody_came(void)
{
    uint64_t until_ns = __atomic_load_n(&attach.until_ns, __ATOMIC_RELAXED);
    return until_ns != 0 && pp_clock_ns(CLOCK_MONOTONIC) >= until_ns;
}

/* Somebody may want the attachment again before it has ended. */
static bool is_ready(void)
{
    pp_signal_mask old = 0;
    pp_lock_enter(&attach.lock, pp_task_self(), &old);
    bool wanted = is_wanted();
    if (wanted && !is_phase(PPROF_ATTACH_READY)) {
        show(PPROF_ATTACH_READY);
    }
    pp_lock_leave(&attach.lock, &old);
    return wanted;
}

static void stay(void)
{
    static const struct timespec pause = {.tv_nsec = (long)PP_NS_PER_S / LOOKS_A_SECOND};
    for (unsigned i = 1; is_ready(); i++) {
        pp_system_call(SYS_futex, &attach.wanted, FUTEX_WAIT_PRIVATE, 1, &pause);
        attach.work->look();
        if (i % LOOKS_A_SECOND == 0 && (nobody_came() || pp_deadline_is_alone())) {
            pp_attach_end();
        }
    }
}

/* 0 after an attachment that has begun, and ended. */
static int attach_once(pp_text *why)
{
    show_start();
    pprof_attach_state.generation++;
    attach.is_held = false;
    attach.until_ns = pp_clock_ns(CLOCK_MONOTONIC) + lease_ns;
    int error = attach.work->begin(why);
    if (error == 0) {
        stay();
        show(PPROF_ATTACH_DETACHING);
    }
    attach.work->end();
    return error;
}

/* Whether somebody has asked for the next attachment while the last one ended. */
static bool goes_on(int error, const pp_text *why)
{
    pp_signal_mask old = 0;
    pp_lock_enter(&attach.lock, pp_task_self(), &old);
    bool again = error == 0 && is_wanted();
    attach.runs = again;
    if (error != 0) {
        attach.wanted = 0;
        show_failure(error, why->data);
    } else if (!again) {
        show(PPROF_ATTACH_DETACHED);
    }
    pp_lock_leave(&attach.lock, &old);
    return again;
}

static void *work(void *unused)
{
    pp_text why;
    int error = 0;
    if (!attach.prepared) {
        attach.work->prepare();
        attach.prepared = true;
    }
    pthread_setname_np(pthread_self(), "libpprof");
    pp_hook_thread_leave();
    do {
        why = (pp_text)PP_TEXT_INIT;
        error = attach_once(&why);
    } while (goes_on(error, &why));
    return unused;
}

PP_NOT_SHOWN(work);

/* The thread blocks all signals, so that none of the program's signals is delivered to it. */
static int create_thread(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t before;
    int error = pthread_attr_init(&attributes);
    if (error != 0) {
        return -error;
    }
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, &attributes, work, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return -error;
}

static int begin_thread(void)
{
    pp_signal_mask old = 0;
    int error = create_thread();
    if (error != 0) {
        pp_lock_enter(&attach.lock, pp_task_self(), &old);
        attach.runs = false;
        attach.wanted = 0;
        show_failure(error, "the process could not create a thread: raise its limit on threads "
                            "(ulimit -u, or the control group's pids.max)");
        pp_lock_leave(&attach.lock, &old);
    }
    return error;
}

int pp_attach_begin(void)
{
    pp_signal_mask old = 0;
    pp_lock_enter(&attach.lock, pp_task_self(), &old);
    bool is_new = !attach.runs;
    attach.runs = true;
    __atomic_store_n(&attach.wanted, 1, __ATOMIC_RELEASE);
    if (is_new) {
        show_start();
    } else {
        attach.until_ns = pp_clock_ns(CLOCK_MONOTONIC) + lease_ns;
    }
    pp_lock_leave(&attach.lock, &old);
    return is_new ? begin_thread() : 0;
}

void pp_attach_after_fork(void)
{
    pp_lock_release(&attach.lock);
    attach.runs = false;
    attach.wanted = attach.holders = 0;
    pprof_attach_state.error = 0;
    pp_attach_remark("");
    show(PPROF_ATTACH_NONE);
}
