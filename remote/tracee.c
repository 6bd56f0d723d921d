/* SPDX-License-Identifier: MIT
 *
 * tracee.c: see tracee.h.
 *
 * Tested by: e2e.cpprof_attach, e2e.cpprof_attach_signals
 */
#include "remote/tracee.h"

#include "remote/interruptions.h"
#include "remote/target.h"

#include "sys/signal_mask.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    STOP_MS = 100,
    STEP_MS = 10,
    LEAVE_MS = 2000, /* out of a call that is left out: as soon as the thread gets a processor */
    ATTENDED_MS = 20000,
    MS_NS = 1000 * 1000,
    SPIN_NS = 2 * MS_NS, /* a stop takes a few microseconds where the thread runs or sleeps */
    NAP_US = 200
};

uint64_t pp_remote_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 * MS_NS + (uint64_t)now.tv_nsec;
}

/* ---- waiting for stops ---- */

/* Waits for a change of the thread, `ms` at most. False: there was none, or the thread is gone. */
static bool wait_for(int tid, int ms, int *status)
{
    uint64_t begin = pp_remote_now_ns();
    for (;;) {
        pid_t got = waitpid(tid, status, __WALL | WNOHANG);
        uint64_t passed = pp_remote_now_ns() - begin;
        if (got == tid) {
            return true;
        }
        if (got < 0 || passed > (uint64_t)ms * MS_NS) {
            return false;
        }
        if (passed < SPIN_NS) {
            sched_yield();
        } else {
            usleep(NAP_US);
        }
    }
}

static bool is_event_stop(int status)
{
    return WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP;
}

static bool is_call_stop(int status)
{
    return WIFSTOPPED(status) && WSTOPSIG(status) == (SIGTRAP | 0x80);
}

/* The signal that the thread was about to receive, if it was; it receives it now. */
static bool pass_signal_on(int tid, int request, int status)
{
    bool is_signal = WIFSTOPPED(status) && status >> 16 == 0 && !is_call_stop(status);
    ptrace(request, tid, NULL, is_signal ? WSTOPSIG(status) : 0);
    return is_signal;
}

static pp_tracee_status wait_for_stop(int tid)
{
    int status = 0;
    while (wait_for(tid, STOP_MS, &status)) {
        if (!WIFSTOPPED(status)) {
            return PP_TRACEE_GONE;
        }
        if (is_event_stop(status)) {
            return WSTOPSIG(status) == SIGTRAP ? PP_TRACEE_STOPPED : PP_TRACEE_JOB_STOPPED;
        }
        pass_signal_on(tid, PTRACE_CONT, status);
    }
    return PP_TRACEE_LEFT;
}

/* ---- registers ---- */

static bool read_registers(pp_tracee *t)
{
    return ptrace(PTRACE_GETSIGMASK, t->tid, sizeof t->registers.mask, &t->registers.mask) == 0 &&
           pp_tracee_get(t->tid, &t->registers, &t->wait);
}

bool pp_tracee_in_sequence(const pp_tracee *tracee, const pp_memory *memory)
{
    enum { GET_RSEQ = 0x420f, SEQUENCE = 8 /* rseq_cs of struct rseq */ };
    struct {
        uint64_t pointer;
        uint32_t size, signature, flags, padding;
    } where = {0};
    uint64_t sequence = 0;
    if (ptrace((int)GET_RSEQ, tracee->tid, sizeof where, &where) <= 0 || where.pointer == 0) {
        return false;
    }
    return !pp_memory_copy(memory, &sequence, (uintptr_t)where.pointer + SEQUENCE,
                           sizeof sequence) ||
           sequence != 0;
}

/* ---- the scheduler's view ---- */

/* A line of /proc/TID/sched; false if the kernel has no such line. */
static bool sched_number(const char *text, const char *name, double *value)
{
    const char *line = strstr(text, name);
    const char *colon = line != NULL ? strchr(line, ':') : NULL;
    *value = colon != NULL ? strtod(colon + 1, NULL) : 0;
    return colon != NULL;
}

/* The text of /proc/TID/NAME; false if there is none. */
static bool read_text(int tid, const char *name, char *text, size_t size)
{
    long got = pp_remote_read_proc(tid, name, text, size - 1);
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

static int processor_of(int tid)
{
    enum { FIELDS_BEFORE = 37 /* proc_pid_stat(5): from the state on */ };
    char text[1024];
    const char *at = read_text(tid, "stat", text, sizeof text) ? strrchr(text, ')') : NULL;
    for (int i = 0; at != NULL && i < FIELDS_BEFORE; i++) {
        at = strchr(at + 1, ' ');
    }
    return at != NULL ? (int)strtol(at + 1, NULL, 10) : -1;
}

static bool read_sched(int tid, pp_tracee_sched *sched)
{
    char text[4096];
    double switches = 0;
    bool known = read_text(tid, "sched", text, sizeof text) &&
                 sched_number(text, "se.exec_start", &sched->began_ms) &&
                 sched_number(text, "nr_voluntary_switches", &switches);
    sched->switches = (long long)switches;
    sched->processor = known ? processor_of(tid) : -1;
    return known;
}

/* ---- calls that the stop has interrupted ---- */

/* proc_pid_syscall(5): "98 0x7f12 0x80 0x0 0x0 0x0 0x0 SP PC"; others have fewer fields: "-1 SP PC", "running". */
static void read_wait(int tid, pp_tracee_wait *wait)
{
    enum { CALL, FIRST, SP = 7, PC, FIELDS };
    char text[256];
    const char *at = text;
    unsigned long field[FIELDS];
    if (!read_text(tid, "syscall", text, sizeof text)) {
        return;
    }
    for (unsigned i = 0; i < FIELDS; i++) {
        char *end = NULL;
        field[i] = strtoul(at, &end, 0);
        if (end == at) {
            return;
        }
        at = end;
    }
    *wait = (pp_tracee_wait){(long)field[CALL], field[FIRST], field[SP], field[PC]};
}

/* The milliseconds before `sched`, at which the thread fell asleep, and now; 0: not known. Never too
 * many: the clocks of the scheduler differ from processor to processor, so that of the thread's
 * processor is read; it stands still while the processor is taken away, and never runs ahead. */
static int64_t asleep_ms(const pp_tracee *t)
{
    cpu_set_t before;
    cpu_set_t there;
    pp_tracee_sched now;
    pp_tracee_sched own;
    if (t->sched.processor < 0 || !read_sched(t->tid, &now) ||
        now.switches != t->sched.switches + 1 || /* it has slept from then until the stop */
        sched_getaffinity(0, sizeof before, &before) != 0) {
        return 0;
    }
    CPU_ZERO(&there);
    CPU_SET((size_t)t->sched.processor, &there);
    if (sched_setaffinity(0, sizeof there, &there) != 0) {
        return 0;
    }
    bool known = read_sched(gettid(), &own);
    sched_setaffinity(0, sizeof before, &before);
    return known && own.began_ms > t->sched.began_ms ? (int64_t)(own.began_ms - t->sched.began_ms)
                                                     : 0;
}

static bool is_epoll(long call)
{
    return call == PP_CALL_EPOLL_WAIT || call == SYS_epoll_pwait;
}

/* Whether the kernel leaves it to the thread to begin the call again, and it may. */
static bool begins_again(const pp_tracee *t)
{
    uintptr_t arguments[PP_TASK_ARGUMENTS];
    long call = pp_tracee_call_number(&t->registers);
    pp_tracee_arguments(&t->registers, arguments);
    return !t->at_entry && call >= 0 && pp_tracee_ended_early(&t->registers) &&
           pp_interruption_of(call, arguments) != PP_INTERRUPTION_CUT;
}

/* The registers with which the kernel goes on with the interrupted call, unless a handler runs
 * first that has the call end with EINTR. Some calls end with EINTR after any stop: they begin
 * again, epoll_wait(2) with what is left of its time, or with all of it where that is not known:
 * late rather than early. */
static pp_tracee_general continued(const pp_tracee *t)
{
    pp_tracee_general general = t->registers.general;
    if (begins_again(t)) {
        int ms = pp_tracee_epoll_ms(&t->registers);
        if (is_epoll(pp_tracee_call_number(&t->registers)) && ms > 0) {
            int64_t slept_ms = asleep_ms(t);
            pp_tracee_set_epoll_ms(&general, slept_ms < ms ? (int)(ms - slept_ms) : 0);
        }
        pp_tracee_let_restart(&t->registers, &general);
    }
    return general;
}

/* The same for a thread that gets its registers by rt_sigreturn(2), and itself makes the call. */
static pp_tracee_general resumed(const pp_tracee *t, const pp_tracee_general *continued)
{
    pp_tracee_general general = *continued;
    if (!t->at_entry && !pp_tracee_is_interrupted(&t->registers)) {
        pp_tracee_forget_call(&general);
    } else {
        pp_tracee_repeat(&general);
    }
    return general;
}

void pp_tracee_release(pp_tracee *t)
{
    const pp_tracee_general general = continued(t);
    pp_tracee_set_general(t->tid, &general);
    ptrace(PTRACE_DETACH, t->tid, NULL, NULL);
}

/* ---- stopping ---- */

pp_tracee_status pp_tracee_stop(int tid, bool (*may_stop)(int tid, void *context), void *context,
                                pp_tracee *tracee)
{
    tracee->tid = tid;
    tracee->at_entry = tracee->before_call = false;
    if (ptrace(PTRACE_SEIZE, tid, NULL, PTRACE_O_TRACESYSGOOD) != 0) {
        return errno == ESRCH ? PP_TRACEE_GONE : PP_TRACEE_REFUSED;
    }
    read_sched(tid, &tracee->sched);
    tracee->wait = (pp_tracee_wait){.call = -1};
    tracee->stopped_ns = pp_remote_now_ns();
    if (!may_stop(tid, context)) {
        return PP_TRACEE_LEFT;
    }
    read_wait(tid, &tracee->wait);
    ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
    pp_tracee_status status = wait_for_stop(tid);
    if (status == PP_TRACEE_STOPPED && !read_registers(tracee)) {
        status = PP_TRACEE_GONE;
    }
    if (status == PP_TRACEE_JOB_STOPPED || status == PP_TRACEE_GONE) {
        ptrace(PTRACE_DETACH, tid, NULL, NULL);
    }
    return status;
}

/* The thread is at the entry of a call that is left out: it is stopped once more, where the kernel looks at signals and
 * interrupted calls. False: it is not, or gone. */
static bool stop_after_call(int tid)
{
    int status = 0;
    ptrace(PTRACE_SYSCALL, tid, NULL, NULL);
    while (wait_for(tid, LEAVE_MS, &status) && WIFSTOPPED(status)) {
        if (is_event_stop(status)) {
            return true;
        }
        bool is_exit = is_call_stop(status);
        if (is_exit) { /* not before: each stop takes back a demand for another one */
            ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
        }
        pass_signal_on(tid, is_exit ? PTRACE_CONT : PTRACE_SYSCALL, status);
    }
    return false;
}

/* Lets the thread go on to the next entry or exit of a call. False: it is not there, or gone. */
static bool stop_at_call(int tid)
{
    int status = 0;
    ptrace(PTRACE_SYSCALL, tid, NULL, NULL);
    while (wait_for(tid, LEAVE_MS, &status) && WIFSTOPPED(status)) {
        if (is_call_stop(status)) {
            return true;
        }
        pass_signal_on(tid, PTRACE_SYSCALL, status);
    }
    return false;
}

/* The thread is at the entry of a call, where one register is not to be seen. It is stopped once more, and makes the call
 * after that, whatever becomes of cpprof. */
static bool stop_before_call(pp_tracee *t)
{
    const pp_tracee_general entry = t->registers.general;
    pp_tracee_postpone(t->tid);
    if (!stop_after_call(t->tid) || !read_registers(t)) {
        return false;
    }
    pp_tracee_set_before_call(&t->registers, &entry);
    t->at_entry = false;
    t->before_call = true;
    return pp_tracee_set_general(t->tid, &t->registers.general);
}

bool pp_tracee_step(pp_tracee *tracee)
{
    int status = 0;
    bool enters_again = tracee->before_call;
    const pp_tracee_general general = continued(tracee);
    pp_tracee_set_general(tracee->tid, &general);
    tracee->wait = (pp_tracee_wait){.call = -1};
    tracee->before_call = false;
    ptrace(PTRACE_SYSCALL, tracee->tid, NULL, NULL);
    while (wait_for(tracee->tid, STEP_MS, &status) && WIFSTOPPED(status)) {
        bool is_entry = is_call_stop(status) && read_registers(tracee) &&
                        pp_tracee_is_entry(&tracee->registers);
        if (is_entry && !enters_again) {
            tracee->at_entry = true;
            tracee->stopped_ns = pp_remote_now_ns();
            return !PP_TRACEE_ENTRY_HIDES_A_REGISTER || stop_before_call(tracee);
        }
        enters_again = enters_again && !is_entry;
        pass_signal_on(tracee->tid, PTRACE_SYSCALL, status);
    }
    return false;
}

long pp_tracee_waiting_call(const pp_tracee *tracee)
{
    return tracee->at_entry || pp_tracee_is_interrupted(&tracee->registers)
               ? pp_tracee_call_number(&tracee->registers)
               : -1;
}

/* ---- the call ---- */

/* Writes word by word, also where process_vm_writev(2) is forbidden. */
static int poke(int tid, uintptr_t at, const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += sizeof(long)) {
        size_t left = bytes - i;
        errno = 0;
        long word = left < sizeof word ? ptrace(PTRACE_PEEKDATA, tid, (void *)(at + i), NULL) : 0;
        if (errno != 0) {
            return -errno;
        }
        memcpy(&word, (const char *)data + i, left < sizeof word ? left : sizeof word);
        if (ptrace(PTRACE_POKEDATA, tid, (void *)(at + i), (void *)word) != 0) {
            return -errno;
        }
    }
    return 0;
}

/* The words are below the pointer: the thread does not use them yet. */
static int write_shadow(int tid, const pp_tracee_frame *frame)
{
    return frame->shadow_at != 0 ? poke(tid, frame->shadow_at, frame->shadow, sizeof frame->shadow)
                                 : 0;
}

static int write_frame(int tid, const pp_tracee_frame *frame)
{
    struct iovec local = {(void *)frame->data, frame->bytes};
    struct iovec remote = {(void *)frame->at, frame->bytes};
    ssize_t written = process_vm_writev(tid, &local, 1, &remote, 1, 0);
    if (written < 0 && errno != EFAULT) {
        return poke(tid, frame->at, frame->data, frame->bytes);
    }
    return written == (ssize_t)frame->bytes ? 0 : -EFAULT;
}

/* Waits until the function has returned, and stops the thread at the entry of rt_sigreturn. After
 * another rt_sigreturn, of a handler, the kernel has forgotten how the call goes on: it begins anew. */
static bool wait_for_return(pp_tracee *t, const pp_tracee_frame *frame,
                            pp_tracee_general *continued)
{
    pp_tracee_general general;
    int status = 0;
    ptrace(PTRACE_SYSCALL, t->tid, NULL, NULL);
    while (wait_for(t->tid, ATTENDED_MS, &status) && WIFSTOPPED(status)) {
        if (is_call_stop(status) && pp_tracee_get_general(t->tid, &general) &&
            pp_tracee_returns(&general, frame)) {
            return true;
        }
        if (pass_signal_on(t->tid, PTRACE_SYSCALL, status)) {
            pp_tracee_forget_time(&t->registers, continued);
        }
    }
    return false;
}

/*
 * The thread is at the entry of rt_sigreturn, which would have the kernel forget how the call of the
 * first stop goes on. That call is left out, and the thread stopped once more where the kernel looks
 * at interrupted calls: with the registers of the first stop it continues the call of that time.
 * Until then its registers are those before rt_sigreturn: if cpprof is killed, the thread makes it.
 */
static void give_registers_back(const pp_tracee *t, const pp_tracee_general *continued)
{
    pp_tracee_postpone(t->tid);
    if (!stop_after_call(t->tid)) {
        return;
    }
    if (PP_TRACEE_ENTRY_KEEPS_ARGUMENT) {
        pp_tracee_set_argument(t->tid, continued);
        if (!stop_at_call(t->tid)) {
            return;
        }
        pp_tracee_postpone(t->tid);
        if (!stop_at_call(t->tid)) {
            return;
        }
    }
    pp_tracee_set_state(t->tid, &t->registers);
    ptrace(PTRACE_SETSIGMASK, t->tid, sizeof t->registers.mask, &t->registers.mask);
    pp_tracee_set_shadow(t->tid, t->registers.shadow);
    pp_tracee_continue(t->tid, &t->registers, continued);
}

/*
 * Signals wait until the function has returned: a handler may jump out of it, and a cancellation ends
 * the thread in it. Those of a fault do not wait, since an allocator may live by them; nor does
 * libc's own of setuid(2), for which another thread waits that holds a lock.
 */
static uint64_t mask_of_call(const pp_tracee *t)
{
    static const int urgent[] = {SIGSEGV, SIGBUS, SIGFPE,          SIGILL,
                                 SIGTRAP, SIGSYS, PP_SETUID_SIGNAL};
    uint64_t others = ~UINT64_C(0);
    for (size_t i = 0; i < sizeof urgent / sizeof *urgent; i++) {
        others &= ~pp_signal_bit(urgent[i]);
    }
    return t->registers.mask | others;
}

/* With a shadow stack these are two steps: if cpprof is killed between them, the thread ends. The
 * mask comes after the registers: with them, the thread gets its own back whatever becomes of cpprof. */
static int enter(const pp_tracee *t, const pp_tracee_frame *frame, const pp_tracee_general *entry)
{
    int error = pp_tracee_set_shadow(t->tid, frame->shadow_at);
    if (error == 0 && !pp_tracee_set_general(t->tid, entry)) {
        error = -errno;
        pp_tracee_set_shadow(t->tid, t->registers.shadow);
    }
    if (error == 0) {
        const uint64_t mask = mask_of_call(t);
        ptrace(PTRACE_SETSIGMASK, t->tid, sizeof mask, &mask);
    }
    return error;
}

int64_t pp_tracee_call_function(pp_tracee *tracee, const pp_tracee_call *call, uintptr_t *frame_at)
{
    static pp_tracee_frame frame; /* large */
    pp_tracee_general entry;
    pp_tracee_general before = continued(tracee);
    const pp_tracee_general after = resumed(tracee, &before);
    int error = pp_tracee_build(&tracee->registers, &after, call, &frame, &entry) ? 0 : -E2BIG;
    error = error == 0 ? write_frame(tracee->tid, &frame) : error;
    error = error == 0 ? write_shadow(tracee->tid, &frame) : error;
    error = error == 0 ? enter(tracee, &frame, &entry) : error;
    if (error != 0) {
        pp_tracee_release(tracee);
        return error;
    }
    *frame_at = frame.at;
    int64_t stood_ns = (int64_t)(pp_remote_now_ns() - tracee->stopped_ns);
    if (!tracee->at_entry && pp_tracee_goes_on(&tracee->registers) &&
        wait_for_return(tracee, &frame, &before)) {
        give_registers_back(tracee, &before);
    }
    ptrace(PTRACE_DETACH, tracee->tid, NULL, NULL);
    return stood_ns;
}
