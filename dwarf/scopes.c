/* SPDX-License-Identifier: MIT
 *
 * scopes.c: a depth-first search, in which each scope takes addresses over from its outer scope.
 *
 * Owns: nothing.
 */
#include "dwarf/scopes.h"

#include "dwarf/array.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* In a damaged file a tree may be as deep as the file has bytes. */
enum { DEPTH_MAX = 256 };

typedef struct visit {
    pp_scopes *scopes;
    const Dwarf_Addr *addresses;
    size_t count;
    int *innermost;
    bool thorough; /* search also types, and functions without an address */
    int error;
} visit;

typedef enum kind { NOTHING, HOLDER, TYPE, FUNCTION, INLINED, BLOCK } kind;

static kind kind_of(Dwarf_Die *die)
{
    switch (dwarf_tag(die)) {
    case DW_TAG_namespace:
    case DW_TAG_module:
        return HOLDER;
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_interface_type:
        return TYPE;
    case DW_TAG_subprogram:
    case DW_TAG_entry_point:
        return FUNCTION;
    case DW_TAG_inlined_subroutine:
        return INLINED;
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
        return BLOCK;
    default:
        return NOTHING;
    }
}

static size_t first_not_below(const visit *v, Dwarf_Addr address)
{
    size_t lo = 0;
    size_t hi = v->count;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (v->addresses[middle] < address) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    return lo;
}

static int add_scope(visit *v, const pp_scope *wanted)
{
    pp_scopes *scopes = v->scopes;
    pp_scope *scope = pp_array_more(scopes->scope, &scopes->room, scopes->count, sizeof *scope);
    if (scope == NULL) {
        v->error = -ENOMEM;
        return PP_SCOPE_NONE;
    }
    scopes->scope = scope;
    scope[scopes->count] = *wanted;
    return (int)scopes->count++;
}

/* Whether a new scope takes an address over. An inlined function takes it from the scope into which
 * it was inlined. Another function takes an address that no scope has, or that the function around
 * it has: a nested function is no part of the outer one (Pascal, GNU C). */
static bool is_taken(const visit *v, size_t address, int outer, bool inlined)
{
    int owner = v->innermost[address];
    return inlined ? owner == outer && outer != PP_SCOPE_NONE
                   : owner == outer || owner == PP_SCOPE_NONE;
}

/* Returns the index of the new scope, or PP_SCOPE_NONE if it takes no address. */
static int enter(visit *v, Dwarf_Die *die, int outer, bool inlined)
{
    Dwarf_Addr base = 0;
    Dwarf_Addr lo = 0;
    Dwarf_Addr hi = 0;
    int index = PP_SCOPE_NONE;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0;) {
        for (size_t i = first_not_below(v, lo); i < v->count && v->addresses[i] < hi; i++) {
            if (!is_taken(v, i, outer, inlined)) {
                continue;
            }
            if (index == PP_SCOPE_NONE) {
                const pp_scope scope = {*die, lo, inlined ? outer : PP_SCOPE_NONE};
                index = add_scope(v, &scope);
            }
            v->innermost[i] = index;
        }
    }
    return index;
}

static void visit_children(visit *v, Dwarf_Die *parent, int outer, int depth);

static void visit_one(visit *v, Dwarf_Die *die, int outer, int depth)
{
    kind what = kind_of(die);
    int inner = outer;
    if (what == NOTHING || (what == TYPE && !v->thorough)) {
        return;
    }
    if (what == FUNCTION || what == INLINED) {
        int index = enter(v, die, outer, what == INLINED);
        if (index == PP_SCOPE_NONE && !v->thorough) {
            return;
        }
        inner = index != PP_SCOPE_NONE ? index : outer;
    }
    visit_children(v, die, inner, depth + 1);
}

static void visit_children(visit *v, Dwarf_Die *parent, int outer, int depth)
{
    Dwarf_Die die;
    if (depth == DEPTH_MAX || dwarf_child(parent, &die) != 0) {
        return;
    }
    do {
        visit_one(v, &die, outer, depth);
    } while (v->error == 0 && dwarf_siblingof(&die, &die) == 0);
}

static bool is_one_left(const int *innermost, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (innermost[i] == PP_SCOPE_NONE) {
            return true;
        }
    }
    return false;
}

int pp_scopes_find(pp_scopes *scopes, Dwarf_Die *unit, const Dwarf_Addr *addresses, size_t count,
                   int *innermost)
{
    visit v = {.scopes = scopes, .addresses = addresses, .count = count, .innermost = innermost};
    scopes->count = 0;
    for (size_t i = 0; i < count; i++) {
        innermost[i] = PP_SCOPE_NONE;
    }
    visit_children(&v, unit, PP_SCOPE_NONE, 0);
    if (v.error == 0 && is_one_left(innermost, count)) {
        v.thorough = true;
        visit_children(&v, unit, PP_SCOPE_NONE, 0);
    }
    return v.error;
}

void pp_scopes_release(pp_scopes *scopes)
{
    free(scopes->scope);
    *scopes = (pp_scopes){0};
}
