/* SPDX-License-Identifier: MIT
 *
 * clock.h: the time that passes.
 */
#ifndef CP_CLOCK_H
#define CP_CLOCK_H

#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC. */
int64_t cp_now_ns(void);

void cp_sleep_ms(long ms);

#endif
