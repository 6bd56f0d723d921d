/* SPDX-License-Identifier: MIT
 *
 * fd_hooks_static.c: replaces fd_hooks.c in a fully static program.
 *
 * There are no hooks in such a program, since fopen and others have no second name in libc.a. The
 * fd profile shows which descriptors are open, and not who opened them.
 *
 * Zone: HOOK.
 * Owns: whether the profile was asked for.
 * Tested by: e2e.static
 */
#include "kinds/fd/fd_hooks.h"

static bool records;

void pp_fd_hooks_record(bool on)
{
    records = on;
}

bool pp_fd_hooks_are_recording(void)
{
    return records;
}

void pp_fd_hooks_find_real(void)
{
}

const pp_sampler pp_fd_sampler;
