/* SPDX-License-Identifier: MIT
 *
 * attached.c: see attached.h.
 *
 * Zone: NORMAL.
 * Tested by: e2e.attached, e2e.attached_twice, e2e.cpprof_attach, e2e.cpprof_attach_shared
 */
#include "api/attached.h"

#include "api/all_kinds.h"
#include "api/moments.h"
#include "api/otel.h"
#include "attach/attach.h"
#include "attach/got.h"
#include "host/dispositions.h"
#include "host/sampling_handler.h"
#include "modules/late.h"
#include "output/output.h"
#include "sys/log.h"
#include "sys/sampling_signal.h"
#include "sys/sandbox.h"
#include "sys/tasks.h"
#include "web/control_option.h"
#include "web/http_door.h"
#include "web/push_option.h"

#include <errno.h>

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
    bool all = pp_got_all_are_filled() || pp_all_any(pp_kind_records);
    bool answered = pp_got_fill(all ? PP_GOT_ALL : PP_GOT_OF_GUEST, find_real_functions, &report);
    if (all && !answered) {
        pp_attach_remark("only CPU and thread profiles: a child of fork cannot ask the loader");
    } else if (all && report.refused > 0) {
        pp_attach_remark("some libraries are not hooked: the kernel (SELinux?) keeps their tables "
                         "read-only; start the program with the library instead");
    }
}

/* A program whose pthread_cancel is not hooked makes libc install its handler over ours. */
void pp_attached_look(void)
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

int pp_attached_begin(pp_text *why)
{
    pp_lock_take(&pp_all.asking, pp_task_self());
    if (pp_late_is()) {
        pp_output_init();
        pp_options_init(&pp_all.options);
    }
    pp_all.on_before = pp_all_on();
    pp_otel_attached_begin();
    pp_log_copy_to(why);
    int error = pp_control_option_begin();
    pp_log_copy_to(NULL);
    if (error == 0 && pp_late_is()) {
        have_hooks_called();
        error = check_filters(why);
    }
    pp_lock_release(&pp_all.asking);
    return error;
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

/* Its signals would end a program in which they have no handler. */
static bool still_samples(const pp_kind *kind)
{
    return kind->sampler != NULL && kind->holds_addresses != NULL && kind->holds_addresses();
}

/* In a program that was started with us, what it has asked for goes on. */
void pp_attached_end(void)
{
    if (!pp_late_is()) {
        pp_control_option_end();
        pp_lock_take(&pp_all.asking, pp_task_self());
        pp_all_stop(pp_all.on_before);
        pp_otel_attached_end();
        pp_lock_release(&pp_all.asking);
        return;
    }
    pp_moments_end(true);
    pp_push_option_end();
    pp_http_door_before_confinement();
    pp_lock_take(&pp_all.asking, pp_task_self());
    pp_control_option_forget();
    pp_all_stop(0);
    pp_otel_attached_end();
    pp_hook_give_defaults_back();
    bool had_all = pp_got_all_are_filled();
    pp_got_restore();
    if (had_all) {
        forget_calls();
    }
    pp_log_set_path(NULL);
    pp_lock_release(&pp_all.asking);
    if (pp_all_any(still_samples)) {
        pp_attach_remark("a CPU profile goes on: the handler of signal " PP_SAMPLING_SIGNAL_TEXT
                         " stays");
    } else if (!pp_sampling_handler_end()) {
        pp_attach_remark("a thread blocks signal " PP_SAMPLING_SIGNAL_TEXT
                         ", which is pending for it: the signal's handler stays");
    }
}
