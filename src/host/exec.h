/* SPDX-License-Identifier: MIT
 *
 * exec.h: the hooks of the exec functions.
 *
 * Zone: HOOK.
 */
#ifndef PP_HOST_EXEC_H
#define PP_HOST_EXEC_H

/* Called once when the library is loaded. */
void pp_hook_exec_init(void);

#endif
