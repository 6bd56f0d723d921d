/* SPDX-License-Identifier: MIT
 *
 * demangle.h: C++ and Rust symbols as short readable names.
 *
 * A short name is the one that pprof shows by default. It has no parameters, no template arguments,
 * no return type and no clone suffix: _ZNSt6vectorIiSaIiEE9push_backEOi becomes
 * std::vector::push_back.
 */
#ifndef CP_DEMANGLE_H
#define CP_DEMANGLE_H

#include <stddef.h>

/* How much of a name is shown. All modes after CP_DEMANGLE_GO_1_19 read the symbol, even if the profile has a
 * readable name for the function. */
typedef enum cp_demangle_mode {
    CP_DEMANGLE_SIMPLE,    /* the short name: overloads and template instances are one */
    CP_DEMANGLE_GO_1_19,   /* the same, but Rust's generic arguments are written out */
    CP_DEMANGLE_TEMPLATES, /* with template arguments */
    CP_DEMANGLE_FULL,      /* with parameters and return types as well */
    CP_DEMANGLE_NONE       /* the symbol */
} cp_demangle_mode;

/* The names of the modes; "default" is another one of "simple". */
#define CP_DEMANGLE_WORDS "simple templates full none default"

/* Finds a mode by its name. Returns 0, or -1 if there is none of that name. */
int cp_demangle_mode_named(const char *name, cp_demangle_mode *mode);

/* Makes the names of `count` symbols in that mode. A symbol may also be a name that was demangled in
 * full before. Any other name is copied. The names are to be freed. */
void cp_demangle(const char *const *symbols, size_t count, cp_demangle_mode mode, char **names);

#endif
