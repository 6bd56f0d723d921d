/* SPDX-License-Identifier: MIT
 *
 * attach.c: see attach.h.
 *
 *   refuse what cannot work -> look at all threads from outside -> stop the best one
 *     -> look again -> call, or let it go and take the next
 *
 * The threads that wait come first whose call begins again as if nothing had been; then those for
 * which the kernel has to remember how long they still wait; then those that run; then those whose
 * waiting time cannot be kept to the millisecond; last those that are not at a safe point, and may
 * leave it with their next system calls. A thread in a call that a stop would cut short is not
 * stopped.
 *
 * ptrace(2) binds a stopped thread to the thread that traces it. So each round has a thread of its
 * own: when that ends, whatever is left of a stop ends with it.
 *
 * Tested by: e2e.cpprof_attach, e2e.cpprof_attach_transfers
 */
#include "remote/attach.h"

#include "remote/attach_symbols.h"
#include "remote/interruptions.h"
#include "remote/process.h"
#include "remote/safe_point.h"
#include "remote/target.h"
#include "remote/tracee.h"

#include "base/path.h"
#include "modules/loader_state.h"
#include "sys/numbers.h"
#include "sys/task_state.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    TRIED_MAX = 8,      /* threads in one round */
    STEPS = 16,         /* system calls of a thread that leaves an unsafe place */
    THREADS_MAX = 4096, /* that are looked at: one is enough */
    DIRECTORY_BYTES = 32 * 1024,
    PATIENCE_S = 5,
    STARTING_MS = 1000, /* from the exec of a program until its libc is there */
    REFUSALS = 16,
    NAP_MS = 3
};

typedef enum rank { EXACT, BY_KERNEL, RUNS, INEXACT, UNSAFE } rank;

/* LEFT: the thread is let go at the end of the round, since it has not come to where it could be. */
typedef enum outcome { DONE, NEXT, LEFT, NEVER } outcome;

typedef struct candidate {
    int tid;
    rank rank;
    uint8_t left; /* history.left */
} candidate;

/* What earlier rounds have seen of a thread. */
typedef struct history {
    uint8_t left; /* how often a round has ended with it */
    bool spared;  /* it was in a call that a stop would cut short */
} history;

/* One call. */
typedef struct attempt {
    int pid;
    pp_target target;
    const char *path;    /* dlopen() */
    const char *options; /* pprof_configure() */
    pp_attach_call *call;
    pp_remote_error *error;
    pp_arena arena;
    pp_profile objects;
    pp_safe_looks looks;
    pp_tracee_call wanted;
    pp_tracee *tracee;
    candidate *candidates;
    size_t count;
    char *directory;  /* DIRECTORY_BYTES */
    history *threads; /* THREADS_MAX, by the last digits of their numbers */
    const char *why;
    char spared[64];
    bool runs; /* the thread that is tried has not waited for some time */
    outcome outcome;
    unsigned refusals;
    bool is_starting; /* a program may be about to be executed, or libc to be loaded */
    int status;       /* 0, or -1 with the reason */
} attempt;

/* ---- what forbids it ---- */

/* Another cpprof lets go of its thread in a moment. */
static bool is_cpprof(long tracer)
{
    char name[16] = "";
    long got = pp_remote_read_proc((int)tracer, "comm", name, sizeof name - 1);
    return got < 0 || strncmp(name, "cpprof", 6) == 0;
}

typedef struct filter_look {
    long seen;
    int filtered;
} filter_look;

static void look_for_filter(int tid, void *context)
{
    filter_look *look = context;
    look->seen++;
    if (look->filtered == 0 && pp_remote_status_number(tid, "Seccomp") != 0) {
        look->filtered = tid;
    }
}

/* The kernel's list may leave out threads while others end: it is read again if it has too few. */
int pp_attach_filtered_thread(int pid)
{
    enum { LISTS = 8 };
    char buffer[4096] __attribute__((aligned(8)));
    char path[64];
    filter_look look = {0};
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    for (unsigned i = 0; i < LISTS && look.filtered == 0; i++) {
        look.seen = 0;
        pp_numbers_each(path, buffer, sizeof buffer, look_for_filter, &look);
        if (look.seen >= pp_remote_status_number(pid, "Threads")) {
            break;
        }
    }
    return look.filtered;
}

static int fail_by_filter(int pid, int tid, pp_remote_error *error)
{
    char of_thread[32] = "";
    if (tid != pid) {
        snprintf(of_thread, sizeof of_thread, "thread %d of ", tid);
    }
    return pp_remote_fail(error,
                          "%sprocess %d is under a seccomp filter, which may kill it for what "
                          "attaching has to do: start it with cpprof record, or with "
                          "LIBPPROF=control and the library preloaded",
                          of_thread, pid);
}

static int check_state(int pid, pp_remote_error *error)
{
    char text[64] = "";
    long tracer = pp_remote_status_number(pid, "TracerPid");
    if (tracer != 0 && !is_cpprof(tracer)) {
        return pp_remote_fail(error,
                              "process %d is traced by process %ld (gdb, strace), and only one can "
                              "do that: end it first",
                              pid, tracer);
    }
    int filtered = pp_attach_filtered_thread(pid);
    if (filtered != 0) {
        return fail_by_filter(pid, filtered, error);
    }
    if (pp_remote_status_text(pid, "State", text, sizeof text) && text[0] == 'T') {
        return pp_remote_fail(error, "process %d is stopped: let it go on (kill -CONT %d)", pid,
                              pid);
    }
    return 0;
}

/* Whether the kernel has started the program by a loader, or has not come so far in an exec. */
static bool may_have_loader(const attempt *a)
{
    return a->target.walked.interpreter != 0 || a->target.walked.entry == 0;
}

/* The library that is loaded is the one beside this program, for the same libc. */
static int fail_by_libc(int pid, pp_remote_error *error)
{
    return pp_loader_is_libc()
               ? pp_remote_fail(error,
                                "process %d uses glibc, and this cpprof is built for musl: attach "
                                "with one that is built for glibc",
                                pid)
               : pp_remote_fail(error,
                                "process %d uses the musl C library, and this cpprof is built for "
                                "glibc: attach with one that is built for musl; cpprof dump -p %d "
                                "shows its threads",
                                pid, pid);
}

static int check_libc(const attempt *a)
{
    bool has_libc = false;
    for (size_t i = 0; i < a->objects.mapping_count; i++) {
        const pp_mapping *m = &a->objects.mappings[i];
        bool is_libc = (m->code_of & PP_CODE_OF_LIBC) != 0;
        bool is_loader = (m->code_of & PP_CODE_OF_LOADER) != 0;
        if (is_libc && is_loader != pp_loader_is_libc()) {
            return fail_by_libc(a->pid, a->error);
        }
        has_libc |= is_libc;
    }
    return has_libc ? 0
                    : pp_remote_fail(a->error,
                                     "process %d is a static program, into which nothing can be "
                                     "loaded: link it to libpprof_static.a; cpprof dump -p %d "
                                     "shows its threads",
                                     a->pid, a->pid);
}

static void nap(void)
{
    const struct timespec time = {.tv_nsec = NAP_MS * 1000000L};
    nanosleep(&time, NULL);
}

/* Of <linux/kcmp.h>. */
enum { KCMP_MEMORY = 1, KCMP_FILES = 2 };

/* kcmp(2): 0: the two threads have one and the same; negative: that is not to be known. */
static long compare(int tid, int other, int type)
{
    return syscall(SYS_kcmp, tid, other, type, 0, 0);
}

/* A child of vfork(2), which is about to execute a program, runs in its parent's memory. */
static int check_memory(const attempt *a)
{
    long parent = pp_remote_status_number(a->pid, "PPid");
    if (parent > 0 && compare(a->target.thread, pp_process_thread((int)parent), KCMP_MEMORY) == 0) {
        return pp_remote_fail(a->error,
                              "process %d shares the memory of process %ld, its parent, and does "
                              "not execute a program: attach to that one",
                              a->pid, parent);
    }
    return 0;
}

/* In the middle of an exec, and after its end. */
static bool has_no_memory(int pid)
{
    char byte;
    return kill(pid, 0) == 0 &&
           pp_remote_read_proc(pp_process_thread(pid), "auxv", &byte, 1) == -ESRCH;
}

/* Opens the target and reads its objects; a->error says why not. */
static int begin_once(attempt *a)
{
    a->arena = (pp_arena)PP_ARENA_INIT;
    a->objects = (pp_profile){0};
    a->is_starting = false;
    if (pp_target_open(&a->target, a->pid, a->error) != 0) {
        a->is_starting = has_no_memory(a->pid);
        return -1;
    }
    int status = check_state(a->pid, a->error);
    if (status == 0) {
        status = check_memory(a);
        status = status != 0 ? status
                             : pp_target_read_objects(&a->target, &a->arena, &a->objects, a->error);
        status = status != 0 ? status : check_libc(a);
        a->is_starting = status != 0 && (a->objects.mapping_count == 0 || may_have_loader(a));
    }
    if (status != 0) {
        pp_target_close(&a->target);
        pp_arena_release(&a->arena);
    }
    return status;
}

/* The same; waits for a program that has just been executed. */
static int begin(attempt *a)
{
    uint64_t limit_ns = pp_remote_now_ns() + STARTING_MS * UINT64_C(1000000);
    int status = begin_once(a);
    while (status != 0 && a->is_starting && pp_remote_now_ns() < limit_ns) {
        nap();
        status = begin_once(a);
    }
    return status;
}

static void finish(attempt *a)
{
    pp_target_close(&a->target);
    pp_arena_release(&a->arena);
}

/* ---- functions of the target ---- */

static bool is_libpprof(const pp_mapping *m)
{
    const char *name = pp_base_name(m->path);
    return strncmp(name, "libpprof.so", 11) == 0 || strncmp(name, "libpprof-attach", 15) == 0;
}

static uintptr_t find_exported(const attempt *a, bool (*is_wanted)(const pp_mapping *),
                               const char *name)
{
    uintptr_t found = 0;
    for (size_t i = 0; i < a->objects.mapping_count && found == 0; i++) {
        if (is_wanted(&a->objects.mappings[i])) {
            found = pp_target_symbol(&a->objects.mappings[i], name);
        }
    }
    return found;
}

static bool is_libc(const pp_mapping *m)
{
    return (m->code_of & PP_CODE_OF_LIBC) != 0;
}

static bool is_libdl(const pp_mapping *m)
{
    return strncmp(pp_base_name(m->path), "libdl", 5) == 0;
}

/* dlopen is in libc from glibc 2.34 on; before, a program without libdl has libc's own one. */
static void find_dlopen(attempt *a)
{
    const long of_libc = RTLD_NOW | (long)0x80000000; /* __RTLD_DLOPEN of glibc's dlfcn.h */
    uintptr_t found = find_exported(a, is_libc, "dlopen");
    found = found != 0 ? found : find_exported(a, is_libdl, "dlopen");
    a->wanted.number = RTLD_NOW;
    if (found == 0) {
        found = find_exported(a, is_libc, "__libc_dlopen_mode");
        a->wanted.number = of_libc;
    }
    a->wanted.function = found;
}

static int find_function(attempt *a)
{
    a->wanted = (pp_tracee_call){.text = a->path != NULL ? a->path : a->options};
    if (a->path != NULL) {
        find_dlopen(a);
    } else {
        a->wanted.function = find_exported(a, is_libpprof, "pprof_configure");
    }
    a->wanted.restorer = pp_target_restorer(&a->objects);
    if (a->wanted.function == 0 || a->wanted.restorer == 0) {
        a->is_starting = true; /* libc may be mapped, and not be ready to be read */
        return pp_remote_fail(a->error, "process %d has no %s that could be called", a->pid,
                              a->path != NULL ? "dlopen()" : "pprof_configure()");
    }
    return 0;
}

/* ---- which thread ---- */

/* A call that would be cut short is not interrupted; a thread that makes such calls is not stopped
 * while it runs, either: it may be in one. */
static bool spares(attempt *a, int tid, long call, const uintptr_t *argument)
{
    const char *name = pp_task_call_name(call);
    if (call < 0 || pp_interruption_of(call, argument) != PP_INTERRUPTION_CUT) {
        return false;
    }
    snprintf(a->spared, sizeof a->spared, "in %s, which a stop would cut short",
             name != NULL ? name : "a system call");
    a->why = a->spared;
    a->threads[tid % THREADS_MAX].spared = true;
    return true;
}

static rank rank_of(attempt *a, const pp_task_place *place)
{
    static const rank ranks[] = {[PP_INTERRUPTION_EXACT] = EXACT,
                                 [PP_INTERRUPTION_BY_KERNEL] = BY_KERNEL,
                                 [PP_INTERRUPTION_INEXACT] = INEXACT,
                                 [PP_INTERRUPTION_CUT] = UNSAFE};
    bool is_safe = place->call >= 0 && pp_safe_waiting(&a->looks, place, &a->why);
    return is_safe ? ranks[pp_interruption_of(place->call, place->argument)] : UNSAFE;
}

static void look_at(int tid, void *context)
{
    attempt *a = context;
    pp_task_place place;
    candidate c = {.tid = tid, .rank = RUNS, .left = a->threads[tid % THREADS_MAX].left};
    pp_task_activity activity = pp_task_look(a->target.tasks, tid, &place);
    if (a->count == THREADS_MAX || activity == PP_TASK_GONE || activity == PP_TASK_UNKNOWN) {
        return;
    }
    if (activity == PP_TASK_WAITS) {
        if (spares(a, tid, place.call, place.argument)) {
            return;
        }
        c.rank = rank_of(a, &place);
    }
    a->candidates[a->count++] = c;
}

static int by_rank(const void *left, const void *right)
{
    const candidate *x = left;
    const candidate *y = right;
    if (x->left != y->left) {
        return x->left < y->left ? -1 : 1;
    }
    return x->rank != y->rank ? (int)x->rank - (int)y->rank : x->tid - y->tid;
}

static void list_candidates(attempt *a)
{
    char path[64];
    a->count = 0;
    snprintf(path, sizeof path, "/proc/%d/task", a->pid);
    pp_numbers_each(path, a->directory, DIRECTORY_BYTES, look_at, a);
    qsort(a->candidates, a->count, sizeof *a->candidates, by_rank);
}

/* ---- one thread ---- */

static bool stopped_is_safe(attempt *a)
{
    const pp_tracee *t = a->tracee;
    uintptr_t arguments[PP_TASK_ARGUMENTS];
    pp_registers registers;
    pp_tracee_arguments(&t->registers, arguments);
    const pp_safe_call call = {pp_tracee_waiting_call(t), arguments[1]};
    pp_tracee_walk_registers(&t->registers, &registers);
    if (call.number < 0 && pp_tracee_in_sequence(t, &a->target.walked.memory)) {
        a->why = "in a restartable sequence";
        return false;
    }
    return pp_safe_stopped(&a->looks, &registers, &call, pp_tracee_thread_pointer(&t->registers),
                           &a->why);
}

/* A thread has one tracer at a time: that may be another cpprof, also one that is gone by now. */
static outcome refuse(attempt *a, int tid)
{
    int error = errno;
    long tracer = pp_remote_status_number(tid, "TracerPid");
    if ((tracer != 0 && is_cpprof(tracer)) || a->refusals++ < REFUSALS) {
        a->why = "traced by another cpprof";
        return NEXT;
    }
    a->status = pp_remote_fail(a->error,
                               "process %d may not be traced (%s): as root, or with sysctl "
                               "kernel.yama.ptrace_scope=0, or in a container with "
                               "CAP_SYS_PTRACE, it may be",
                               a->pid, strerror(error));
    return NEVER;
}

/* Lets the thread leave the place where it is, as far as its next system calls show. */
static outcome step_out(attempt *a)
{
    uintptr_t arguments[PP_TASK_ARGUMENTS];
    for (unsigned i = 0; i < STEPS; i++) {
        if (!pp_tracee_step(a->tracee)) {
            return LEFT;
        }
        if (stopped_is_safe(a)) {
            return DONE;
        }
        pp_tracee_arguments(&a->tracee->registers, arguments);
        if (spares(a, a->tracee->tid, pp_tracee_waiting_call(a->tracee), arguments)) {
            break;
        }
    }
    pp_tracee_release(a->tracee);
    return NEXT;
}

/* Whether a stop at this moment is seen by nobody, as far as the thread's state tells. */
static bool may_stop(int tid, void *context)
{
    attempt *a = context;
    pp_task_place place;
    switch (pp_task_look(a->target.tasks, tid, &place)) {
    case PP_TASK_WAITS:
        return !spares(a, tid, place.call, place.argument);
    case PP_TASK_RUNS:
        a->why = a->threads[tid % THREADS_MAX].spared ? a->spared : "running only for moments";
        return a->runs;
    default:
        a->why = "not to be seen";
        return false;
    }
}

/* Whether the thread has not waited for anything for some time, and is not known to make calls that
 * a stop would cut short: it is hardly in one. */
static bool keeps_running(attempt *a, int tid)
{
    enum { LOOKS = 40, LOOK_NS = 200 * 1000 };
    static const char key[] = "voluntary_ctxt_switches";
    const struct timespec time = {.tv_nsec = LOOK_NS};
    long before = pp_remote_status_number(tid, key);
    a->runs = !a->threads[tid % THREADS_MAX].spared;
    for (unsigned i = 0; i < LOOKS && a->runs; i++) {
        nanosleep(&time, NULL);
        a->runs = may_stop(tid, a);
    }
    return a->runs && pp_remote_status_number(tid, key) == before;
}

/* As threads of libpprof have, also one that works on the stack of another (sys/apart.h): what is loaded opens files. The
 * first thread loses its descriptors after its memory when it ends. */
static bool has_own_descriptors(const attempt *a, int tid)
{
    return compare(tid, a->pid, KCMP_FILES) > 0 && pp_process_thread(a->pid) == a->pid;
}

static outcome stop(attempt *a, int tid)
{
    switch (pp_tracee_stop(tid, may_stop, a, a->tracee)) {
    case PP_TRACEE_STOPPED:
        if (!has_own_descriptors(a, tid)) {
            return DONE;
        }
        a->why = "one with descriptors of its own";
        pp_tracee_release(a->tracee);
        return NEXT;
    case PP_TRACEE_REFUSED:
        return refuse(a, tid);
    case PP_TRACEE_LEFT:
        return LEFT;
    default:
        a->why = "not to be stopped";
        return NEXT;
    }
}

/* A filter that was installed before the stop is seen now. */
static outcome make_call(attempt *a, int tid)
{
    if (pp_remote_status_number(tid, "Seccomp") != 0) {
        pp_tracee_release(a->tracee);
        a->status = fail_by_filter(a->pid, tid, a->error);
        return NEVER;
    }
    a->call->image = pp_attach_image(a->pid);
    int64_t stood_ns = pp_tracee_call_function(a->tracee, &a->wanted, &a->call->frame);
    if (stood_ns < 0) {
        a->why = "on a stack that cannot be written to";
        return NEXT;
    }
    a->call->tid = tid;
    a->call->stopped_ns = stood_ns;
    a->call->thread_pointer = pp_tracee_thread_pointer(&a->tracee->registers);
    a->status = 0;
    return DONE;
}

static outcome try_thread(attempt *a, const candidate *c)
{
    char letter = pp_task_letter(a->target.tasks, c->tid);
    if (letter != 'S' && letter != 'R' && letter != 'D') {
        a->why = "stopped";
        return NEXT;
    }
    a->runs = c->rank == RUNS && keeps_running(a, c->tid);
    if (!may_stop(c->tid, a)) {
        return NEXT;
    }
    outcome result = stop(a, c->tid);
    if (result == DONE && !stopped_is_safe(a)) {
        result = step_out(a);
    }
    if (result == LEFT && c->left < UINT8_MAX) {
        a->threads[c->tid % THREADS_MAX].left = (uint8_t)(c->left + 1);
    }
    return result == DONE ? make_call(a, c->tid) : result;
}

static outcome try_all(attempt *a)
{
    outcome result = NEXT;
    list_candidates(a);
    for (size_t i = 0; i < a->count && i < TRIED_MAX && result == NEXT; i++) {
        result = try_thread(a, &a->candidates[i]);
    }
    return result;
}

static void *try_once(void *argument)
{
    attempt *a = argument;
    a->outcome = try_all(a);
    return NULL;
}

/* One round, by a thread of its own. */
static outcome begin_round(attempt *a)
{
    pthread_t thread;
    int error = pthread_create(&thread, NULL, try_once, a);
    if (error != 0) {
        a->status = pp_remote_fail(a->error, "no thread to attach with: %s", strerror(error));
        return NEVER;
    }
    pthread_join(thread, NULL);
    return a->outcome == LEFT ? NEXT : a->outcome;
}

static int try_for_some_time(attempt *a, uint64_t limit_ns)
{
    outcome result = NEXT;
    a->tracee = pp_arena_alloc(&a->arena, sizeof *a->tracee);
    a->why = "not to be seen";
    a->candidates = pp_arena_array(&a->arena, THREADS_MAX, sizeof *a->candidates);
    a->threads = pp_arena_array_filled(&a->arena, THREADS_MAX, sizeof *a->threads);
    a->directory = pp_arena_alloc(&a->arena, DIRECTORY_BYTES);
    if (a->arena.failed ||
        pp_safe_looks_begin(&a->looks, &a->target, &a->objects, &a->arena) != 0) {
        return pp_remote_fail(a->error, "no memory to look at process %d", a->pid);
    }
    while (result == NEXT && !a->looks.is_other && pp_remote_now_ns() < limit_ns) {
        result = begin_round(a);
        if (result == NEXT) {
            nap();
        }
    }
    return result == NEXT ? pp_remote_fail(a->error,
                                           "no thread of process %d came to a place where it can "
                                           "load a library (the last one was %s): try again",
                                           a->pid, a->why)
                          : a->status;
}

/* ---- all ---- */

static int call_once(attempt *a, uint64_t limit_ns)
{
    *a->call = (pp_attach_call){0};
    a->looks.is_other = false;
    if (begin(a) != 0) {
        return -1;
    }
    a->status = find_function(a);
    if (a->status == 0) {
        a->status = try_for_some_time(a, limit_ns);
    }
    finish(a);
    return a->status;
}

static int call_in_target(attempt *a)
{
    uint64_t begun_ns = pp_remote_now_ns();
    uint64_t limit_ns = begun_ns + PATIENCE_S * UINT64_C(1000000000);
    uint64_t starting_limit_ns = begun_ns + STARTING_MS * UINT64_C(1000000);
    int status = call_once(a, limit_ns);
    while (status != 0 && (a->looks.is_other || a->is_starting) &&
           pp_remote_now_ns() < (a->is_starting ? starting_limit_ns : limit_ns)) {
        nap();
        status = call_once(a, limit_ns);
    }
    return status;
}

int pp_attach_load(int pid, const char *path, pp_attach_call *call, pp_remote_error *error)
{
    attempt a = {.pid = pid, .path = path, .call = call, .error = error};
    return call_in_target(&a);
}

int pp_attach_configure(int pid, const char *options, pp_attach_call *call, pp_remote_error *error)
{
    attempt a = {.pid = pid, .options = options, .call = call, .error = error};
    return call_in_target(&a);
}

int pp_attach_look(int pid, pp_attach_target *target, pp_remote_error *error)
{
    attempt a = {.pid = pid, .error = error};
    *target = (pp_attach_target){0};
    if (begin(&a) != 0) {
        return -1;
    }
    for (size_t i = 0; i < a.objects.mapping_count && !target->has_library; i++) {
        const pp_mapping *m = &a.objects.mappings[i];
        if (is_libpprof(m)) {
            target->has_library = true;
            target->state = pp_target_symbol(m, "pprof_attach_state");
            snprintf(target->library, sizeof target->library, "%s", m->path);
        }
    }
    finish(&a);
    return 0;
}

bool pp_attach_call_is_over(int pid, const pp_attach_call *call)
{
    char path[64];
    pp_task_place place;
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    int tasks = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (tasks < 0) {
        return true; /* the process has ended */
    }
    pp_task_activity activity = pp_task_look(tasks, call->tid, &place);
    close(tasks);
    return activity == PP_TASK_GONE || (activity == PP_TASK_WAITS && place.sp > call->frame);
}

/* struct dl_action_result of glibc's dlfcn/dlerror.h. */
typedef struct loader_error {
    int number; /* errno, or 0 */
    char source;
    bool is_returned;
    uintptr_t object, text;
} loader_error;

/* Copies a text of the target's, which may have written there what it likes. */
static void copy_text(const attempt *a, uintptr_t from, char *to, size_t size)
{
    size_t got = from != 0 ? pp_memory_copy_part(&a->target.walked.memory, to, from, size - 1) : 0;
    to[got] = '\0';
    for (char *c = to; *c != '\0'; c++) {
        if (*c < ' ' || *c > '~') {
            *c = '?';
        }
    }
}

static bool read_loader_error(const attempt *a, char *text, size_t size)
{
    char object[256];
    char words[256];
    uintptr_t at = 0;
    loader_error e;
    uintptr_t variable =
        pp_target_thread_variable(&a->objects, "__libc_dlerror_result", a->call->thread_pointer);
    if (variable == 0 || !pp_target_copy(&a->target.walked, &at, variable, sizeof at)) {
        return false;
    }
    if (at == UINTPTR_MAX) { /* dl_action_result_malloc_failed */
        snprintf(text, size, "out of memory");
        return true;
    }
    if (at == 0 || !pp_target_copy(&a->target.walked, &e, at, sizeof e)) {
        return false;
    }
    copy_text(a, e.object, object, sizeof object);
    copy_text(a, e.text, words, sizeof words);
    snprintf(text, size, "%s%s%s%s%s", object, object[0] != '\0' ? ": " : "", words,
             e.number != 0 ? ": " : "", e.number != 0 ? strerror(e.number) : "");
    return words[0] != '\0';
}

bool pp_attach_loader_says(int pid, const pp_attach_call *call, char *text, size_t size)
{
    pp_attach_call made = *call;
    pp_remote_error unused;
    attempt a = {.pid = pid, .error = &unused, .call = &made};
    if (begin(&a) != 0) {
        return false;
    }
    bool says = read_loader_error(&a, text, size);
    finish(&a);
    return says;
}

uint64_t pp_attach_image(int pid)
{
    uint8_t auxv[1024];
    uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
    long got = pp_remote_read_proc(pp_process_thread(pid), "auxv", auxv, sizeof auxv);
    for (long i = 0; i < got; i++) {
        hash = (hash ^ auxv[i]) * 0x100000001b3;
    }
    return got > 0 ? hash : 0;
}
