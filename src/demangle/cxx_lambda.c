/* SPDX-License-Identifier: MIT
 *
 * cxx_lambda.c: lambdas and other unnamed types.
 *
 * Zone: SIGNAL.
 * Tested by: unit.demangler
 */
#include "demangle/cxx.h"

#include <string.h>

/* ---- declarations of template parameters ---- */

/* The first of each kind is $T, the others are $T0, $T1 and so on. */
static pp_span make_name(pp_cxx *c, const char *kind, uint32_t *count)
{
    uint32_t begin = c->m.used;
    pp_mangled_put_text(&c->m, kind);
    if (*count > 0) {
        pp_mangled_put_number(&c->m, *count - 1);
    }
    ++*count;
    return pp_mangled_since(&c->m, begin);
}

static pp_span declare(pp_cxx *c, pp_span type, const char *between, pp_span name)
{
    uint32_t begin = c->m.used;
    pp_mangled_put_span(&c->m, type);
    pp_mangled_put_text(&c->m, between);
    pp_mangled_put_span(&c->m, name);
    return pp_mangled_since(&c->m, begin);
}

static pp_cxx_declared declare_type(pp_cxx *c)
{
    pp_cxx_declared d = {.name = make_name(c, "$T", &c->counts[0])};
    d.text = declare(c, (pp_span){0, 0}, "typename ", d.name);
    return d;
}

static pp_cxx_declared declare_constrained(pp_cxx *c)
{
    pp_cxx_part concept = {0};
    pp_cxx_traits traits = {0};
    pp_cxx_name(c, &concept, &traits);
    pp_cxx_declared d = {.name = make_name(c, "$T", &c->counts[0])};
    d.text = declare(c, concept.left, " ", d.name);
    return d;
}

static pp_cxx_declared declare_value(pp_cxx *c)
{
    pp_cxx_part type = {0};
    pp_cxx_declared d = {.name = make_name(c, "$N", &c->counts[1])};
    pp_cxx_type(c, &type);
    d.text = declare(c, pp_cxx_whole(c, &type), " ", d.name);
    return d;
}

/* The text omits the template's own parameters. */
static pp_cxx_declared declare_template(pp_cxx *c)
{
    pp_cxx_declared d = {.name = make_name(c, "$TT", &c->counts[2])};
    pp_cxx_declared inner;
    while (!c->m.failed && !pp_mangled_take(&c->m, "E")) {
        if (pp_mangled_take(&c->m, "Q")) {
            pp_cxx_expression(c);
        } else if (!pp_cxx_declaration(c, &inner)) {
            pp_mangled_fail(&c->m);
        }
    }
    d.text = declare(c, (pp_span){0, 0}, "template<> typename ", d.name);
    return d;
}

static pp_cxx_declared declare_pack(pp_cxx *c)
{
    pp_cxx_declared d = {{0, 0}, {0, 0}};
    if (!pp_cxx_declaration(c, &d)) {
        pp_mangled_fail(&c->m);
        return d;
    }
    pp_span type = {d.text.at, d.text.size - d.name.size};
    d.text = declare(c, type, "...", d.name);
    return d;
}

bool pp_cxx_declaration(pp_cxx *c, pp_cxx_declared *declared)
{
    if (!pp_mangled_enter(&c->m)) {
        return false;
    }
    if (pp_mangled_take(&c->m, "Ty")) {
        *declared = declare_type(c);
    } else if (pp_mangled_take(&c->m, "Tk")) {
        *declared = declare_constrained(c);
    } else if (pp_mangled_take(&c->m, "Tn")) {
        *declared = declare_value(c);
    } else if (pp_mangled_take(&c->m, "Tt")) {
        *declared = declare_template(c);
    } else if (pp_mangled_take(&c->m, "Tp")) {
        *declared = declare_pack(c);
    } else {
        return false;
    }
    return true;
}

/* ---- unnamed types ---- */

/* Reads "<typename $T, int $N>", or nothing. */
static pp_span read_declarations(pp_cxx *c)
{
    pp_span list = {c->m.used, 0};
    pp_cxx_declared declared = {{0, 0}, {0, 0}};
    c->declared_count = 0;
    while (pp_cxx_declaration(c, &declared)) {
        if (c->declared_count == PP_CXX_DECLARED) {
            pp_mangled_fail(&c->m);
        } else {
            c->declared[c->declared_count++] = declared.name;
        }
        list = declare(c, list, list.size > 0 ? ", " : "<", declared.text);
    }
    if (pp_mangled_take(&c->m, "Q")) {
        pp_cxx_expression(c);
    }
    return list.size > 0 ? declare(c, list, ">", (pp_span){0, 0}) : list;
}

static void end_with_number(pp_cxx *c, uint32_t begin, uint32_t number, pp_cxx_part *name)
{
    pp_mangled_put_number(&c->m, number + 1);
    pp_mangled_put_text(&c->m, "}");
    pp_span text = pp_mangled_since(&c->m, begin);
    *name = (pp_cxx_part){.left = text, .last = text};
}

void pp_cxx_lambda(pp_cxx *c, pp_cxx_part *name)
{
    if (!pp_mangled_enter(&c->m)) {
        return;
    }
    uint32_t outer = c->declared_count;
    pp_span declarations = read_declarations(c);
    pp_span parameters = pp_cxx_with_declared(c, pp_cxx_parameters(c));
    if (pp_mangled_take(&c->m, "Q")) {
        pp_cxx_expression(c);
    }
    pp_mangled_expect(&c->m, 'E');
    uint32_t number = pp_cxx_compact_number(c);
    uint32_t begin = c->m.used;
    pp_mangled_put_text(&c->m, "{lambda");
    pp_mangled_put_span(&c->m, declarations);
    pp_mangled_put_text(&c->m, "(");
    pp_mangled_put_span(&c->m, parameters);
    pp_mangled_put_text(&c->m, ")#");
    end_with_number(c, begin, number, name);
    c->declared_count = outer;
}

void pp_cxx_unnamed(pp_cxx *c, pp_cxx_part *name)
{
    uint32_t number = pp_cxx_compact_number(c);
    uint32_t begin = c->m.used;
    pp_mangled_put_text(&c->m, "{unnamed type#");
    end_with_number(c, begin, number, name);
    pp_cxx_remember(c, name);
}
