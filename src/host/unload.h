/* SPDX-License-Identifier: MIT
 *
 * unload.h: the hook of dlclose.
 *
 * Zone: HOOK.
 */
#ifndef PP_HOST_UNLOAD_H
#define PP_HOST_UNLOAD_H

/* Called once when the library is loaded. */
void pp_hook_unload_init(void);

/* From now on the hook calls `before` ahead of each dlclose of the program, and `after` when the
 * call is over. One pair only: a later one replaces it. */
void pp_hook_around_unload(void (*before)(void), void (*after)(void));

#endif
