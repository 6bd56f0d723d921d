/* SPDX-License-Identifier: MIT
 *
 * confinement.h: the hooks of prctl and syscall.
 *
 * Zone: HOOK.
 */
#ifndef PP_HOST_CONFINEMENT_H
#define PP_HOST_CONFINEMENT_H

/* Called once when the library is loaded. */
void pp_hook_confinement_init(void);

/* Calls libc's syscall(), and first ends the profiles if the program confines itself by this
 * call. The hook of syscall is in kinds/contention/futex.c and arch/. */
long pp_hook_syscall(long number, long a, long b, long c, long d, long e, long f);

#endif
