/* SPDX-License-Identifier: MIT
 *
 * memory_use.h: what the kernel says of the process's memory.
 *
 * Zone: NORMAL, and the fatal-signal writer (open, read and close only).
 */
#ifndef PP_SYS_MEMORY_USE_H
#define PP_SYS_MEMORY_USE_H

#include <stdint.h>

/* The most that was resident at once, in bytes. */
uint64_t pp_memory_peak_rss_bytes(void);

/* Mapped for the main thread's stack, in bytes; 0 if /proc cannot be read. */
uint64_t pp_memory_stack_bytes(void);

#endif
