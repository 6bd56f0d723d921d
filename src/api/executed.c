/* SPDX-License-Identifier: MIT
 *
 * executed.c: see executed.h.
 *
 * Zone: NORMAL.
 * Owns: whether `cpprof record` is told.
 * Tested by: e2e.children, e2e.cpprof_record_exec, e2e.other_libc
 */
#include "api/executed.h"

#include "api/all_kinds.h"
#include "api/moments.h"
#include "host/exec_target.h"
#include "host/follow_exec.h"
#include "host/preload_list.h"
#include "sys/log.h"
#include "sys/recorder.h"
#include "sys/sandbox.h"
#include "web/control_option.h"
#include "web/http_door.h"
#include "web/http_events.h"
#include "web/push_option.h"

#include <stdlib.h>
#include <string.h>

static struct {
    bool tells; /* `cpprof record` what the process does */
    bool looks; /* at what it executes, with the library in its environment */
    bool has_told_end;
} state;

static void tell(pp_recorder_event event, const char *program)
{
    if (state.tells) {
        pp_recorder_tell(event, program);
    }
}

void pp_executed_tell_child(void)
{
    state.has_told_end = false;
    tell(PP_RECORDER_BEGINS, NULL);
}

void pp_executed_tell_confined(void)
{
    tell(PP_RECORDER_CONFINED, NULL);
    state.tells = state.looks = false;
}

void pp_executed_tell_end(void)
{
    if (!state.has_told_end) {
        tell(PP_RECORDER_ENDS, NULL);
        state.has_told_end = true;
    }
}

/* ---- the environment of programs that this one executes ---- */

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
    pp_preload_list_remove(list);
    if (*list == '\0') {
        unsetenv("LD_PRELOAD");
    }
    unsetenv("LIBPPROF");
}

void pp_executed_init(void)
{
    bool children = pp_all.options.subprocesses;
    if (!children) {
        leave_children_alone();
        pp_recorder_pass_on(false);
    }
    /* Only with `subprocesses` cpprof asks who could not be followed. */
    state.looks = children && pp_sandbox_permits_recorder();
    state.tells = state.looks && pp_recorder_is_there();
    tell(PP_RECORDER_BEGINS, NULL);
}

/* ---- the program that this process executes ---- */

static const char *hindrance(pp_exec_verdict verdict)
{
    switch (verdict) {
    case PP_EXEC_STATIC:
        return "a statically linked program, into which nothing can be preloaded: ";
    case PP_EXEC_FOREIGN:
    case PP_EXEC_OTHER_LIBC:
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
    case PP_EXEC_OTHER_LIBC:
        return PP_RECORDER_FOREIGN;
    case PP_EXEC_PRIVILEGED:
        return PP_RECORDER_PRIVILEGED;
    default:
        return PP_RECORDER_EXECUTES;
    }
}

/* Whether the library goes along when the process executes a program. A child of fork is a process
 * of its own. */
static bool follows_exec(void)
{
    return pp_all.options.follow_exec && (!pp_all.is_fork || pp_all.options.subprocesses);
}

/* A shell tries one folder of PATH after the other. What is not there ends nothing: not the profiles,
 * nor the control socket and what its clients collect. */
void pp_executed_before(pp_exec *exec)
{
    const pp_exec_target target = {exec->folder, exec->path, exec->search};
    bool follows = follows_exec();
    pp_exec_verdict verdict = follows || pp_http_events() != NULL || pp_push_option_is_on()
                                  ? pp_exec_inspect(&target)
                                  : PP_EXEC_ABSENT;
    if (verdict == PP_EXEC_ABSENT) {
        return;
    }
    pp_http_door_before_exec();
    pp_push_option_flush();
    if (!follows) {
        return;
    }
    pp_all_write(true, NULL);
    tell(event_of(verdict), exec->path);
    if (verdict != PP_EXEC_OURS) {
        say_that_it_ends(verdict, exec->path);
        return;
    }
    /* The environment has `until`, if that is given. */
    uint64_t left_ns = pp_all.options.until_ns != 0 ? 0 : pp_moments_left_of_duration();
    char *const *ours = pp_follow_exec_environment(exec->envp, left_ns, &exec->composed);
    if (ours != NULL) {
        exec->envp = ours;
        pp_recorder_pass_on(true);
    }
}

/* Another thread may be about to execute a program, too, with an environment of its own. */
void pp_executed_after_failure(pp_exec *exec)
{
    pp_arena_release(&exec->composed);
    pp_control_option_start();
    if (!follows_exec()) {
        return;
    }
    pp_recorder_pass_on(pp_all.options.subprocesses);
    pp_all_resume(pp_moments_left_of_duration());
    tell(PP_RECORDER_BEGINS, NULL);
}

/* See process.h. */
void pp_executed_by_child(const pp_exec *exec, int child)
{
    if (!state.tells) {
        return;
    }
    const pp_exec_target target = {exec->folder, exec->path, exec->search};
    pp_exec_verdict verdict = pp_exec_inspect(&target);
    bool is_followed = verdict == PP_EXEC_OURS && pp_preload_list_is_in(exec->envp);
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

/* See process.h. */
bool pp_executed_leaves_library(const pp_exec *exec)
{
    const pp_exec_target target = {exec->folder, exec->path, exec->search};
    return state.looks && pp_preload_list_is_in(exec->envp) &&
           pp_exec_inspect(&target) == PP_EXEC_OTHER_LIBC;
}
