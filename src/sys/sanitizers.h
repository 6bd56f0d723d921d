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

/* Whether the library itself is built with AddressSanitizer, as gcc and clang say so. */
#ifdef __SANITIZE_ADDRESS__
#define PP_IS_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PP_IS_SANITIZED
#endif
#endif

/* Acts as if the program itself had written these bytes. Called before the write, if the size is
 * known. */
void pp_sanitizers_write(void *data, size_t size);

/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): not ours to choose */
__attribute__((weak)) extern void __lsan_do_leak_check(void);

/* Whether LeakSanitizer looks for pointers to blocks when the program ends. It reads the variables
 * of all libraries: a pointer that this library remembers hides a leak of the program. */
static inline bool pp_sanitizers_look_for_leaks(void)
{
#ifdef PP_IS_SANITIZED /* the tests of what the library remembers are built so */
    return false;
#else
    return __lsan_do_leak_check != NULL;
#endif
}

#endif
