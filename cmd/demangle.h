/* SPDX-License-Identifier: MIT
 *
 * demangle.h: C++ and Rust symbols as short readable names.
 *
 * "Short" is what pprof shows by default: no parameters, no template arguments, no return type, no
 * clone suffix: _ZNSt6vectorIiSaIiEE9push_backEOi becomes std::vector::push_back.
 */
#ifndef CPPROF_DEMANGLE_H
#define CPPROF_DEMANGLE_H

#include <stddef.h>

/* The short name of a symbol, or of a name that somebody demangled in full before; a plain name is
 * returned as it is. The result is to be freed. */
char *pp_demangle(const char *name);

#endif
