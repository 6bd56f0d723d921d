/* SPDX-License-Identifier: MIT
 *
 * hooks.c: initialises the hooks. The owner and the events of the process come last: a hook finds
 * its real function before an event can be called.
 *
 * Zone: NORMAL.
 * Tested by: e2e.hooks, e2e.children
 */
#include "host/hooks.h"

#include "host/dispositions.h"
#include "host/call_slots.h"
#include "host/sampling_handler.h"
#include "threads/thread_answers.h"
#include "threads/thread_launches.h"

void pp_hooks_init(const pp_process_events *wanted)
{
    pp_hook_threads_init();
    pp_hook_dispositions_init();
    pp_hook_exec_init();
    pp_hook_confinement_init();
    pp_hook_identity_init();
    pp_hook_alternate_stack_init();
    pp_hook_cancel_init();
    pp_answers_init(pp_sampling_handler_install);
    pp_hook_process_init(wanted);
}

void pp_hooks_after_fork(void)
{
    pp_hook_dispositions_after_fork();
    pp_call_slots_after_fork();
    pp_thread_launches_after_fork();
}
