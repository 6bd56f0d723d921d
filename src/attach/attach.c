/* SPDX-License-Identifier: MIT
 *
 * attach.c: the thread of an attachment, and what cpprof reads of it.
 *
 * The thread pauses when the program changes its identity (host/pausable.h). What it knows is in
 * `attach`: after a pause another thread goes on.
 *
 * Zone: NORMAL.
 * Locks: `lock`.
 * Owns: pprof_attach_state; the thread.
 * Tested by: unit.attach, e2e.attached, e2e.attached_identity
 */
#include "attach/attach.h"

#include "arch/system_call.h"
#include "host/worker.h"
#include "host/pausable.h"
#include "host/samplers.h"
#include "modules/loader_use.h"
#include "sys/clock.h"
#include "sys/doorbell.h"
#include "sys/lock.h"
#include "sys/signal_mask.h"
#include "sys/tasks.h"

#include "pprof_attach.h"

#include <errno.h>
#include <pthread.h>
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
    bool runs;  /* the thread exists, or is about to */
    bool stays; /* the thread is between the beginning and the end of an attachment */
    bool wanted;
    pp_doorbell bell; /* rings for an end and for a pause */
    unsigned looks;
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
    return __atomic_load_n(&attach.wanted, __ATOMIC_ACQUIRE);
}

static bool is_phase(enum pprof_attach_phase phase)
{
    return __atomic_load_n(&pprof_attach_state.state, __ATOMIC_RELAXED) == (uint32_t)phase;
}

/* A reader never sees READY after the call. Holders whose connections end with the attachment do not end the next one,
 * which somebody may want by then. */
void pp_attach_end(void)
{
    pp_signal_mask old = 0;
    pp_lock_enter(&attach.lock, pp_task_self(), &old);
    __atomic_store_n(&attach.wanted, false, __ATOMIC_RELEASE);
    __atomic_store_n(&attach.is_held, false, __ATOMIC_RELEASE);
    if (is_phase(PPROF_ATTACH_READY)) {
        show(PPROF_ATTACH_DETACHING);
    }
    pp_lock_leave(&attach.lock, &old);
    pp_doorbell_ring(&attach.bell);
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
    bool ran = __atomic_load_n(&attach.runs, __ATOMIC_ACQUIRE);
    pp_attach_end();
    for (unsigned i = 0; i < PATIENCE_MS && __atomic_load_n(&attach.runs, __ATOMIC_ACQUIRE); i++) {
        pp_system_call(SYS_nanosleep, &pause, NULL);
    }
    if (ran && !__atomic_load_n(&attach.runs, __ATOMIC_ACQUIRE)) {
        pp_pausable_end(&attach);
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

void pp_attach_stay(void)
{
    __atomic_store_n(&attach.is_held, false, __ATOMIC_RELAXED);
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

static void look(void)
{
    attach.work->look();
    pp_samplers_tell(PP_LOOKER_LOOKS);
    attach.looks++;
    if (attach.looks % LOOKS_A_SECOND == 0 && (nobody_came() || pp_worker_is_alone())) {
        pp_attach_end();
    }
}

/* False: the thread is to pause. */
static bool stay(void)
{
    static const uint64_t pause_ns = PP_NS_PER_S / LOOKS_A_SECOND;
    for (;;) {
        uint32_t heard = pp_doorbell_heard(&attach.bell);
        if (!is_ready()) {
            return true;
        }
        if (pp_pausables_pause()) {
            return false;
        }
        pp_loader_go_out();
        pp_doorbell_wait(&attach.bell, heard, pp_clock_ns(CLOCK_MONOTONIC) + pause_ns);
        pp_loader_go_in();
        look();
    }
}

static int begin(pp_text *why)
{
    show_start();
    pprof_attach_state.generation++;
    attach.is_held = false;
    attach.until_ns = pp_clock_ns(CLOCK_MONOTONIC) + lease_ns;
    int error = attach.work->begin(why);
    attach.stays = error == 0;
    return error;
}

static void end(void)
{
    if (attach.stays) {
        attach.stays = false;
        show(PPROF_ATTACH_DETACHING);
    }
    attach.work->end();
}

/* Whether somebody has asked for the next attachment while the last one ended. */
static bool goes_on(int error, const pp_text *why)
{
    pp_signal_mask old = 0;
    pp_lock_enter(&attach.lock, pp_task_self(), &old);
    bool again = error == 0 && is_wanted();
    attach.runs = again;
    if (error != 0) {
        attach.wanted = false;
        show_failure(error, why->data);
    } else if (!again) {
        show(PPROF_ATTACH_DETACHED);
    }
    pp_lock_leave(&attach.lock, &old);
    if (!again) {
        pp_samplers_tell(PP_LOOKER_ENDS);
    }
    return again;
}

static bool run(void *unused)
{
    pp_text why;
    int error = 0;
    (void)unused;
    pthread_setname_np(pthread_self(), "libpprof");
    if (!attach.prepared) {
        attach.work->prepare();
        attach.prepared = true;
    }
    do {
        why = (pp_text)PP_TEXT_INIT;
        error = attach.stays ? 0 : begin(&why);
        if (error == 0 && !stay()) {
            return false;
        }
        end();
    } while (goes_on(error, &why));
    return true;
}

static void wake(void *unused)
{
    (void)unused;
    pp_doorbell_ring(&attach.bell);
}

/* ---- the beginning and the end of the thread ---- */

static void give_up(int error, const char *why)
{
    pp_signal_mask old = 0;
    pp_lock_enter(&attach.lock, pp_task_self(), &old);
    attach.runs = attach.wanted = attach.stays = false;
    show_failure(error, why);
    pp_lock_leave(&attach.lock, &old);
    pp_samplers_tell(PP_LOOKER_ENDS);
}

static void lost(void *unused)
{
    (void)unused;
    give_up(-EAGAIN, "the process could not create the thread again after it has changed its user "
                     "or its namespaces");
}

/* The thread of the last attachment may be about to end. */
static int begin_thread(void)
{
    const pp_pausable what = {.stack_bytes = STACK_BYTES,
                              .stays = true,
                              .run = run,
                              .wake = wake,
                              .lost = lost,
                              .context = &attach};
    int error = pp_pausable_begin(&what);
    for (unsigned attempt = 0; error == -EBUSY; attempt++) {
        pp_lock_pause(attempt);
        error = pp_pausable_begin(&what);
    }
    if (error != 0) {
        give_up(error, error == -ENOMEM
                           ? "the process could not create a thread: it has no room for the stack; "
                             "raise its limit on address space (ulimit -v)"
                           : "the process could not create a thread: raise its limit on threads "
                             "(ulimit -u, or the control group's pids.max)");
    }
    return error;
}

int pp_attach_begin(void)
{
    pp_signal_mask old = 0;
    pp_lock_enter(&attach.lock, pp_task_self(), &old);
    bool is_new = !attach.runs;
    attach.runs = true;
    __atomic_store_n(&attach.wanted, true, __ATOMIC_RELEASE);
    if (is_new) {
        show_start();
    } else {
        attach.until_ns = pp_clock_ns(CLOCK_MONOTONIC) + lease_ns;
    }
    pp_lock_leave(&attach.lock, &old);
    if (is_new) {
        pp_samplers_tell(PP_LOOKER_BEGINS); /* which is a thread that nobody knows for a moment */
    }
    return is_new ? begin_thread() : 0;
}

void pp_attach_after_fork(void)
{
    pp_lock_release(&attach.lock);
    attach.runs = attach.wanted = attach.stays = false;
    attach.holders = 0;
    pprof_attach_state.error = 0;
    pp_attach_remark("");
    show(PPROF_ATTACH_NONE);
}
