/* SPDX-License-Identifier: MIT
 *
 * fd_hooks_static.c: stands in for fd_hooks.c in a fully static program: nothing is
 * hooked, since fopen and its like have no other name in libc.a. The fd profile shows what is open,
 * and nobody who opened it.
 *
 * Zone: HOOK.
 */
#include "kinds/fd/fd_hooks.h"

void pp_fd_hooks_record(bool on)
{
    (void)on;
}

const pp_sampler pp_fd_sampler;
