/* SPDX-License-Identifier: MIT
 *
 * endings_musl.c: see the header. The addresses of these functions are the linker's; none is called.
 *
 * Zone: SIGNAL.
 * Tested by: e2e.crash, e2e.musl
 */
#include "modules/endings.h"

#include <stddef.h>
#include <stdlib.h>

enum { LONGEST = 256 /* abort() of musl 1.2 has 162 bytes */ };

/* What assert() calls. */
_Noreturn void __assert_fail(const char *, const char *, int, const char *);

static void (*const endings[])(void) = {abort, (void (*)(void))exit, (void (*)(void))quick_exit,
                                        (void (*)(void))__assert_fail};

uintptr_t pp_ending_before(uintptr_t pc)
{
    uintptr_t last = 0;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        uintptr_t begin = (uintptr_t)endings[i];
        if (begin > last && pc > begin && pc - begin <= LONGEST) {
            last = begin;
        }
    }
    return last;
}
