/* SPDX-License-Identifier: MIT
 *
 * toggle.c: the handler, and the worker that it wakes.
 *
 * Zone: NORMAL.
 * Owns: the worker; the action of that signal.
 * Tested by: e2e.options, e2e.dumps
 */
#include "host/toggle.h"

#include "arch/shown_as.h"
#include "host/worker.h"
#include "sys/tasks.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

static struct {
    pp_worker worker; /* its work: NULL until pp_toggle_begin() has succeeded */
    int signal;
    struct sigaction before;
    int process; /* the one that has the thread: a child of fork has not */
} state;

static void on_signal(int signal)
{
    (void)signal;
    pp_worker_ring(&state.worker);
}

PP_NOT_SHOWN(on_signal);

int pp_toggle_begin(int signal, void (*toggle)(void))
{
    struct sigaction present;
    if (state.worker.work != NULL) {
        return -EBUSY;
    }
    if (sigaction(signal, NULL, &present) != 0) {
        return -errno;
    }
    if (present.sa_handler != SIG_DFL && present.sa_handler != SIG_IGN) {
        return -EBUSY;
    }
    state = (__typeof__(state)){.worker = {.work = toggle},
                                .signal = signal,
                                .before = present,
                                .process = pp_task_process()};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (sigaction(signal, &action, NULL) != 0) {
        state.worker.work = NULL;
        return -errno;
    }
    int error = pp_worker_begin_rung(&state.worker);
    if (error != 0) {
        sigaction(signal, &present, NULL);
        state.worker.work = NULL;
    }
    return error;
}

void pp_toggle_end(void)
{
    pp_worker_end(&state.worker);
}

void pp_toggle_undo(void)
{
    if (state.worker.work == NULL || state.process != pp_task_process()) {
        return;
    }
    sigaction(state.signal, &state.before, NULL);
    pp_toggle_end();
    state.worker.work = NULL;
}
