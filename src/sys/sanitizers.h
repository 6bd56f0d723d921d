/* SPDX-License-Identifier: MIT
 *
 * sanitizers.h: tells the sanitizers of the program about memory of the program that this library
 * writes, which is not built with them [runtime/mprof: racewriterangepc, msanwrite, asanwrite].
 *
 * What it changes for a program that is built with
 *
 *   AddressSanitizer   an array that is too short, or was freed, is reported here, at the call
 *   MemorySanitizer    what was filled in is initialised: without this, reading it is reported
 *   ThreadSanitizer    two threads that have one array filled in are a race
 *
 * Nothing without them: their functions are referred to weakly.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_SYS_SANITIZERS_H
#define PP_SYS_SANITIZERS_H

#include <stddef.h>

/* As if the program had written these bytes itself. Before they are, where the number is known. */
void pp_sanitizers_write(void *data, size_t size);

#endif
