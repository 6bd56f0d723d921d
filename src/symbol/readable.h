/* SPDX-License-Identifier: MIT
 *
 * readable.h: the names of functions as people read them, for texts.
 *
 *   _ZNSt6vectorIiSaIiEE9push_backEOi   std::vector::push_back
 *   _RNvNtCs1a_4core3mem4swap           core::mem::swap
 *   malloc                              malloc
 *
 * They are those that `go tool pprof` shows where nothing else is asked for: of C++ without
 * parameters, template arguments and return types, of Rust without generic arguments. The whole
 * declaration of a function of the standard library easily has a thousand characters.
 *
 * Zone: NORMAL, and the fatal-signal writer (no malloc, no locks; at most 13 KiB of stack, or 5).
 * Owns: nothing; the names live in the arena.
 */
#ifndef PP_SYMBOL_READABLE_H
#define PP_SYMBOL_READABLE_H

#include "base/arena.h"

struct pp_cxx;

typedef struct pp_readable {
    pp_arena *arena;
    struct pp_cxx *work; /* made when it is first needed */
    size_t stack;        /* bytes that a name may take */
} pp_readable;

/* For code that runs on a stack that the program chose for it. */
pp_readable pp_readable_begin(pp_arena *arena);

/* For hooks' code, which comes where the program did not expect any. */
pp_readable pp_readable_begin_small(pp_arena *arena);

/*
 * The name of the symbol `name` for a reader. A name that is not mangled, that nobody can read,
 * that nests too deep (mangled.h) or for which there is no memory is returned as it is; control
 * characters become "?".
 */
const char *pp_readable_name(pp_readable *readable, const char *name);

#endif
