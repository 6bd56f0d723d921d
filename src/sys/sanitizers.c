/* SPDX-License-Identifier: MIT
 *
 * sanitizers.c: calls the functions of the sanitizers that the program has.
 *
 * Zone: SIGNAL.
 * Tested by: e2e.sanitizers
 */
#include "sys/sanitizers.h"

#include <stddef.h>

/* The names are those of the run-time libraries of gcc and clang.
 * NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): not ours to choose */
__attribute__((weak)) extern void __asan_storeN(void *address, ptrdiff_t size);
__attribute__((weak)) extern void __msan_unpoison(const volatile void *address, size_t size);
__attribute__((weak)) extern void __tsan_write_range(void *address, ptrdiff_t size);
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

void pp_sanitizers_write(void *data, size_t size)
{
    if (size == 0) {
        return;
    }
    if (__asan_storeN != NULL) {
        __asan_storeN(data, (ptrdiff_t)size);
    }
    if (__msan_unpoison != NULL) {
        __msan_unpoison(data, size);
    }
    if (__tsan_write_range != NULL) {
        __tsan_write_range(data, (ptrdiff_t)size);
    }
}
