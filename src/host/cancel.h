/* SPDX-License-Identifier: MIT
 *
 * cancel.h: the hook of pthread_cancel.
 *
 * Zone: HOOK.
 */
#ifndef PP_HOST_CANCEL_H
#define PP_HOST_CANCEL_H

/* Called once when the library is loaded. */
void pp_hook_cancel_init(void);

#endif
