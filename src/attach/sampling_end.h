/* SPDX-License-Identifier: MIT
 *
 * sampling_end.h: gives the sampling signal back to libc, at the end of an attachment.
 *
 * Otherwise the handler stays for ever, since a late signal must find it
 * (host/sampling_handler.h). This code waits until there is none.
 *
 * Zone: NORMAL.
 */
#ifndef PP_ATTACH_SAMPLING_END_H
#define PP_ATTACH_SAMPLING_END_H

#include <stdbool.h>

/* Restores the signal's action. The caller has ended everything that sends the signal. False if a
 * thread has not taken a signal that is pending for it: the handler stays then. */
bool pp_sampling_end(void);

#endif
