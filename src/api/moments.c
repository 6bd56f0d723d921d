/* SPDX-License-Identifier: MIT
 *
 * moments.c: see moments.h.
 *
 * Zone: NORMAL.
 * Tested by: e2e.dumps, e2e.cpprof_record_duration, e2e.options
 */
#include "api/moments.h"

#include "api/all_kinds.h"
#include "host/toggle.h"
#include "host/worker.h"
#include "output/output.h"
#include "sys/clock.h"
#include "sys/log.h"
#include "sys/tasks.h"
#include "web/push_option.h"

#include <errno.h>

static void at_end_of_duration(void);
static void at_interval(void);

static struct {
    pp_worker duration, interval;
    uint64_t deadline_ns; /* the end of the duration; 0: no duration is wanted */
    bool has_signal;      /* the handler of `signal` is installed */
} state = {.duration = {.work = at_end_of_duration}, .interval = {.work = at_interval}};

static void at_end_of_duration(void)
{
    pp_push_option_flush(); /* before the kinds stop */
    pp_all_end_duration();
}

static void wait_for_deadline(void)
{
    uint64_t duration_ns = pp_all.options.duration_ns;
    if (duration_ns == 0 || !pp_all_any(pp_kind_is_on)) {
        return;
    }
    state.deadline_ns = pp_clock_ns(CLOCK_MONOTONIC);
    if (__builtin_add_overflow(state.deadline_ns, duration_ns, &state.deadline_ns)) {
        state.deadline_ns = 0;
        return;
    }
    int error = pp_worker_begin_at(&state.duration, state.deadline_ns);
    if (error != 0 && error != -EBUSY) { /* -EBUSY: an earlier deadline writes all */
        pp_log_error("the profile",
                     " will be written at the end of the process, not of its duration", error,
                     NULL);
    }
}

uint64_t pp_moments_left_of_duration(void)
{
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    return state.deadline_ns == 0 ? 0 : state.deadline_ns > now_ns ? state.deadline_ns - now_ns : 1;
}

/* Runs on libpprof's thread. */
static void at_signal(void)
{
    pp_lock_take(&pp_all.asking, pp_task_self());
    pp_all_toggle();
    pp_lock_release(&pp_all.asking);
}

/* Runs on libpprof's thread. A kind that has to stop for its file goes on with a new profile. */
static void at_interval(void)
{
    pp_lock_take(&pp_all.asking, pp_task_self());
    pp_all_write(true, NULL);
    pp_all_resume(pp_moments_left_of_duration());
    pp_lock_release(&pp_all.asking);
}

void pp_moments_number_files(const pp_options *options)
{
    if ((options->interval_ns != 0 || options->dump_signal != 0) && !pp_output_has_template() &&
        pp_output_has_default()) {
        pp_output_set_template("/tmp/%e.%p.%k.%n.pb.gz");
    }
}

/* 0 or the first error, which is also on the log. */
static int wait_for_dumps(void)
{
    const pp_options *o = &pp_all.options;
    int signal_error =
        o->dump_signal != 0 && !state.has_signal ? pp_toggle_begin(o->dump_signal, at_signal) : 0;
    bool is_ours = o->interval_ns != 0 && !pp_push_option_is_on(); /* else it is that of pushes */
    int interval_error = is_ours ? pp_worker_begin_each(&state.interval, o->interval_ns) : 0;
    state.has_signal |= o->dump_signal != 0 && signal_error == 0;
    interval_error = interval_error == -EBUSY ? 0 : interval_error; /* the first one goes on */
    if (signal_error != 0) {
        pp_log_error("signal", ": it writes no profiles", signal_error,
                     signal_error == -EBUSY ? "the program has a handler of its own for it" : NULL);
    }
    if (interval_error != 0) {
        pp_log_error("interval", ": no profiles are written then", interval_error, NULL);
    }
    return signal_error != 0 ? signal_error : interval_error;
}

int pp_moments_begin(void)
{
    wait_for_deadline();
    return wait_for_dumps();
}

void pp_moments_end(bool undo)
{
    pp_worker_end(&state.duration);
    pp_worker_end(&state.interval);
    if (undo) {
        pp_toggle_undo();
        state.has_signal = false;
    } else {
        pp_toggle_end();
    }
}

void pp_moments_after_fork(void)
{
    pp_worker_after_fork(&state.duration);
    pp_worker_after_fork(&state.interval);
}
