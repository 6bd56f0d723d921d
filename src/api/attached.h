/* SPDX-License-Identifier: MIT
 *
 * attached.h: what an attachment (attach/attach.h) does with the kinds and the control socket.
 *
 * Zone: NORMAL.
 * Locks: that of all_kinds.h.
 */
#ifndef PP_API_ATTACHED_H
#define PP_API_ATTACHED_H

#include "base/text.h"

/* pp_attach_work.begin, .look and .end */
int pp_attached_begin(pp_text *why);
void pp_attached_look(void);
void pp_attached_end(void);

#endif
