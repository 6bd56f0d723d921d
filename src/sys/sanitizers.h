/* SPDX-License-Identifier: MIT
 *
 * sanitizers.h: reports the library's writes to the program's memory to the program's sanitizers.
 *
 * The library is not built with sanitizers, so they do not see these writes [runtime/mprof:
 * racewriterangepc, msanwrite, asanwrite]. The effect on a program that is built with
 *
 *   AddressSanitizer   a too short or freed array is reported here, at the call
 *   MemorySanitizer    the written bytes count as initialised: reading them is no error
 *   ThreadSanitizer    two threads that let the library write to one array are a race
 *
 * Other programs notice nothing: the references to the sanitizers are weak.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_SYS_SANITIZERS_H
#define PP_SYS_SANITIZERS_H

#include <stddef.h>

/* Acts as if the program itself had written these bytes. Called before the write, if the size is
 * known. */
void pp_sanitizers_write(void *data, size_t size);

#endif
