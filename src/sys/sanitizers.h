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

#include <stdbool.h>
#include <stddef.h>

/* Acts as if the program itself had written these bytes. Called before the write, if the size is
 * known. */
void pp_sanitizers_write(void *data, size_t size);

/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): not ours to choose */
__attribute__((weak)) extern void __lsan_do_leak_check(void);

/* Whether LeakSanitizer looks for pointers to blocks when the program ends. It reads the variables
 * of all libraries: a pointer that this library remembers hides a leak of the program. */
static inline bool pp_sanitizers_look_for_leaks(void)
{
#ifdef __SANITIZE_ADDRESS__ /* the library itself is built so, for its own tests of what it remembers */
    return false;
#else
    return __lsan_do_leak_check != NULL;
#endif
}

#endif
