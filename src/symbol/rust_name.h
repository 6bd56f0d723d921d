/* SPDX-License-Identifier: MIT
 *
 * rust_name.h: Rust's symbols as paths, of both of its schemes:
 *
 *   _ZN4core3fmt5write17h0123456789abcdefE        core::fmt::write (C++'s scheme, a hash as the last name)
 *   _RINvNtCs1a_4core3mem4swaphE                  core::mem::swap::<> (RFC 2603)
 *
 * Zone: SIGNAL.
 */
#ifndef PP_SYMBOL_RUST_NAME_H
#define PP_SYMBOL_RUST_NAME_H

#include "symbol/mangled.h"

/* Whether it is a name of the first scheme, which C++'s could be, too. */
bool pp_rust_is_first_scheme(const char *name);

/* Writes the path of such a name into m->text; m was begun with it. False if it turns out to be
 * none. */
bool pp_rust_first_scheme(pp_mangled *m);

/* The same for a name that begins with "_R". */
bool pp_rust_second_scheme(pp_mangled *m);

#endif
