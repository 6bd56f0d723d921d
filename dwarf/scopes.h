/* SPDX-License-Identifier: MIT
 *
 * scopes.h: the functions that addresses of one compilation unit are in, inlined ones included.
 *
 * The unit's tree is gone through once for all of its addresses that are asked for, and only where
 * it can have code: dwarf_getscopes() does that for one address at a time, which takes a hundred
 * times as long for a profile of a large C++ unit.
 *
 *   compile_unit
 *     namespace                           is gone into; classes only for what was not found otherwise
 *       subprogram   [lo, hi)...          is gone into if it holds an address
 *         lexical_block
 *           inlined_subroutine [lo, hi)   a scope, whose outer one is the subprogram
 *
 * Owns: its arrays.
 */
#ifndef PP_DWARF_SCOPES_H
#define PP_DWARF_SCOPES_H

#include <elfutils/libdw.h>
#include <stddef.h>

enum { PP_SCOPE_NONE = -1 };

typedef struct pp_scope {
    Dwarf_Die die;
    Dwarf_Addr entry; /* where its part begins that holds the address which it was found by first */
    int outer; /* the scope that it was inlined into; PP_SCOPE_NONE: it is a function of its own */
} pp_scope;

typedef struct pp_scopes {
    pp_scope *scope;
    size_t count, room;
} pp_scopes;

/*
 * innermost[i] becomes the index of the innermost scope of addresses[i], or PP_SCOPE_NONE;
 * addresses ascend. What was in `scopes` is forgotten. 0 or -ENOMEM.
 */
int pp_scopes_find(pp_scopes *scopes, Dwarf_Die *unit, const Dwarf_Addr *addresses, size_t count,
                   int *innermost);

void pp_scopes_release(pp_scopes *scopes);

#endif
