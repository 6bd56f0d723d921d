/* SPDX-License-Identifier: MIT
 *
 * toggle.c: the handler, and the thread that it wakes.
 *
 * Zone: NORMAL.
 * Owns: the thread; the action of that signal.
 * Tested by: e2e.options, e2e.dumps
 */
#include "host/toggle.h"

#include "base/shown_as.h"
#include "host/deadline.h"
#include "host/thread_life.h"
#include "sys/doorbell.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

static struct {
    pp_doorbell bell;
    void (*toggle)(void); /* NULL: pp_toggle_begin() has not succeeded yet */
} state;

static void on_signal(int signal)
{
    (void)signal;
    pp_doorbell_ring(&state.bell);
}

/* Once a second the thread checks whether it is the last one. */
static void *answer(void *unused)
{
    uint32_t answered = 0;
    pp_thread_leave();
    while (!pp_deadline_is_alone()) {
        if (pp_doorbell_wait(&state.bell, answered)) {
            answered++;
            state.toggle();
        }
    }
    return unused;
}

PP_NOT_SHOWN(on_signal);
PP_NOT_SHOWN(answer);

/* The thread blocks all signals, so that none of the program's signals is delivered to it. */
static int create_thread(void)
{
    pthread_t thread;
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, answer, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0) {
        pthread_setname_np(thread, "libpprof");
        pthread_detach(thread);
    }
    return -error;
}

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
    state.toggle = toggle;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (sigaction(signal, &action, NULL) != 0) {
        state.toggle = NULL;
        return -errno;
    }
    /* The bell counts the signals that come before the thread runs. */
    int error = create_thread();
    if (error != 0) {
        sigaction(signal, &present, NULL);
        state.toggle = NULL;
    }
    return error;
}
