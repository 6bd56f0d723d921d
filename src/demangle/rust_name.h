/* SPDX-License-Identifier: MIT
 *
 * rust_name.h: makes paths of Rust's symbols, of both schemes:
 *
 *   _ZN4core3fmt5write17h0123456789abcdefE    core::fmt::write (C++'s scheme, the last name a hash)
 *   _RINvNtCs1a_4core3mem4swaphE              core::mem::swap::<> (RFC 2603)
 *
 * Zone: SIGNAL.
 */
#ifndef PP_DEMANGLE_RUST_NAME_H
#define PP_DEMANGLE_RUST_NAME_H

#include "demangle/mangled.h"

/* Whether `name` follows the first scheme. C++'s symbols could look the same. */
bool pp_rust_is_first_scheme(const char *name);

/* Writes the path of a symbol into m->text; pp_mangled_begin() has begun `m` with the symbol. False
 * if the symbol is malformed. */
bool pp_rust_first_scheme(pp_mangled *m);

/* pp_rust_second_scheme() does the same for a symbol that begins with "_R". */
bool pp_rust_second_scheme(pp_mangled *m);

#endif
