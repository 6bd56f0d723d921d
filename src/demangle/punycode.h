/* SPDX-License-Identifier: MIT
 *
 * punycode.h: decodes the names of Rust's symbols with characters that are not ASCII (RFC 3492, but
 * "_" for "-"):
 *
 *   gdel_5qa   gödel
 *
 * Zone: SIGNAL.
 */
#ifndef PP_DEMANGLE_PUNYCODE_H
#define PP_DEMANGLE_PUNYCODE_H

#include "demangle/mangled.h"

/* Writes the name in UTF-8; fails if it is malformed, or longer than 128 characters. */
void pp_punycode_put(pp_mangled *m, const char *bytes, size_t size);

#endif
