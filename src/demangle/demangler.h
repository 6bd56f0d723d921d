/* SPDX-License-Identifier: MIT
 *
 * demangler.h: demangles the symbols of C++ and Rust.
 *
 *   _ZNSt6vectorIiSaIiEE9push_backEOi   std::vector::push_back
 *   _RNvNtCs1a_4core3mem4swap           core::mem::swap
 *   malloc                              malloc
 *
 * `go tool pprof` shows the same names by default: for C++ without parameters, template arguments
 * and return types, for Rust without generic arguments. The whole declaration of a function of the
 * standard library easily has a thousand characters.
 *
 * Zone: NORMAL, and the fatal-signal writer (no malloc, no locks; at most 13 KiB of stack, or 5).
 * Owns: nothing; the names live in the arena.
 */
#ifndef PP_DEMANGLE_DEMANGLER_H
#define PP_DEMANGLE_DEMANGLER_H

#include "base/arena.h"

struct pp_cxx;

typedef struct pp_demangler {
    pp_arena *arena;
    struct pp_cxx *work; /* allocated at its first use */
    size_t stack;        /* bytes that demangling may use */
} pp_demangler;

/* For code on a stack that the program chose for this code. */
pp_demangler pp_demangler_begin(pp_arena *arena);

/* For hooks, which run where the program expects no other code. */
pp_demangler pp_demangler_begin_small(pp_arena *arena);

/* Returns the demangled name of a symbol. Returns `name` itself if it is not mangled, cannot be
 * read, nests too deep (mangled.h), or if memory is lacking; control characters become "?". */
const char *pp_demangle(pp_demangler *demangler, const char *name);

#endif
