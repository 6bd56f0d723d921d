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

/* How much of a name is shown. All but SIMPLE begin with the symbol, whatever name a profile's
 * writer has given beside it. */
enum pp_demangle_mode {
    PP_DEMANGLE_SIMPLE,    /* the short name: overloads and template instances are one */
    PP_DEMANGLE_TEMPLATES, /* with template arguments */
    PP_DEMANGLE_FULL,      /* with parameters and return types as well */
    PP_DEMANGLE_NONE       /* the symbol */
};

/* The mode of that name (simple or default, templates, full, none): 0, or -1 if there is none. */
int pp_demangle_mode(const char *name, enum pp_demangle_mode *mode);

/* The name of a symbol in that mode; the rest as pp_demangle(). */
char *pp_demangle_as(const char *name, enum pp_demangle_mode mode);

/* The short name of a symbol, or of a name that somebody demangled in full before; a plain name is
 * returned as it is. The result is to be freed. */
char *pp_demangle(const char *name);

#endif
