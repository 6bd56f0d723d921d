/* SPDX-License-Identifier: MIT
 *
 * frames_never_returns.c: a loop for ever, without call-frame information, but with a frame pointer.
 *
 * Flags: -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-omit-frame-pointer
 */
#include "burn.h"

#include <stdlib.h>

static void works(void)
{
    double used = burn_ms(200);
    report("main", used);
    exit(0);
}

__attribute__((noinline, noreturn)) void loops_for_ever(void)
{
    for (;;)
        works();
}

int main(void)
{
    loops_for_ever();
}
