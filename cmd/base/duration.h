/* SPDX-License-Identifier: MIT
 *
 * duration.h: a duration as Go writes it: "1h2m3.5s", "12.345ms".
 */
#ifndef CP_DURATION_H
#define CP_DURATION_H

#include <stdint.h>

#define CP_DURATION_BYTES 48
void cp_duration_text(int64_t nanos, char *text);

#endif
