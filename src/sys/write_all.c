/* SPDX-License-Identifier: MIT
 *
 * write_all.c: repeats write(2) until everything is written; holds SIGPIPE and SIGXFSZ back.
 *
 * Zone: SIGNAL.
 * Tested by: unit.writer, unit.output, e2e.output
 */
#include "sys/write_all.h"

#include "arch/system_call.h"
#include "sys/clock.h"
#include "sys/file_calls.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <time.h>

static const uint64_t ns_per_ms = 1000000;

/* Waits until the file takes more, or a signal arrives; -ETIMEDOUT once CLOCK_MONOTONIC passes
 * `give_up_ns`. */
static int wait_until_writable(int fd, uint64_t give_up_ns)
{
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    if (now_ns >= give_up_ns) {
        return -ETIMEDOUT;
    }
    uint64_t left_ms = (give_up_ns - now_ns) / ns_per_ms + 1;
    struct pollfd wanted = {.fd = fd, .events = POLLOUT};
    int result = pp_file_poll(&wanted, left_ms < INT_MAX ? (int)left_ms : INT_MAX);
    return result < 0 && result != -EINTR ? result : 0;
}

int pp_write_all(int fd, const void *data, size_t length, uint64_t give_up_ns)
{
    const char *at = data;
    while (length > 0) {
        long written = pp_file_write(fd, at, length);
        int error = 0;
        if (written > 0) {
            at += written;
            length -= (size_t)written;
        } else if (written == 0) {
            error = -EIO;
        } else if (written == -EAGAIN) {
            error = wait_until_writable(fd, give_up_ns);
        } else if (written != -EINTR) {
            error = (int)written;
        }
        if (error != 0) {
            return error;
        }
    }
    return 0;
}

/* ---- the signals of writing ---- */

#define BIT(signal) (UINT64_C(1) << ((signal)-1))

static const uint64_t both = BIT(SIGPIPE) | BIT(SIGXFSZ);

static uint64_t pending_now(void)
{
    uint64_t pending = 0;
    pp_system_call(SYS_rt_sigpending, &pending, sizeof pending);
    return pending & both;
}

void pp_write_signals_hold(pp_write_signals *held)
{
    held->pending = pending_now();
    held->mask = 0;
    pp_system_call(SYS_rt_sigprocmask, SIG_BLOCK, &both, &held->mask, sizeof both);
}

void pp_write_signals_release(const pp_write_signals *held)
{
    const struct timespec at_once = {0};
    uint64_t ours = pending_now() & ~held->pending;
    while (ours != 0) {
        if (pp_system_call(SYS_rt_sigtimedwait, &ours, NULL, &at_once, sizeof ours) < 0) {
            break;
        }
        ours = pending_now() & ~held->pending;
    }
    pp_system_call(SYS_rt_sigprocmask, SIG_SETMASK, &held->mask, NULL, sizeof held->mask);
}
