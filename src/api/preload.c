/* SPDX-License-Identifier: MIT
 *
 * preload.c: acts at the events of the process (host/process.h): the library is loaded, the process
 * forks, unloads a library, executes a program, confines itself, or ends. It calls each kind.
 *
 *   constructor --> LIBPPROF --> start     without LIBPPROF nothing is started, opened or allocated
 *   fork        --> child: a profile of its own with `subprocesses`, else none
 *   end         --> stop, write the files
 *   crash       --> write all stacks; then the end
 *
 * Zone: NORMAL; the fatal-signal writer calls at_end too.
 * Owns: the options of the process.
 * Tested by: e2e.options, e2e.children, e2e.exit, e2e.seccomp, e2e.cpprof_record_exec
 */
#include "api/preload.h"

#include "api/options.h"
#include "arch/shown_as.h"
#include "attach/attach.h"
#include "attach/got.h"
#include "host/dispositions.h"
#include "host/exec_target.h"
#include "host/follow_exec.h"
#include "host/hooks.h"
#include "host/kind.h"
#include "host/pausable.h"
#include "host/sampling_handler.h"
#include "host/stack_room.h"
#include "host/toggle.h"
#include "host/worker.h"
#include "modules/code_query.h"
#include "modules/late.h"
#include "modules/linked.h"
#include "modules/modules.h"
#include "output/end_file.h"
#include "output/line_plugin.h"
#include "output/output.h"
#include "output/prepare.h"
#include "sys/apart.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/log.h"
#include "sys/own_threads.h"
#include "sys/recorder.h"
#include "sys/safe_read.h"
#include "sys/sandbox.h"
#include "sys/tasks.h"
#include "web/control_routes.h"
#include "web/control_option.h"
#include "web/http_door.h"
#include "web/http_events.h"
#include "web/http_option.h"

#include "pprof.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pp_options options;
    pp_lock asking;   /* held by the thread that asks the kinds, and starts them */
    int cancel_state; /* of that thread, from before */
    bool is_fork;     /* a child of fork, which has executed no program */
    bool tells;       /* `cpprof record` what the process does */
    bool has_told_end;
    bool has_signal;      /* the handler of `signal` is installed */
    uint64_t on_before;   /* one bit for each kind: on when the attachment began */
    uint64_t deadline_ns; /* the end of the wanted duration; 0: no duration is wanted */
} state;

static void duration_is_over(void);
static void at_interval(void);
static pp_worker duration = {.work = duration_is_over};
static pp_worker interval = {.work = at_interval};

/* Gives each kind a file of its own. */
static void distinguish_kinds(void)
{
    unsigned files = 0;
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        files += pp_kind_files(pp_kinds[i]);
    }
    if (files > 1) {
        pp_output_distinguish_kinds();
    }
}

/* Whether the kind is started and stopped by the option `signal`: one whose profile covers a time. */
static bool is_toggled(const pp_kind *kind)
{
    return state.options.dump_signal != 0 && kind->timed != NULL;
}

static int start_kind(const pp_kind *kind)
{
    if (kind->start != NULL) {
        return kind->start(state.options.duration_ns);
    }
    if (kind->files != NULL) {
        pp_prepare_asked(kind->files);
    }
    return 0;
}

/* Starts the profiles that were asked for. 0 or the first error. */
static int start_kinds(void)
{
    int error = 0;
    for (size_t i = pp_kinds_count(); i-- > 0;) {
        int start_error = is_toggled(pp_kinds[i]) ? 0 : start_kind(pp_kinds[i]);
        error = error != 0 ? error : start_error;
    }
    return error;
}

static void tell_recorder(pp_recorder_event event, const char *program)
{
    if (state.tells) {
        pp_recorder_tell(event, program);
    }
}

static void after_fork_in_child(void)
{
    state.is_fork = true;
    state.has_told_end = false;
    pp_lock_release(&state.asking);
    pp_own_threads_after_fork_in_child();
    pp_apart_after_fork_in_child();
    pp_pausables_after_fork();
    pp_worker_after_fork(&duration);
    pp_worker_after_fork(&interval);
    pp_log_after_fork_in_child();
    pp_hooks_after_fork();
    pp_attach_after_fork();
    pp_got_after_fork();
    pp_end_files_after_fork();
    for (size_t i = pp_kinds_count(); i-- > 0;) {
        if (pp_kinds[i]->after_fork != NULL) {
            pp_kinds[i]->after_fork(state.options.subprocesses);
        }
        if (pp_kinds[i]->files != NULL && !state.options.subprocesses) {
            pp_end_files_forget(pp_kinds[i]->files);
        }
    }
    pp_http_door_after_fork_in_child();
    pp_control_option_after_fork_in_child(state.options.subprocesses);
    tell_recorder(PP_RECORDER_BEGINS, NULL);
}

/* Whether `is` is true of a kind. */
static bool any_kind(bool (*is)(const pp_kind *kind))
{
    size_t i = 0;
    while (pp_kinds[i] != NULL && !is(pp_kinds[i])) {
        i++;
    }
    return pp_kinds[i] != NULL;
}

static bool holds_addresses(const pp_kind *kind)
{
    return pp_kind_records(kind) || (kind->holds_addresses != NULL && kind->holds_addresses());
}

/* Updates the module list while the library is still there. */
static void before_unload(void)
{
    if (any_kind(holds_addresses)) {
        pp_modules_refresh();
    }
}

/* Calls work(context), which writes profiles if there are any. An idle library looks for no room:
 * to look takes a system call, which the program's filter may forbid. */
static void write_by(void (*work)(void *context), void *context)
{
    if (any_kind(pp_kind_is_on)) {
        pp_with_stack_room(work, context);
    } else {
        work(context);
    }
}

/* ---- the end of the duration ---- */

/* Runs on libpprof's thread. A program that is linked to libpprof may use profiles itself: they go
 * on. */
static void duration_is_over(void)
{
    bool linked = pp_is_linked();
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        const pp_kind *kind = pp_kinds[i];
        if (kind->files != NULL && !linked) {
            pp_kind_stop(kind, false);
        } else {
            pp_kind_write(kind, false, NULL);
        }
    }
}

static void wait_for_deadline(void)
{
    uint64_t duration_ns = state.options.duration_ns;
    if (duration_ns == 0 || !any_kind(pp_kind_is_on)) {
        return;
    }
    state.deadline_ns = pp_clock_ns(CLOCK_MONOTONIC);
    if (__builtin_add_overflow(state.deadline_ns, duration_ns, &state.deadline_ns)) {
        state.deadline_ns = 0;
        return;
    }
    int error = pp_worker_begin_at(&duration, state.deadline_ns);
    if (error != 0 && error != -EBUSY) { /* -EBUSY: an earlier deadline writes all */
        pp_log_error("the profile",
                     " will be written at the end of the process, not of its duration", error,
                     NULL);
    }
}

static void confine_kinds(void *context)
{
    bool *written = context;
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        const pp_kind *kind = pp_kinds[i];
        *written |= kind->files != NULL ? pp_end_files_wanted(kind->files) : pp_kind_is_on(kind);
        pp_kind_stop(kind, true);
    }
}

/* The new filter may kill for the system calls of stopping, naming and writing. */
static void before_confinement(void)
{
    bool written = false;
    if (pp_late_is()) {
        pp_attach_end_now();
        pp_apart_permit(false);
        return;
    }
    pp_worker_end(&duration);
    pp_worker_end(&interval);
    pp_toggle_end();
    pp_http_door_before_confinement();
    write_by(confine_kinds, &written);
    if (written) {
        pp_text text = PP_TEXT_INIT;
        pp_text_add(&text, "the program puts itself under a seccomp filter: its profile ends here");
        pp_log(&text);
    }
    tell_recorder(PP_RECORDER_CONFINED, NULL);
    state.tells = false;
    pp_line_plugin_confine();
    pp_safe_read_forbid_copy(); /* few filters know process_vm_readv */
    pp_code_query_forbid();
    pp_apart_permit(false);
}

static void end_kinds(void *context)
{
    const void *interrupted = *(const void **)context;
    if (interrupted != NULL) {
        pp_line_plugin_end();
    }
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        pp_kind_write(pp_kinds[i], false, interrupted);
    }
}

static void at_end(const void *interrupted)
{
    write_by(end_kinds, &interrupted);
    pp_http_door_at_end();
    if (!state.has_told_end) {
        tell_recorder(PP_RECORDER_ENDS, NULL);
        state.has_told_end = true;
    }
}

static void at_dump(const siginfo_t *info, const void *interrupted)
{
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        if (pp_kinds[i]->dump != NULL) {
            pp_kinds[i]->dump(info, interrupted);
        }
    }
}

/* ---- the environment of programs that this one executes ---- */

/* Removes this library from the list, in place. */
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
 * Without `subprocesses`, programs that this one executes are not profiled: they must not inherit
 * the preload. This edits the variable's own memory; setenv() would allocate.
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

static pp_recorder_event event_of(pp_exec_verdict verdict)
{
    switch (verdict) {
    case PP_EXEC_STATIC:
        return PP_RECORDER_STATIC;
    case PP_EXEC_FOREIGN:
        return PP_RECORDER_FOREIGN;
    case PP_EXEC_PRIVILEGED:
        return PP_RECORDER_PRIVILEGED;
    default:
        return PP_RECORDER_EXECUTES;
    }
}

static uint64_t left_of_duration_ns(void)
{
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    return state.deadline_ns == 0 ? 0 : state.deadline_ns > now_ns ? state.deadline_ns - now_ns : 1;
}

/* What a child of fork did until its exec is seen in the profiles of a time. It has hardly
 * allocated, and the kinds that show a state show that of the program to come. */
static bool lasts(const pp_kind *kind)
{
    return !state.is_fork || kind->timed != NULL;
}

/* If the exec succeeds, the profiles end here. */
static void write_so_far(void *unused)
{
    (void)unused;
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        if (lasts(pp_kinds[i])) {
            pp_kind_write(pp_kinds[i], true, NULL);
        }
    }
}

static void resume_kinds(void)
{
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        if (pp_kinds[i]->resume != NULL) {
            pp_kinds[i]->resume(left_of_duration_ns());
        }
    }
}

/* Whether the library goes along when the process executes a program. A child of fork is a process
 * of its own. */
static bool follows_exec(void)
{
    return state.options.follow_exec && (!state.is_fork || state.options.subprocesses);
}

/* A shell tries one folder of PATH after the other. What is not there ends nothing: not the profiles,
 * nor the control socket and what its clients collect. */
static void before_exec(pp_exec *exec)
{
    const pp_exec_target target = {exec->folder, exec->path, exec->search};
    bool follows = follows_exec();
    pp_exec_verdict verdict =
        follows || pp_http_events() != NULL ? pp_exec_inspect(&target) : PP_EXEC_ABSENT;
    if (verdict == PP_EXEC_ABSENT) {
        return;
    }
    pp_http_door_before_exec();
    if (!follows) {
        return;
    }
    write_by(write_so_far, NULL);
    tell_recorder(event_of(verdict), exec->path);
    if (verdict != PP_EXEC_OURS) {
        say_that_it_ends(verdict, exec->path);
        return;
    }
    /* The environment has `until`, if that is given. */
    uint64_t left_ns = state.options.until_ns != 0 ? 0 : left_of_duration_ns();
    char *const *ours = pp_follow_exec_environment(exec->envp, left_ns);
    if (ours != NULL) {
        exec->envp = ours;
        pp_recorder_pass_on(true);
    }
}

static void after_failed_exec(void)
{
    pp_control_option_start();
    if (!follows_exec()) {
        return;
    }
    pp_follow_exec_release();
    pp_recorder_pass_on(state.options.subprocesses);
    resume_kinds();
    tell_recorder(PP_RECORDER_BEGINS, NULL);
}

/* See process.h. */
static void child_executes(const pp_exec *exec, int child)
{
    if (!state.tells) {
        return;
    }
    const pp_exec_target target = {exec->folder, exec->path, exec->search};
    pp_exec_verdict verdict = pp_exec_inspect(&target);
    bool is_followed = verdict == PP_EXEC_OURS && pp_follow_exec_is_in(exec->envp);
    if (verdict == PP_EXEC_ABSENT || is_followed) {
        return;
    }
    pp_recorder_event event = verdict == PP_EXEC_OURS ? PP_RECORDER_CLEARED : event_of(verdict);
    if (child != 0) {
        pp_recorder_tell_of(child, event, exec->path);
    } else {
        pp_recorder_tell(event, exec->path);
    }
}

/* ---- while the program goes on ---- */

static void toggle(const pp_kind *kind)
{
    if (pp_kind_is_on(kind)) {
        pp_kind_stop(kind, false);
    } else if (pp_kind_files(kind) > 0) {
        kind->start(0);
    }
}

/* Runs on libpprof's thread. */
static void at_signal(void)
{
    pp_lock_take(&state.asking, pp_task_self());
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        if (is_toggled(pp_kinds[i])) {
            toggle(pp_kinds[i]);
        } else {
            pp_kind_write(pp_kinds[i], true, NULL);
        }
    }
    pp_lock_release(&state.asking);
}

/* Runs on libpprof's thread. A kind that has to stop for its file goes on with a new profile. */
static void at_interval(void)
{
    pp_lock_take(&state.asking, pp_task_self());
    write_so_far(NULL);
    resume_kinds();
    pp_lock_release(&state.asking);
}

/* Files that are written several times have several names, unless the user has chosen one. */
static void number_files(const pp_options *options)
{
    if ((options->interval_ns != 0 || options->dump_signal != 0) && !pp_output_has_template()) {
        pp_output_set_template("/tmp/%e.%p.%k.%n.pb.gz");
    }
}

/* 0 or the first error, which is also on the log. */
static int wait_for_dumps(void)
{
    const pp_options *o = &state.options;
    int signal_error =
        o->dump_signal != 0 && !state.has_signal ? pp_toggle_begin(o->dump_signal, at_signal) : 0;
    int interval_error = o->interval_ns != 0 ? pp_worker_begin_each(&interval, o->interval_ns) : 0;
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

/* ---- attachments (attach/attach.h) ---- */

static const pp_process_events events;
static int configure(const char *text, pp_text *complaint);

/* A library that came late initialises itself on a thread of its own. */
static void prepare_to_attach(void)
{
    if (pp_late_is()) {
        pp_modules_init();
        pp_hooks_init(&events);
        pp_control_routes_init(configure);
    }
}

static uint64_t kinds_that_are_on(void)
{
    uint64_t on = 0;
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        on |= (uint64_t)pp_kind_is_on(pp_kinds[i]) << i;
    }
    return on;
}

static void find_real_functions(void)
{
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        const pp_kind_hooks *hooks = pp_kinds[i]->hooks;
        if (hooks != NULL && hooks->find_real != NULL) {
            hooks->find_real();
        }
    }
}

static void have_hooks_called(void)
{
    pp_got_report report = {.filled = 0};
    bool all = pp_got_all_are_filled() || any_kind(pp_kind_records);
    bool answered = pp_got_fill(all ? PP_GOT_ALL : PP_GOT_OF_GUEST, find_real_functions, &report);
    if (all && !answered) {
        pp_attach_remark("only CPU and thread profiles: a child of fork cannot ask the loader");
    } else if (all && report.refused > 0) {
        pp_attach_remark("some libraries are not hooked: the kernel (SELinux?) keeps their tables "
                         "read-only; start the program with the library instead");
    }
}

/* A program whose pthread_cancel is not hooked makes libc install its handler over ours. */
static void look_around(void)
{
    if (!pp_late_is()) {
        return;
    }
    pp_sampling_handler_reinstall();
    have_hooks_called();
}

/* Threads that confine themselves from now on are seen by our hooks. One that has done it before
 * may be killed for what a sampling signal has it do. */
static int check_filters(pp_text *why)
{
    int tid = pp_sandbox_filtered_thread();
    if (tid != 0) {
        pp_text_add(why, "thread ");
        pp_text_add_number(why, (uint64_t)tid);
        pp_text_add(why,
                    " is under a seccomp filter, which may kill the process for what a profile "
                    "has to do there: start it with the library");
    }
    return tid != 0 ? -EPERM : 0;
}

static int begin_attachment(pp_text *why)
{
    pp_lock_take(&state.asking, pp_task_self());
    if (pp_late_is()) {
        pp_output_init();
        pp_options_init(&state.options);
    }
    state.on_before = kinds_that_are_on();
    pp_log_copy_to(why);
    int error = pp_control_option_begin();
    pp_log_copy_to(NULL);
    if (error == 0 && pp_late_is()) {
        have_hooks_called();
        error = check_filters(why);
    }
    pp_lock_release(&state.asking);
    return error;
}

static void stop_kinds(uint64_t all_but)
{
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        if ((all_but >> i & 1) == 0) {
            pp_kind_stop(pp_kinds[i], false);
        }
    }
}

static void forget_calls(void)
{
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        const pp_kind_hooks *hooks = pp_kinds[i]->hooks;
        if (hooks != NULL && hooks->forget != NULL) {
            hooks->forget();
        }
    }
}

/* In a program that was started with us, what it has asked for goes on. */
static void end_attachment(void)
{
    if (!pp_late_is()) {
        pp_control_option_end();
        pp_lock_take(&state.asking, pp_task_self());
        stop_kinds(state.on_before);
        pp_lock_release(&state.asking);
        return;
    }
    pp_worker_end(&duration);
    pp_worker_end(&interval);
    pp_toggle_undo();
    state.has_signal = false;
    pp_http_door_before_confinement();
    pp_lock_take(&state.asking, pp_task_self());
    pp_control_option_forget();
    stop_kinds(0);
    pp_hook_give_defaults_back();
    bool had_all = pp_got_all_are_filled();
    pp_got_restore();
    if (had_all) {
        forget_calls();
    }
    pp_log_set_path(NULL);
    pp_lock_release(&state.asking);
    if (!pp_sampling_handler_end()) {
        pp_attach_remark(
            "a thread blocks signal 32, which is pending for it: the signal's handler stays");
    }
}

static const pp_attach_work attach_work = {.prepare = prepare_to_attach,
                                           .begin = begin_attachment,
                                           .look = look_around,
                                           .end = end_attachment};

/* `attach` and `detach` are no options: cpprof has a thread of the program say them, which may hold
 * any lock, and must not wait. */
static bool is_said_by_cpprof(const char *text, int *error)
{
    bool begins = strcmp(text, "attach") == 0;
    bool ends = strcmp(text, "detach") == 0;
    *error = begins ? pp_attach_begin() : 0;
    if (ends) {
        pp_attach_end();
    }
    return begins || ends;
}

/* ---- start-up ---- */

static const pp_process_events events = {
    .before_fork = pp_modules_before_fork,
    .after_fork_in_child = after_fork_in_child,
    .before_unload = before_unload,
    .before_exec = before_exec,
    .after_failed_exec = after_failed_exec,
    .child_executes = child_executes,
    .before_confinement = before_confinement,
    .at_dump = at_dump,
    .at_end = at_end,
};

/* All processes of a recording stop at the same time. One that begins after it records nothing. */
static void obey_until(void)
{
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    if (state.options.until_ns > now_ns) {
        state.options.duration_ns = state.options.until_ns - now_ns;
    } else if (state.options.until_ns != 0) {
        pp_options_forget_kinds();
    }
}

PP_NOT_SHOWN(at_load);
__attribute__((constructor)) static void at_load(void)
{
    int saved_errno = errno;
    pp_attach_init(&attach_work);
    if (pp_late_find()) {
        pp_attach_begin();
        errno = saved_errno;
        return;
    }
    pp_log_init();
    pp_output_init();
    pp_modules_init();
    pp_hooks_init(&events);
    pp_control_routes_init(configure);
    pp_options_init(&state.options);
    pp_follow_exec_remember();
    const char *text = secure_getenv("LIBPPROF");
    if (text != NULL) {
        pp_options_parse(&state.options, text);
        state.options.error = 0; /* a typo must not keep the rest from working */
    }
    pp_options_from_gperftools(&state.options);
    obey_until();
    number_files(&state.options);
    distinguish_kinds();
    start_kinds();
    wait_for_deadline();
    wait_for_dumps();
    pp_http_option_start();
    pp_control_option_start();
    if (!state.options.subprocesses) {
        leave_children_alone();
        pp_recorder_pass_on(false);
    }
    /* Only with `subprocesses` cpprof asks who could not be followed. */
    state.tells =
        state.options.subprocesses && pp_recorder_is_there() && pp_sandbox_permits_recorder();
    tell_recorder(PP_RECORDER_BEGINS, NULL);
    errno = saved_errno;
}

void pp_preload_link(void)
{
}

int pp_preload_begin(pp_options *wanted)
{
    int self = pp_task_self();
    int before = PTHREAD_CANCEL_DISABLE;
    if (pp_lock_held_by(&state.asking, self)) {
        return -EBUSY;
    }
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pp_lock_take(&state.asking, self);
    state.cancel_state = before;
    *wanted = state.options;
    wanted->error = 0;
    pp_options_forget_kinds();
    return 0;
}

static int first_of(const int *errors, size_t count)
{
    size_t i = 0;
    while (i + 1 < count && errors[i] == 0) {
        i++;
    }
    return errors[i];
}

int pp_preload_apply(const pp_options *wanted)
{
    state.options = *wanted;
    state.options.complaint = NULL;
    int start_error = start_kinds();
    wait_for_deadline();
    int dump_error = wait_for_dumps();
    int http_error = pp_http_option_start();
    int control_error = pp_control_option_start();
    const int errors[] = {start_error, dump_error, http_error, control_error};
    int before = state.cancel_state;
    pp_lock_release(&state.asking);
    pthread_setcancelstate(before, NULL);
    return wanted->error != 0 ? wanted->error : first_of(errors, sizeof errors / sizeof *errors);
}

static int configure(const char *text, pp_text *complaint)
{
    pp_options wanted;
    int error = pp_preload_begin(&wanted);
    if (error != 0) {
        return error;
    }
    wanted.complaint = complaint;
    pp_options_parse(&wanted, text);
    number_files(&wanted);
    distinguish_kinds();
    return pp_preload_apply(&wanted);
}

int pprof_configure(const char *text)
{
    int error = -EINVAL;
    if (text == NULL || is_said_by_cpprof(text, &error)) {
        return error;
    }
    return configure(text, NULL);
}
