/* SPDX-License-Identifier: MIT
 *
 * write_signals.h: keeps SIGPIPE (a pipe without reader) and SIGXFSZ (the limit of file sizes) from
 * killing the host when the library writes.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_SYS_WRITE_SIGNALS_H
#define PP_SYS_WRITE_SIGNALS_H

#include <stdint.h>

/* Signal sets in the kernel's form. */
typedef struct pp_write_signals {
    uint64_t mask;    /* of the thread, before */
    uint64_t pending; /* the host's signals, which were pending before */
} pp_write_signals;

/*
 * Blocks both signals in the calling thread until release, which also discards those that our
 * writes caused. The kernel sends them to the thread that writes, so blocking them there is enough.
 */
void pp_write_signals_hold(pp_write_signals *held);
void pp_write_signals_release(const pp_write_signals *held);

#endif
