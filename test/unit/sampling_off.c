/* SPDX-License-Identifier: MIT
 *
 * sampling_off.c: part of every unit test: its own allocations are not sampled unless it asks.
 *
 * A program that has the library in it samples its heap from the start, once in 512 KiB. The buffer
 * of stdout alone would then be in the tables that a test looks at in one run of 128. With an empty
 * LIBPPROF nothing is started; one that is set already stays, for a look at what a test does then.
 */
#include <stdlib.h>

enum { BEFORE_OTHERS = 101 }; /* the first that programs may use; the library's has no number */

__attribute__((constructor(BEFORE_OTHERS))) static void keep_sampling_off(void)
{
    setenv("LIBPPROF", "", 0);
}
