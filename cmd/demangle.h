/* SPDX-License-Identifier: MIT
 *
 * demangle.h: C++ and Rust symbols as short readable names.
 *
 * "Short" is what pprof shows by default: no parameters, no template arguments, no return type, no
 * clone suffix: _ZNSt6vectorIiSaIiEE9push_backEOi becomes std::vector::push_back.
 */
#ifndef CP_DEMANGLE_H
#define CP_DEMANGLE_H

#include <stddef.h>

/* How much of a name is shown. All but SIMPLE begin with the symbol, whatever name a profile's
 * writer has given beside it. */
typedef enum cp_demangle_mode {
    CP_DEMANGLE_SIMPLE,    /* the short name: overloads and template instances are one */
    CP_DEMANGLE_TEMPLATES, /* with template arguments */
    CP_DEMANGLE_FULL,      /* with parameters and return types as well */
    CP_DEMANGLE_NONE       /* the symbol */
} cp_demangle_mode;

/* The mode of that name (simple or default, templates, full, none): 0, or -1 if there is none. */
int cp_demangle_mode_named(const char *name, cp_demangle_mode *mode);

/* The name of a symbol in that mode; the rest as cp_demangle(). */
char *cp_demangle_as(const char *name, cp_demangle_mode mode);

/* The short name of a symbol, or of a name that somebody demangled in full before; a plain name is
 * returned as it is. The result is to be freed. */
char *cp_demangle(const char *name);

#endif
