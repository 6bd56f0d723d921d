/* SPDX-License-Identifier: MIT
 *
 * heap_control.c: start, snapshot, encode, write.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Locks: `writing`, which is only tried where the process ends.
 * Owns: the request.
 */
#include "heap_control.h"

#include "arch/system_call.h"
#include "encode/proto.h"
#include "output.h"
#include "sample/heap.h"
#include "store/heap_peak.h"
#include "sys/lock.h"
#include "sys/log.h"
#include "sys/modules.h"
#include "sys/tasks.h"
#include "sys/write_signals.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

static const uint64_t write_patience_ns = 5000000000; /* for a FIFO whose reader stalls */
static const uint64_t fatal_patience_ns = 1000000000;
static const long pause_ns = 200000;

static pp_heap_request current = {.rate = PP_HEAP_RATE_DEFAULT, .symbolize = PP_SYMBOLIZE_NAMES};
static bool file_wanted;
static pp_lock writing;

void pp_heap_control_default(bool on)
{
    pp_heap_set_rate(on ? PP_HEAP_RATE_DEFAULT : 0);
}

int pp_heap_control_start(const pp_heap_request *request)
{
    current = *request;
    file_wanted = true;
    if (request->peak) {
        pp_heap_peak_start();
    }
    pp_heap_set_rate(request->rate);
    return 0;
}

bool pp_heap_control_is_on(void)
{
    return pp_heap_rate() != 0;
}

pp_symbolize pp_heap_control_symbolize(void)
{
    return current.symbolize;
}

int pp_heap_control_write(pp_heap_view view, pprof_writer writer)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_profile profile;
    int error = pp_heap_profile_build(view, &arena, &profile);
    if (error == 0) {
        profile.symbolize = current.symbolize;
        error = pp_proto_encode(&profile, &arena, writer);
    }
    pp_arena_release(&arena);
    return error;
}

static void write_file(const char *kind, pp_heap_view view, bool fatal)
{
    /* Too large for a stack that a fatal signal may have left us; one at a time, by the lock. */
    static pp_output output;
    pp_write_signals held;
    pp_write_signals_hold(&held);
    int error = pp_output_open(&output, kind);
    if (error == 0) {
        pprof_writer writer =
            pp_output_writer(&output, fatal ? fatal_patience_ns : write_patience_ns);
        error = pp_output_close(&output, pp_heap_control_write(view, writer));
    }
    pp_write_signals_release(&held);
    if (error != 0) {
        pp_log_error("the heap profile could not be written to ", output.path, error,
                     "choose another place with LIBPPROF=heap,file=PATH");
    }
}

/* Another thread that ends the process may be at it: it gets the time that it needs. */
static bool take_file(bool fatal)
{
    const struct timespec pause = {.tv_nsec = pause_ns};
    int self = pp_task_self();
    uint64_t tries = (fatal ? fatal_patience_ns : write_patience_ns) / (uint64_t)pause_ns;
    while (!pp_lock_try(&writing, self)) {
        if (pp_lock_held_by(&writing, self) || tries-- == 0) {
            return false;
        }
        pp_system_call(SYS_nanosleep, &pause, NULL);
    }
    return true;
}

void pp_heap_control_end(bool fatal)
{
    int cancel_state = PTHREAD_CANCEL_DISABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    if (take_file(fatal)) {
        if (file_wanted) {
            if (!fatal) {
                pp_modules_refresh();
            }
            write_file("heap", PP_HEAP_INUSE, fatal);
            if (current.peak) {
                write_file("peak", PP_HEAP_PEAK, fatal);
            }
            file_wanted = false;
        }
        pp_lock_release(&writing);
    }
    pthread_setcancelstate(cancel_state, NULL);
}

bool pp_heap_control_confine(void)
{
    bool wanted = file_wanted;
    pp_heap_control_end(false);
    pp_heap_set_rate(0);
    return wanted;
}

void pp_heap_control_after_fork(bool keep_file)
{
    pp_heap_after_fork_in_child();
    pp_lock_release(&writing);
    file_wanted = file_wanted && keep_file;
}
