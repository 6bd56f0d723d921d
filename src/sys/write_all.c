/* SPDX-License-Identifier: MIT
 *
 * write_all.c: repeats write(2) until everything is written.
 *
 * Zone: SIGNAL.
 * Tested by: unit.writer, unit.output
 */
#include "sys/write_all.h"

#include "sys/clock.h"
#include "sys/file_calls.h"

#include <errno.h>
#include <limits.h>

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
