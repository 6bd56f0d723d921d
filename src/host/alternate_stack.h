/* SPDX-License-Identifier: MIT
 *
 * alternate_stack.h: the hook of sigaltstack.
 *
 * Zone: HOOK.
 */
#ifndef PP_HOST_ALTERNATE_STACK_H
#define PP_HOST_ALTERNATE_STACK_H

/* Called once when the library is loaded. */
void pp_hook_alternate_stack_init(void);

#endif
