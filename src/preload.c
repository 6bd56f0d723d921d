/* SPDX-License-Identifier: MIT
 *
 * preload.c: what happens without being called: start-up, fork, unloading, the end.
 *
 *   constructor --> LIBPPROF --> start        nothing is started, opened or allocated without it
 *   fork        --> child: own profile with `subprocesses`, else none
 *   end         --> stop, write the file
 *
 * Zone: NORMAL; at_end also serves the fatal-signal writer.
 * Locks: none of its own.
 * Owns: the options that the process was started with.
 */
#include "preload.h"

#include "alloctrace_names.h"
#include "base/shown_as.h"
#include "contention_control.h"
#include "cpu_control.h"
#include "custom_profiles.h"
#include "deadline.h"
#include "exec_target.h"
#include "fd_control.h"
#include "follow_exec.h"
#include "heap_collect.h"
#include "heap_control.h"
#include "hook/process.h"
#include "hook/threads.h"
#include "line_plugin.h"
#include "options.h"
#include "output.h"
#include "sample/alloctrace.h"
#include "sample/cpu.h"
#include "sample/cpu_perf.h"
#include "sample/heap.h"
#include "sys/clock.h"
#include "sys/linked.h"
#include "sys/log.h"
#include "sys/modules.h"
#include "sys/own_code.h"
#include "sys/own_work.h"
#include "sys/recorder.h"
#include "sys/safe_read.h"
#include "sys/sandbox.h"
#include "symbolize_control.h"
#include "thread_control.h"
#include "toggle.h"

#include "pprof.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char default_template[] = "/tmp/%e.%p.%k.pb.gz";

static pp_options options;
static bool started;
static bool is_fork;          /* a child of fork, which has executed nothing */
static bool stopped_for_exec; /* the CPU profile; to be started again if the exec fails */
static uint64_t deadline_ns;  /* when the duration that was asked for is over; 0: none was */

static const char *advice_on(int error)
{
    switch (error) {
    case -EAGAIN:
        return "raise the limit on pending signals (ulimit -i)";
    case -EPERM:
        return "a seccomp filter forbids timer_create or process listing: allow them";
    default:
        return NULL;
    }
}

/* Whatever kind is started. */
static void prepare(void)
{
    pp_own_variables_leave_out_of_dumps();
    if (!pp_output_has_template()) {
        pp_output_set_template(default_template);
    }
}

static int start(void)
{
    prepare();
    int error = pp_cpu_control_start(&options.cpu_request);
    if (error != 0) {
        pp_log_error("the CPU profile", " could not be started", error, advice_on(error));
    } else {
        started = true;
        pp_hook_fatal_signals();
    }
    return error;
}

static void apply_symbolize(void)
{
    pp_symbolize_set(options.symbolize);
    if (options.symbolize == PP_SYMBOLIZE_LINES) {
        pp_line_plugin_begin();
    }
}

/* Walks read code by a system call that a sandbox may forbid. */
void pp_preload_prepare_walks(void)
{
    if (pp_sandbox_probe() != PP_SANDBOX_NONE) {
        pp_safe_read_forbid_copy();
    }
}

/* Not where the program brings its own malloc, or another library that does stands before us. What that one maps is not
 * its malloc: it is marked as ours. */
static bool sees_allocations(void)
{
    enum { COUNTDOWN = 1000 };
    void *(*volatile allocate)(size_t) = malloc; /* the compiler knows what malloc does not touch */
    pp_heap_set_rate(0);                         /* this one is not the program's */
    pp_heap_countdown = COUNTDOWN;
    pp_own_work_begin();
    free(allocate(1));
    pp_own_work_end();
    bool seen = pp_heap_countdown != COUNTDOWN;
    pp_heap_countdown = 0;
    return seen;
}

static void toggle(void)
{
    if (started) {
        pp_cpu_control_stop(true, false);
        started = false;
    } else {
        start();
    }
}

static void wait_for_signal(void)
{
    prepare();
    int error = pp_toggle_begin(options.toggle_signal, toggle);
    if (error != 0) {
        pp_log_error("the signal that starts and stops the CPU profile", " is not waited for",
                     error, NULL);
    }
}

static int start_heap(void)
{
    prepare();
    pp_preload_prepare_walks();
    pp_modules_refresh();
    pp_hook_fatal_signals();
    bool seen = sees_allocations();
    int error = pp_heap_control_start(&options.heap_request);
    if (!seen) {
        pp_text text = PP_TEXT_INIT;
        pp_text_add(
            &text,
            "the heap profile will be empty: the program's malloc is not the one that "
            "libpprof stands before; preload libpprof first, or link it first; a fully static "
            "program has to be linked with the options in libpprof_static.wrap");
        pp_log(&text);
    }
    return error;
}

static bool wants_contention(const pp_options *wanted)
{
    return wanted->contention_request.block_rate > 0 ||
           wanted->contention_request.mutex_fraction > 0;
}

static int start_contention(void)
{
    prepare();
    pp_preload_prepare_walks();
    pp_modules_refresh();
    pp_hook_fatal_signals();
    int error = pp_contention_control_start(&options.contention_request);
    if (error != 0) {
        pp_log_error("the block and mutex profiles", " could not be started", error, NULL);
    }
    return error;
}

static void start_thread_profile(void)
{
    prepare();
    pp_modules_refresh();
    pp_hook_fatal_signals();
    pp_thread_control_start();
}

static void start_fd(void)
{
    prepare();
    pp_preload_prepare_walks();
    pp_modules_refresh();
    pp_hook_fatal_signals();
    pp_fd_control_start();
}

/* Each kind gets a file of its own. */
static void distinguish_kinds(const pp_options *wanted)
{
    int kinds = wanted->cpu + wanted->fd + wanted->heap + wanted->heap_request.peak +
                wanted->thread + (wanted->contention_request.block_rate > 0) +
                (wanted->contention_request.mutex_fraction > 0);
    if (kinds > 1) {
        pp_output_distinguish_kinds();
    }
}

/* Without being asked for: in programs that are linked to us, as in Go. */
static void start_default(bool options_given)
{
    bool on = !options_given && pp_is_linked();
    if (on) {
        pp_own_variables_leave_out_of_dumps();
        pp_preload_prepare_walks();
    }
    pp_heap_control_default(on);
}

static void start_alloctrace(void)
{
    pp_own_variables_leave_out_of_dumps();
    pp_modules_refresh();
    pp_alloctrace_begin(options.symbolize);
}

static void after_fork_in_child(void)
{
    is_fork = true;
    pp_deadline_after_fork();
    pp_log_after_fork_in_child();
    pp_hook_threads_after_fork();
    pp_contention_control_after_fork(options.subprocesses);
    pp_thread_control_after_fork(options.subprocesses);
    pp_fd_control_after_fork(options.subprocesses);
    pp_cpu_control_after_fork();
    pp_heap_control_after_fork(options.subprocesses);
    pp_heap_collect_after_fork();
    pp_alloctrace_after_fork_in_child(options.subprocesses);
    pp_custom_profiles_after_fork_in_child();
    if (started && options.subprocesses) {
        start();
    } else {
        started = false;
    }
}

/* The module list is brought up to date while the library is still there. */
static void before_unload(void)
{
    if (pp_cpu_is_active() || pp_heap_control_is_on() || pp_contention_control_is_on() ||
        pp_fd_control_is_on() || pp_custom_profiles_first() != NULL) {
        pp_modules_refresh();
    }
}

/* ---- the end of the duration ---- */

static bool is_on(void)
{
    return started || pp_heap_control_is_on() || pp_contention_control_is_on() || options.thread ||
           pp_fd_control_is_on();
}

/* On a thread of ours. A program that is linked to us may want what goes on for itself. */
static void duration_is_over(void)
{
    bool linked = pp_is_linked();
    if (started) {
        pp_cpu_control_stop(true, false);
        started = false;
    }
    pp_thread_control_end(NULL);
    if (linked) {
        pp_heap_control_end(false);
        pp_contention_control_end(false);
        pp_fd_control_end(false);
    } else {
        pp_heap_control_confine();
        pp_contention_control_confine();
        pp_fd_control_confine();
    }
}

static void wait_for_deadline(void)
{
    uint64_t duration_ns = options.cpu_request.duration_ns;
    if (duration_ns == 0 || !is_on()) {
        return;
    }
    deadline_ns = pp_clock_ns(CLOCK_MONOTONIC);
    if (__builtin_add_overflow(deadline_ns, duration_ns, &deadline_ns)) {
        deadline_ns = 0;
        return;
    }
    int error = pp_deadline_begin(deadline_ns, duration_is_over);
    if (error != 0 && error != -EBUSY) { /* an earlier deadline writes all */
        pp_log_error("the profile",
                     " will be written at the end of the process, not of its duration", error,
                     NULL);
    }
}

/* The new filter may kill for what stopping, naming and writing need. */
static void before_confinement(void)
{
    pp_deadline_cancel();
    bool written = false;
    if (started && pp_cpu_control_stop(true, false) == 0) {
        started = false;
        written = true;
    }
    written |= pp_heap_control_confine();
    written |= pp_thread_control_confine();
    written |= pp_contention_control_confine();
    written |= pp_fd_control_confine();
    written |= pp_alloctrace_stop();
    if (written) {
        pp_text text = PP_TEXT_INIT;
        pp_text_add(&text, "the program puts itself under a seccomp filter: its profile ends here");
        pp_log(&text);
    }
    pp_cpu_perf_confine();
    pp_line_plugin_confine();
}

static void at_end(const void *interrupted)
{
    bool fatal_signal = interrupted != NULL;
    if (fatal_signal) {
        pp_line_plugin_end();
    }
    if (started) { /* first: what the other files take is not the program's time */
        pp_cpu_control_stop(true, fatal_signal);
    }
    pp_thread_control_end(interrupted);
    pp_heap_control_end(fatal_signal);
    pp_contention_control_end(fatal_signal);
    pp_fd_control_end(fatal_signal);
}

/* ---- the environment of programs that this one executes ---- */

/* Takes our library out of the list, in place. */
static void remove_from_list(char *list)
{
    char *out = list;
    const char *in = list;
    while (*in != '\0') {
        size_t length = strcspn(in, ": ");
        size_t whole = length + (in[length] != '\0');
        if (!pp_follow_exec_is_us(in, length)) {
            memmove(out, in, whole);
            out += whole;
        }
        in += whole;
    }
    *out = '\0';
    if (out > list && (out[-1] == ':' || out[-1] == ' ')) {
        out[-1] = '\0';
    }
}

/*
 * Without `subprocesses` a program that this one executes is not profiled: it must not inherit the
 * preload. The variable's own memory is edited; setenv() would allocate.
 */
static void leave_children_alone(void)
{
    char *list = getenv("LD_PRELOAD");
    if (list == NULL) {
        return;
    }
    remove_from_list(list);
    if (*list == '\0') {
        unsetenv("LD_PRELOAD");
    }
    unsetenv("LIBPPROF");
}

/* ---- the program that this process executes ---- */

static const char *hindrance(pp_exec_verdict verdict)
{
    switch (verdict) {
    case PP_EXEC_STATIC:
        return "a statically linked program, into which nothing can be preloaded: ";
    case PP_EXEC_FOREIGN:
        return "a program for another machine or another C library: ";
    default:
        return "a program with set-user-id, which ignores what is preloaded: ";
    }
}

static void say_that_it_ends(pp_exec_verdict verdict, const char *path)
{
    pp_text text = PP_TEXT_INIT;
    pp_text_add(&text, "the profile ends here; the process executes ");
    pp_text_add(&text, hindrance(verdict));
    pp_text_add(&text, path != NULL ? path : "");
    pp_log(&text);
}

static uint64_t left_of_duration_ns(void)
{
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    return deadline_ns == 0 ? 0 : deadline_ns > now_ns ? deadline_ns - now_ns : 1;
}

/* Nothing after this point is in the profiles if the exec succeeds. */
static void write_so_far(void)
{
    if (started && pp_cpu_control_stop(true, false) == 0) {
        started = false;
        stopped_for_exec = true;
    }
    pp_heap_control_write_so_far();
    pp_contention_control_write_so_far();
    pp_thread_control_write_so_far();
    pp_fd_control_write_so_far();
}

static void before_exec(pp_exec *exec)
{
    const pp_exec_target target = {exec->folder, exec->path, exec->search};
    pp_exec_verdict verdict =
        options.follow_exec && !is_fork ? pp_exec_inspect(&target) : PP_EXEC_ABSENT;
    if (verdict == PP_EXEC_ABSENT) {
        return;
    }
    write_so_far();
    if (verdict != PP_EXEC_OURS) {
        say_that_it_ends(verdict, exec->path);
        return;
    }
    char *const *ours = pp_follow_exec_environment(exec->envp, left_of_duration_ns());
    if (ours != NULL) {
        exec->envp = ours;
        pp_recorder_pass_on(true);
    }
}

static void after_failed_exec(void)
{
    if (!options.follow_exec || is_fork) {
        return;
    }
    pp_follow_exec_release();
    pp_recorder_pass_on(options.subprocesses);
    if (stopped_for_exec) {
        pp_cpu_request request = options.cpu_request;
        request.duration_ns = left_of_duration_ns();
        stopped_for_exec = false;
        started = pp_cpu_control_start(&request) == 0;
    }
}

/* ---- start-up ---- */

static const pp_process_events events = {
    .before_fork = pp_modules_before_fork,
    .after_fork_in_child = after_fork_in_child,
    .before_unload = before_unload,
    .before_exec = before_exec,
    .after_failed_exec = after_failed_exec,
    .before_confinement = before_confinement,
    .at_end = at_end,
};

PP_NOT_SHOWN(at_load);
__attribute__((constructor)) static void at_load(void)
{
    int saved_errno = errno;
    pp_log_init();
    pp_output_init();
    pp_recorder_init();
    pp_modules_init();
    pp_hook_threads_init();
    pp_hook_process_init(&events);
    pp_options_init(&options);
    pp_follow_exec_remember();
    const char *text = secure_getenv("LIBPPROF");
    if (text != NULL) {
        pp_options_parse(&options, text);
        options.error = 0; /* a typo must not keep the rest from working */
    }
    pp_options_from_gperftools(&options);
    distinguish_kinds(&options);
    apply_symbolize();
    if (options.heap) {
        start_heap();
    } else {
        start_default(text != NULL);
    }
    if (wants_contention(&options)) {
        start_contention();
    }
    if (options.thread) {
        start_thread_profile();
    }
    if (options.fd) {
        start_fd();
    }
    if (options.cpu) {
        start();
    }
    if (options.toggle_signal != 0) {
        wait_for_signal();
    }
    if (options.alloctrace) {
        start_alloctrace();
    }
    wait_for_deadline();
    if (!options.subprocesses) {
        leave_children_alone();
        pp_recorder_pass_on(false);
    }
    errno = saved_errno;
}

void pp_preload_link(void)
{
}

void pp_preload_options(pp_options *wanted)
{
    *wanted = options;
    wanted->error = 0;
    wanted->cpu = wanted->heap = wanted->fd = wanted->alloctrace = wanted->thread = false;
    wanted->heap_request.allocs = false;
    wanted->contention_request.block_rate = wanted->contention_request.mutex_fraction = 0;
}

int pp_preload_apply(const pp_options *wanted)
{
    int error = wanted->error;
    options = *wanted;
    apply_symbolize();
    if (wanted->heap) {
        int heap_error = start_heap();
        error = error != 0 ? error : heap_error;
    }
    if (wants_contention(wanted)) {
        int contention_error = start_contention();
        error = error != 0 ? error : contention_error;
    }
    if (wanted->thread) {
        start_thread_profile();
    }
    if (wanted->fd) {
        start_fd();
    }
    if (wanted->alloctrace) {
        start_alloctrace();
    }
    if (wanted->cpu) {
        int start_error = start();
        error = error != 0 ? error : start_error;
    }
    wait_for_deadline();
    return error;
}

int pprof_configure(const char *text)
{
    if (text == NULL) {
        return -EINVAL;
    }
    pp_options wanted;
    pp_preload_options(&wanted);
    pp_options_parse(&wanted, text);
    distinguish_kinds(&wanted);
    return pp_preload_apply(&wanted);
}
