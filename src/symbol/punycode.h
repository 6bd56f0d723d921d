/* SPDX-License-Identifier: MIT
 *
 * punycode.h: names with letters that are not ASCII, as Rust's symbols have them (RFC 3492, with
 * "_" for "-"):
 *
 *   gdel_5qa   gödel
 *
 * Zone: SIGNAL.
 */
#ifndef PP_SYMBOL_PUNYCODE_H
#define PP_SYMBOL_PUNYCODE_H

#include "symbol/mangled.h"

/* Writes the name in UTF-8; fails where it is none, or longer than 128 characters. */
void pp_punycode_put(pp_mangled *m, const char *bytes, size_t size);

#endif
