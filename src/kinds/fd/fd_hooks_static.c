/* SPDX-License-Identifier: MIT
 *
 * descriptors_static.c: what stands in for descriptors.c in a fully static program: nothing is
 * hooked, since fopen and its like have no other name in libc.a. The fd profile shows what is open,
 * and nobody who opened it.
 *
 * Zone: HOOK.
 */
#include "kinds/fd/fd_hooks.h"

void pp_hook_descriptors_record(bool on)
{
    (void)on;
}

void pp_hook_descriptors_prepare_for_threads(void)
{
}
