/* SPDX-License-Identifier: MIT
 *
 * preload.c: the start of the library, its events, and pprof_configure().
 *
 *   constructor --> LIBPPROF --> start     without LIBPPROF nothing is started, opened or allocated
 *   configure   --> options  --> start     while the program runs
 *   fork        --> child: a profile of its own with `subprocesses`, else none
 *   exec        --> executed.c
 *   attachment  --> attached.c
 *   end         --> write the files        also before: moments.c
 *   crash       --> write all stacks; then the end
 *
 * host/process.h finds out that an event happens; all_kinds.c has each kind act.
 *
 * Zone: NORMAL; the fatal-signal writer calls at_end too.
 * Tested by: e2e.options, e2e.children, e2e.exit, e2e.seccomp, e2e.cpprof_record_exec
 */
#include "api/preload.h"

#include "api/all_kinds.h"
#include "api/attached.h"
#include "api/executed.h"
#include "api/moments.h"
#include "api/otel.h"
#include "arch/shown_as.h"
#include "attach/attach.h"
#include "attach/got.h"
#include "host/follow_exec.h"
#include "host/hooks.h"
#include "host/pausable.h"
#include "modules/code_query.h"
#include "modules/late.h"
#include "modules/modules.h"
#include "output/line_plugin.h"
#include "output/output.h"
#include "sys/apart.h"
#include "sys/beside.h"
#include "sys/clock.h"
#include "sys/log.h"
#include "sys/own_threads.h"
#include "sys/safe_read.h"
#include "sys/sampling_signal.h"
#include "sys/signal_mask.h"
#include "sys/tasks.h"
#include "web/control_option.h"
#include "web/control_routes.h"
#include "web/http_door.h"
#include "web/http_option.h"
#include "web/push_option.h"

#include "pprof.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- events ---- */

static void after_fork_in_child(void)
{
    pp_own_threads_after_fork_in_child();
    pp_apart_after_fork_in_child();
    pp_beside_after_fork_in_child();
    pp_pausables_after_fork();
    pp_moments_after_fork();
    pp_log_after_fork_in_child();
    pp_hooks_after_fork();
    pp_attach_after_fork();
    pp_got_after_fork();
    pp_all_after_fork();
    pp_otel_after_fork_in_child(pp_all.options.subprocesses);
    pp_http_door_after_fork_in_child();
    pp_control_option_after_fork_in_child(pp_all.options.subprocesses);
    pp_push_option_after_fork_in_child(pp_all.options.subprocesses);
    pp_executed_tell_child();
}

static bool holds_addresses(const pp_kind *kind)
{
    return pp_kind_records(kind) || (kind->holds_addresses != NULL && kind->holds_addresses());
}

/* Updates the module list while the library is still there. */
static void before_unload(void)
{
    if (pp_all_any(holds_addresses)) {
        pp_modules_refresh();
    }
}

/* The new filter may kill for the system calls of stopping, naming and writing. */
static void before_confinement(void)
{
    if (pp_late_is()) {
        pp_attach_end_now();
        pp_apart_permit(false);
        return;
    }
    pp_otel_before_confinement();
    pp_moments_end(false);
    pp_push_option_end();
    pp_http_door_before_confinement();
    if (pp_all_confine()) {
        pp_text text = PP_TEXT_INIT;
        pp_text_add(&text, "the program puts itself under a seccomp filter: its profile ends here");
        pp_log(&text);
    }
    pp_executed_tell_confined();
    pp_line_plugin_confine();
    pp_safe_read_forbid_copy(); /* few filters know process_vm_readv */
    pp_code_query_forbid();
    pp_apart_permit(false);
}

static void at_end(const void *interrupted)
{
    pp_push_option_end();
    pp_all_write(false, interrupted);
    pp_http_door_at_end();
    pp_executed_tell_end();
}

static const pp_process_events events = {
    .before_fork = pp_modules_before_fork,
    .after_fork_in_parent = pp_modules_after_fork_in_parent,
    .after_fork_in_child = after_fork_in_child,
    .before_unload = before_unload,
    .before_exec = pp_executed_before,
    .after_failed_exec = pp_executed_after_failure,
    .child_executes = pp_executed_by_child,
    .leaves_library = pp_executed_leaves_library,
    .before_confinement = before_confinement,
    .at_end = at_end,
};

/* ---- start-up ---- */

static int configure(const char *text, pp_text *complaint);

static void init(void)
{
    pp_modules_init();
    pp_hooks_init(&events);
    pp_control_routes_init(configure);
}

/* A library that came late initialises itself on a thread of its own. */
static void prepare_to_attach(void)
{
    if (pp_late_is()) {
        init();
    }
}

static const pp_attach_work attach_work = {.prepare = prepare_to_attach,
                                           .begin = pp_attached_begin,
                                           .look = pp_attached_look,
                                           .end = pp_attached_end};

/* All processes of a recording stop at the same time. One that begins after it records nothing. */
static void obey_until(void)
{
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    if (pp_all.options.until_ns > now_ns) {
        pp_all.options.duration_ns = pp_all.options.until_ns - now_ns;
    } else if (pp_all.options.until_ns != 0) {
        pp_options_forget_kinds();
    }
}

static void bind_calls(void)
{
    pp_called_hook list[PP_CALLED_HOOKS];
    size_t count = 0;
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        const pp_kind_hooks *hooks = pp_kinds[i]->hooks;
        if (hooks != NULL && hooks->list_called != NULL) {
            count += hooks->list_called(list + count, PP_CALLED_HOOKS - count);
        }
    }
    pp_call_slots_bind(list, count);
}

/*
 * Samples of the program that executed this one, if no hook saw that (a raw system call) and the signal is blocked. They
 * would end the process when somebody, also the library, calls libc's sigaction() before there is a handler.
 */
static void take_old_samples(void)
{
    const pp_signal_mask samples = pp_signal_bit(PP_SAMPLING_SIGNAL);
    const struct timespec at_once = {0};
    if (PP_SIGACTION_UNBLOCKS && pp_signal_is_blocked(PP_SAMPLING_SIGNAL)) {
        while (pp_system_call(SYS_rt_sigtimedwait, &samples, NULL, &at_once, sizeof samples) > 0) {
        }
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
    take_old_samples();
    pp_log_init();
    pp_output_init();
    init();
    pp_options_init(&pp_all.options);
    pp_follow_exec_remember();
    const char *text = secure_getenv("LIBPPROF");
    if (text != NULL) {
        pp_options_parse(&pp_all.options, text);
        pp_all.options.error = 0; /* a typo must not keep the rest from working */
    }
    pp_options_from_gperftools(&pp_all.options);
    obey_until();
    pp_moments_number_files(&pp_all.options);
    pp_all_distinguish_files();
    pp_all_start();
    pp_otel_start();
    pp_moments_begin();
    pp_http_option_start();
    pp_control_option_start();
    pp_push_option_start(pp_all.options.interval_ns, false);
    pp_executed_init();
    bind_calls();
    errno = saved_errno;
}

void pp_preload_link(void)
{
}

/* ---- while the program runs ---- */

int pp_preload_begin(pp_options *wanted)
{
    int self = pp_task_self();
    int before = PTHREAD_CANCEL_DISABLE;
    if (pp_lock_held_by(&pp_all.asking, self)) {
        return -EBUSY;
    }
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pp_lock_take(&pp_all.asking, self);
    pp_all.cancel_state = before;
    *wanted = pp_all.options;
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
    pp_all.options = *wanted;
    pp_all.options.complaint = NULL;
    int start_error = pp_all_start();
    int otel_error = pp_otel_start();
    int dump_error = pp_moments_begin();
    int http_error = pp_http_option_start();
    int control_error = pp_control_option_start();
    int push_error = pp_push_option_start(wanted->interval_ns, true);
    const int errors[] = {start_error, otel_error,    dump_error,
                          http_error,  control_error, push_error};
    int before = pp_all.cancel_state;
    pp_lock_release(&pp_all.asking);
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
    pp_moments_number_files(&wanted);
    pp_all_distinguish_files();
    return pp_preload_apply(&wanted);
}

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

int pprof_configure(const char *text)
{
    int error = -EINVAL;
    if (text == NULL || is_said_by_cpprof(text, &error)) {
        return error;
    }
    return configure(text, NULL);
}
