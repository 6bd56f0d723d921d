/* SPDX-License-Identifier: MIT
 *
 * scopes.h: the functions of the addresses of one compilation unit, also inlined ones.
 *
 * The search walks the unit's tree once for all addresses, and only the parts that may have code.
 * dwarf_getscopes() walks it for each address, which takes a hundred times as long for a profile of
 * a large C++ unit.
 *
 *   compile_unit
 *     namespace                           is searched; classes only for what is not found elsewhere
 *       subprogram   [lo, hi)...          is searched if it has an address
 *         lexical_block
 *           inlined_subroutine [lo, hi)   a scope, whose outer one is the subprogram
 *
 * Owns: the array of scopes, until release.
 */
#ifndef PP_DWARF_SCOPES_H
#define PP_DWARF_SCOPES_H

#include <elfutils/libdw.h>
#include <stddef.h>

enum { PP_SCOPE_NONE = -1 };

typedef struct pp_scope {
    Dwarf_Die die;
    Dwarf_Addr entry; /* the start of the range with the first address that was found in it */
    int outer; /* the scope that this one was inlined into; PP_SCOPE_NONE: it was not inlined */
} pp_scope;

typedef struct pp_scopes {
    pp_scope *scope;
    size_t count, room;
} pp_scopes;

/* Replaces the contents of `scopes`. innermost[i] becomes the index of the innermost scope of
 * addresses[i], or PP_SCOPE_NONE. The addresses ascend. Returns 0 or -ENOMEM. */
int pp_scopes_find(pp_scopes *scopes, Dwarf_Die *unit, const Dwarf_Addr *addresses, size_t count,
                   int *innermost);

void pp_scopes_release(pp_scopes *scopes);

#endif
