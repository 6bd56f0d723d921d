/* SPDX-License-Identifier: MIT
 *
 * duration.h: durations as Go writes and reads them: "1h2m3.5s", "12.345ms".
 */
#ifndef CP_DURATION_H
#define CP_DURATION_H

#include <stdbool.h>
#include <stdint.h>

#define CP_DURATION_BYTES 48
void cp_duration_text(int64_t nanos, char *text);

/* Reads numbers with the units ms, s, m or h, such as "500ms", "1m30s" or "1.5h". A single number
 * may lack its unit: it counts seconds. Stores the seconds; returns false if the text is not so. */
bool cp_duration_read(const char *text, double *seconds);

#endif
