/* SPDX-License-Identifier: MIT
 *
 * write_signals.h: writing to a pipe that nobody reads (SIGPIPE), or beyond the file size limit
 * (SIGXFSZ), without the host dying of it.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_SYS_WRITE_SIGNALS_H
#define PP_SYS_WRITE_SIGNALS_H

#include <stdint.h>

/* Signal sets in the kernel's form. */
typedef struct pp_write_signals {
    uint64_t mask;    /* of the thread, before */
    uint64_t pending; /* there already: these are the host's */
} pp_write_signals;

/* Keeps both signals from the calling thread until release, which also takes back those that we
 * caused. They are sent to the thread that writes, so blocking them there is enough. */
void pp_write_signals_hold(pp_write_signals *held);
void pp_write_signals_release(const pp_write_signals *held);

#endif
