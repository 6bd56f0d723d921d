/* SPDX-License-Identifier: MIT
 *
 * toggle.c: the handler, and the thread that it wakes.
 *
 * Zone: NORMAL.
 * Owns: the thread; the action of that signal.
 * Tested by: e2e.options, e2e.dumps
 */
#include "host/toggle.h"

#include "arch/shown_as.h"
#include "host/deadline.h"
#include "host/pausable.h"
#include "sys/clock.h"
#include "sys/doorbell.h"
#include "sys/tasks.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static struct {
    pp_doorbell bell;
    uint32_t signals;  /* that have come */
    uint32_t answered; /* of these; the thread's */
    bool is_over;
    void (*toggle)(void); /* NULL: pp_toggle_begin() has not succeeded yet */
    int signal;
    struct sigaction before;
    int process; /* the one that has the thread: a child of fork has not */
} state;

static void on_signal(int signal)
{
    (void)signal;
    __atomic_add_fetch(&state.signals, 1, __ATOMIC_RELEASE);
    pp_doorbell_ring(&state.bell);
}

/* Once a second the thread checks whether it is the last one. */
static bool answer(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&state.is_over, __ATOMIC_ACQUIRE) && !pp_deadline_is_alone()) {
        uint32_t heard = pp_doorbell_heard(&state.bell);
        if (pp_pausables_pause()) {
            return false;
        }
        if (__atomic_load_n(&state.signals, __ATOMIC_ACQUIRE) != state.answered) {
            state.answered++;
            state.toggle();
        } else {
            pp_doorbell_wait(&state.bell, heard, pp_clock_ns(CLOCK_MONOTONIC) + PP_NS_PER_S);
        }
    }
    return true;
}

PP_NOT_SHOWN(on_signal);
PP_NOT_SHOWN(answer);

static void wake(void *unused)
{
    (void)unused;
    pp_doorbell_ring(&state.bell);
}

static const pp_pausable answerer = {
    .name = "libpprof", .run = answer, .wake = wake, .context = &state};

int pp_toggle_begin(int signal, void (*toggle)(void))
{
    struct sigaction present;
    if (state.toggle != NULL) {
        return -EBUSY;
    }
    if (sigaction(signal, NULL, &present) != 0) {
        return -errno;
    }
    if (present.sa_handler != SIG_DFL && present.sa_handler != SIG_IGN) {
        return -EBUSY;
    }
    state = (__typeof__(state)){
        .toggle = toggle, .signal = signal, .before = present, .process = pp_task_process()};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (sigaction(signal, &action, NULL) != 0) {
        state.toggle = NULL;
        return -errno;
    }
    /* The handler counts the signals that come before the thread runs. */
    int error = pp_pausable_begin(&answerer);
    if (error != 0) {
        sigaction(signal, &present, NULL);
        state.toggle = NULL;
    }
    return error;
}

void pp_toggle_end(void)
{
    __atomic_store_n(&state.is_over, true, __ATOMIC_RELEASE);
    pp_pausable_end(&state);
}

void pp_toggle_undo(void)
{
    if (state.toggle == NULL || state.process != pp_task_process()) {
        return;
    }
    sigaction(state.signal, &state.before, NULL);
    pp_toggle_end();
    state.toggle = NULL;
}
