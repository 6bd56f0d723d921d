/* SPDX-License-Identifier: MIT
 *
 * error_text.h: what an error number means, in English.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_SYS_ERROR_TEXT_H
#define PP_SYS_ERROR_TEXT_H

/* Returns a constant text. `error` may be a negative errno, too. Defined in one of two files:
 * error_text_glibc.c, or error_text_musl.c. */
const char *pp_error_text(int error);

#endif
