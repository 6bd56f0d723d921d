/* SPDX-License-Identifier: MIT
 *
 * cpu_control.c: starts the CPU profile that a request describes; stops it, and writes it.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Locks: the session lock.
 * Owns: the request of the running profile; its samples, while they are written.
 * Tested by: e2e.api, e2e.exit, e2e.fatal_signals, e2e.output
 */
#include "kinds/cpu/cpu_control.h"

#include "kinds/cpu/legacy_cpu.h"
#include "encode/proto.h"
#include "host/dispositions.h"
#include "output/end_file.h"
#include "kinds/cpu/cpu_profile.h"
#include "kinds/cpu/cpu.h"
#include "output/symbolize.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "modules/modules.h"
#include "sys/tasks.h"

#include <errno.h>
#include <pthread.h>

enum { MIN_HZ = 1, MAX_HZ = 1000000, DEFAULT_HZ = 100 };

static const uint64_t patience_ns = 2000000000;     /* for handlers that are under way */
static const uint64_t end_patience_ns = 5000000000; /* for another thread that writes */
/* For handlers and another thread, in the handler of a fatal signal. */
static const uint64_t fatal_patience_ns = 200000000;

static int write_result(pprof_writer writer, int debug);
static bool is_empty(void);

static struct {
    pp_lock lock;
    bool running;
    unsigned users; /* of the profile that runs or has stopped, if it is a shared one; else 0 */
    pp_cpu_request request;  /* of the profile that runs */
    uint64_t starts_refused; /* while it runs */
    pp_cpu_result result;    /* of the profile that has stopped, until it is written */
    pp_end_file file[2];     /* of that profile, and the end of the list */
} session = {.file = {{.name = "cpu", .write = write_result, .is_empty = is_empty}}};

static int take_session(void)
{
    int self = pp_task_self();
    if (pp_lock_held_by(&session.lock, self)) {
        return -EBUSY; /* the caller is a writer of the profile, or a handler that interrupts one */
    }
    pp_lock_take(&session.lock, self);
    return 0;
}

/* Takes the session when the process ends: its holder may be about to finish, or may never come
 * back. */
static int take_session_within(uint64_t limit_ns)
{
    return pp_lock_take_within(&session.lock, pp_task_self(), limit_ns) ? 0 : -EBUSY;
}

static int check(pp_cpu_request *request)
{
    if (request->hz == 0) {
        request->hz = DEFAULT_HZ;
    }
    if (request->hz < MIN_HZ || request->hz > MAX_HZ || request->engine < PPROF_ENGINE_AUTO ||
        request->engine > PPROF_ENGINE_PERF ||
        (request->format != PPROF_FORMAT_PROTO && request->format != PPROF_FORMAT_LEGACY) ||
        (!request->to_file && request->writer.write == NULL)) {
        return -EINVAL;
    }
    return 0;
}

/* The caller holds the session lock, and no profile runs. */
static int start_session(const pp_cpu_request *wanted)
{
    bool is_perf = wanted->engine == PPROF_ENGINE_PERF;
    if (is_perf) {
        pp_hook_overflow_signal();
    }
    int error = pp_cpu_start(PP_NS_PER_S / (uint64_t)wanted->hz, wanted->duration_ns,
                             is_perf ? PP_CPU_PERF : PP_CPU_TIMERS);
    if (error == 0) {
        session.request = *wanted;
        session.starts_refused = 0;
        session.running = true;
    }
    return error;
}

static int start(const pp_cpu_request *request)
{
    pp_cpu_request wanted = *request;
    int error = check(&wanted);
    if (error == 0) {
        error = take_session();
    }
    if (error != 0) {
        return error;
    }
    if (session.running || session.users > 0) {
        session.starts_refused++;
        error = -EBUSY;
    } else {
        error = start_session(&wanted);
    }
    pp_lock_release(&session.lock);
    return error;
}

/* Cancellation is off, since a cancelled thread would keep the session lock for ever. */
int pp_cpu_control_start(const pp_cpu_request *request)
{
    int cancel_state = PTHREAD_CANCEL_DISABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    int error = start(request);
    pthread_setcancelstate(cancel_state, NULL);
    return error;
}

static int write_result(pprof_writer writer, int debug)
{
    (void)debug;
    pp_arena arena = PP_ARENA_INIT;
    pp_profile profile;
    bool with_labels =
        session.request.format != PPROF_FORMAT_LEGACY; /* the legacy format has none */
    int error = pp_cpu_profile_build(&session.result, with_labels, &arena, &profile);
    profile.symbolize = pp_symbolize_wanted();
    if (error == 0) {
        error = session.request.format == PPROF_FORMAT_LEGACY
                    ? pp_legacy_cpu_encode(&profile, &arena, writer)
                    : pp_proto_encode(&profile, &arena, writer);
    }
    pp_arena_release(&arena);
    return error;
}

/* Whether there is nothing to show of a process: what is lost is a sample, too. */
static bool is_empty(void)
{
    const pp_cpu_facts *facts = &session.result.facts;
    return pp_stack_counts_is_empty(session.result.counts) && facts->lost_table_full == 0 &&
           facts->lost_no_scratch == 0 && facts->lost_no_room == 0 && facts->threads_unarmed == 0;
}

/* The caller holds the session lock. */
static int stop_and_write(bool fatal, bool ended_by_program)
{
    int error = 0;
    pp_cpu_stop(fatal ? fatal_patience_ns : patience_ns, &session.result);
    session.result.starts_refused = session.starts_refused;
    session.result.ended_by_program = ended_by_program;
    if (session.request.to_file) {
        session.file->wanted = true;
        error = pp_end_files_write(session.file, false, fatal);
    } else {
        if (!fatal) {
            pp_modules_refresh();
        }
        error = write_result(session.request.writer, 0);
    }
    pp_cpu_result_release(&session.result);
    session.running = false;
    return error;
}

static int stop(bool only_file, bool fatal)
{
    int error = 0;
    if (only_file) {
        error = take_session_within(fatal ? fatal_patience_ns : end_patience_ns);
    } else {
        error = take_session();
    }
    if (error != 0) {
        return error;
    }
    if (session.running && session.users == 0 && (session.request.to_file || !only_file)) {
        error = stop_and_write(fatal, !only_file && session.request.to_file);
    }
    pp_lock_release(&session.lock);
    return error;
}

int pp_cpu_control_stop(bool only_file, bool fatal)
{
    int cancel_state = PTHREAD_CANCEL_DISABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    int error = stop(only_file, fatal);
    pthread_setcancelstate(cancel_state, NULL);
    return error;
}

bool pp_cpu_control_is_running(void)
{
    return __atomic_load_n(&session.running, __ATOMIC_RELAXED);
}

/* ---- a shared profile ---- */

static int look_at_present(pp_cpu_look *look, void *context)
{
    pp_cpu_result so_far = session.result;
    if (session.running) {
        pp_cpu_peek(&so_far);
    }
    pp_modules_refresh();
    return look(&so_far, context);
}

/* The caller holds the session lock. */
static int join(int hz, pp_cpu_look *look, void *context)
{
    pp_cpu_request wanted = {.hz = hz, .to_file = true};
    if (session.running && session.users == 0) {
        return -EBUSY;
    }
    int error = check(&wanted);
    if (error == 0 && session.users == 0) {
        error = start_session(&wanted);
    } else if (error == 0 && look != NULL) {
        error = look_at_present(look, context);
    }
    session.users += error == 0;
    return error;
}

static void stop_sampler(void)
{
    if (session.running) {
        pp_cpu_stop(patience_ns, &session.result);
        session.running = false;
    }
}

static int leave(pp_cpu_look *look, void *context)
{
    if (session.users == 1) {
        stop_sampler();
    }
    int error = look != NULL ? look_at_present(look, context) : 0;
    if (session.users == 1) {
        pp_cpu_result_release(&session.result);
    }
    session.users--;
    return error;
}

/* Calls `what` with the session lock held, and cancellation off. */
static int with_session(int (*what)(int hz, pp_cpu_look *look, void *context), int hz,
                        pp_cpu_look *look, void *context)
{
    int cancel_state = PTHREAD_CANCEL_DISABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    int error = take_session();
    if (error == 0) {
        error = what(hz, look, context);
        pp_lock_release(&session.lock);
    }
    pthread_setcancelstate(cancel_state, NULL);
    return error;
}

int pp_cpu_control_join(int hz, pp_cpu_look *look, void *context)
{
    return with_session(join, hz, look, context);
}

/* In the child of fork the users of the parent's profile are gone. */
static int leave_if_joined(int hz, pp_cpu_look *look, void *context)
{
    (void)hz;
    return session.users > 0 ? leave(look, context) : -ECANCELED;
}

int pp_cpu_control_leave(pp_cpu_look *look, void *context)
{
    return with_session(leave_if_joined, 0, look, context);
}

static int look_if_running(int hz, pp_cpu_look *look, void *context)
{
    (void)hz;
    return session.running || session.users > 0 ? look_at_present(look, context) : -ESRCH;
}

int pp_cpu_control_look(pp_cpu_look *look, void *context)
{
    return with_session(look_if_running, 0, look, context);
}

/* The caller holds the session lock. While the sampler runs, the result has nothing that is not in the session. */
static int write_shared(bool leaves, bool fatal)
{
    if (session.users == 0) {
        return -ECANCELED;
    }
    if (leaves && session.users == 1 && session.running) {
        pp_cpu_stop(fatal ? fatal_patience_ns : patience_ns, &session.result);
        session.running = false;
    } else if (session.running) {
        pp_cpu_peek(&session.result);
    }
    session.file->wanted = true;
    int error = pp_end_files_write(session.file, false, fatal);
    if (leaves && session.users == 1) {
        pp_cpu_result_release(&session.result);
    }
    session.users -= leaves;
    return error;
}

int pp_cpu_control_write_shared(bool leaves, bool fatal)
{
    int cancel_state = PTHREAD_CANCEL_DISABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    int error = take_session_within(fatal ? fatal_patience_ns : end_patience_ns);
    if (error == 0) {
        error = write_shared(leaves, fatal);
        pp_lock_release(&session.lock);
    }
    pthread_setcancelstate(cancel_state, NULL);
    return error;
}

static int confine_shared(int hz, pp_cpu_look *look, void *context)
{
    (void)hz;
    (void)look;
    (void)context;
    if (session.users > 0) {
        stop_sampler();
    }
    return 0;
}

void pp_cpu_control_confine_shared(void)
{
    with_session(confine_shared, 0, NULL, NULL);
}

void pp_cpu_control_after_fork(void)
{
    session.users = 0;
    pp_cpu_after_fork_in_child();
    session.running = session.file->wanted = false;
    pp_lock_release(&session.lock);
}
