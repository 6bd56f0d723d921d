/* SPDX-License-Identifier: MIT
 *
 * write_all.h: writes a whole block to a descriptor of any kind.
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

#endif
