/* SPDX-License-Identifier: MIT
 *
 * write_all.h: writes a whole block to a descriptor of any kind, and keeps SIGPIPE (a pipe without
 * reader) and SIGXFSZ (the limit of file sizes) from killing the host when the library writes.
 *
 * Zone: SIGNAL (clock_gettime, poll and write, which may wait for the reader). May change errno.
 */
#ifndef PP_SYS_WRITE_ALL_H
#define PP_SYS_WRITE_ALL_H

#include <stddef.h>
#include <stdint.h>

#define PP_WRITE_NO_DEADLINE UINT64_MAX

/* Writes `length` bytes. If a non-blocking pipe, socket or terminal is full, waits until
 * CLOCK_MONOTONIC shows `give_up_ns`. 0 or -errno; -ETIMEDOUT if the reader was too slow. */
int pp_write_all(int fd, const void *data, size_t length, uint64_t give_up_ns);

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
