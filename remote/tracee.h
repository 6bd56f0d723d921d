/* SPDX-License-Identifier: MIT
 *
 * tracee.h: stops one thread of another process, makes it call a function, and lets it go.
 *
 * The thread calls the function as it would call the handler of a signal (arch/x86_64_tracee.h). A
 * system call that the stop has interrupted begins again, so that the program does not see the stop.
 * From the moment at which the thread goes on, the tracer is not needed: if it is killed, the thread
 * ends the call and does what it did before. All that has to be there before that is memory below
 * the stack pointer, which the thread does not use, and one PTRACE_SETREGS. A thread with a shadow
 * stack needs its pointer set, too, which is a second request: a tracer that is killed between the
 * two leaves a thread that cannot return.
 *
 * Signals that come meanwhile wait for the end of the function (tracee.c).
 *
 * The tracer stays until the function has returned if it has interrupted a system call. Then the
 * kernel itself goes on with that call: with what is left of its time (nanosleep, poll), or with
 * EINTR if a signal's handler wants that. If the tracer is killed before, the call begins anew with
 * its whole time, after the handler.
 *
 * ptrace(2): PTRACE_SEIZE, PTRACE_INTERRUPT; no signal is sent, and the other threads go on.
 *
 * Owns: the stop of one thread, until it is let go.
 */
#ifndef PP_REMOTE_TRACEE_H
#define PP_REMOTE_TRACEE_H

#include "arch/tracee.h"
#include "sys/safe_read.h"

#include <stdbool.h>
#include <stdint.h>

/* What /proc/TID/sched says of a thread. */
typedef struct pp_tracee_sched {
    double began_ms;    /* when it last began or ceased to run, by its processor's clock */
    long long switches; /* how often it has fallen asleep */
    int processor;      /* -1: the kernel has no such file */
} pp_tracee_sched;

typedef struct pp_tracee {
    int tid;
    pp_tracee_registers registers;
    bool at_entry;         /* stopped at the entry of a system call, which has not begun */
    bool before_call;      /* a step has ended before that entry: the next one goes through it */
    pp_tracee_sched sched; /* before the stop */
    pp_tracee_wait wait;   /* likewise */
    uint64_t stopped_ns;   /* CLOCK_MONOTONIC, of the stop */
} pp_tracee;

typedef enum pp_tracee_status {
    PP_TRACEE_STOPPED,
    PP_TRACEE_REFUSED,    /* errno: EPERM; it is traced already, or may not be */
    PP_TRACEE_GONE,       /* the thread has ended */
    PP_TRACEE_LEFT,       /* it may not be stopped, or waits where nothing interrupts it */
    PP_TRACEE_JOB_STOPPED /* by SIGSTOP */
} pp_tracee_status;

/* CLOCK_MONOTONIC. */
uint64_t pp_remote_now_ns(void);

/* Stops the thread, unless `may_stop` says at the last moment that it may not, and reads its
 * registers. It is let go again if the result is another than PP_TRACEE_STOPPED; only the end of the
 * tracing thread lets one go that is PP_TRACEE_LEFT, because only a stop would do it earlier. */
pp_tracee_status pp_tracee_stop(int tid, bool (*may_stop)(int tid, void *context), void *context,
                                pp_tracee *tracee);

/* Lets a stopped thread go on to the entry of its next system call. False: it did not get there in
 * time, or has ended; it is let go at the end of the tracing thread. */
bool pp_tracee_step(pp_tracee *tracee);

/* The system call in which the thread was stopped, or that it is about to begin; -1: none. */
long pp_tracee_waiting_call(const pp_tracee *tracee);

/* Lets the thread go on as if nothing had happened. */
void pp_tracee_release(pp_tracee *tracee);

/* Whether the thread, whose memory is given, is in a restartable sequence (rseq(2)), which must not
 * be left like this. */
bool pp_tracee_in_sequence(const pp_tracee *tracee, const pp_memory *memory);

/*
 * Makes the thread call the function and lets it go; stores the frame's address, above which the
 * thread's stack pointer is when the call is over. Returns the nanoseconds for which the thread
 * stood still; -errno if the frame could not be made (then the thread goes on as before).
 */
int64_t pp_tracee_call_function(pp_tracee *tracee, const pp_tracee_call *call, uintptr_t *frame);

#endif
