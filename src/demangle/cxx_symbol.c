/* SPDX-License-Identifier: MIT
 *
 * cxx_symbol.c: whole symbols: functions, objects, and symbols that compilers generate.
 *
 * Zone: SIGNAL.
 * Tested by: unit.demangler
 */
#include "demangle/cxx.h"

#include <string.h>

/* ---- functions ---- */

/* Reads the types of a function's parameters, and returns their text. The names of most functions
 * omit it, but later parts may refer to the types. */
static pp_span read_signature(pp_cxx *c, const pp_cxx_traits *traits)
{
    if (pp_mangled_take(&c->m, "Ua9enable_if")) {
        pp_cxx_template_arguments(c);
    }
    if (pp_mangled_take(&c->m, "J") || (traits->is_template && !traits->is_special)) {
        pp_cxx_part result = {0};
        pp_cxx_type(c, &result);
    }
    pp_span parameters = pp_cxx_parameters(c);
    if (pp_mangled_take(&c->m, "Q")) {
        pp_cxx_expression(c);
    }
    return parameters;
}

/* ---- generated symbols ---- */

static void skip_offset(pp_mangled *m, char kind)
{
    pp_mangled_take(m, "n");
    pp_mangled_number(m);
    pp_mangled_expect(m, '_');
    if (kind == 'v') {
        pp_mangled_take(m, "n");
        pp_mangled_number(m);
        pp_mangled_expect(m, '_');
    } else if (kind != 'h') {
        pp_mangled_fail(m);
    }
}

/* Reads a function that compilers made of another one, whose overloads may have such functions, too:
 * the text has the parameters, unless a template's arguments are among them. */
static void read_variant(pp_cxx *c, const char *what, pp_cxx_part *name)
{
    pp_cxx_part function = {0};
    pp_cxx_traits traits = {0};
    pp_cxx_name(c, &function, &traits);
    pp_span parameters = read_signature(c, &traits);
    uint32_t begin = c->m.used;
    pp_mangled_put_text(&c->m, what);
    pp_mangled_put_span(&c->m, function.left);
    if (!traits.is_template) {
        pp_mangled_put_text(&c->m, "(");
        pp_mangled_put_span(&c->m, parameters);
        pp_mangled_put_text(&c->m, ")");
        pp_mangled_put_span(&c->m, traits.qualifiers);
    }
    *name = pp_cxx_part_of(pp_mangled_since(&c->m, begin));
}

/* Reads a thunk: a generated function that adjusts its arguments and calls the real one. */
static void read_thunk(pp_cxx *c, char kind, pp_cxx_part *name)
{
    if (kind == 'c') {
        skip_offset(&c->m, pp_mangled_next(&c->m));
        kind = pp_mangled_next(&c->m);
        skip_offset(&c->m, kind);
        kind = 'c';
    } else {
        skip_offset(&c->m, kind);
    }
    read_variant(c,
                 kind == 'h'   ? "non-virtual thunk to "
                 : kind == 'v' ? "virtual thunk to "
                               : "covariant return thunk to ",
                 name);
}

typedef enum special_kind { OF_NAME, OF_TYPE, OF_FUNCTION } special_kind;

static const struct special {
    char code[4];
    char text[27];
    special_kind kind;
} specials[] = {
    {"TW", "TLS wrapper function for ", OF_NAME},
    {"TH", "TLS init function for ", OF_NAME},
    {"GV", "guard variable for ", OF_NAME},
    {"GR", "reference temporary for ", OF_NAME},
    {"TV", "vtable for ", OF_TYPE},
    {"TT", "VTT for ", OF_TYPE},
    {"TI", "typeinfo for ", OF_TYPE},
    {"TS", "typeinfo name for ", OF_TYPE},
    {"GA", "hidden alias for ", OF_FUNCTION},
    {"GTn", "non-transaction clone for ", OF_FUNCTION},
    {"GTt", "transaction clone for ", OF_FUNCTION},
};

static void read_special(pp_cxx *c, const struct special *special, pp_cxx_part *name)
{
    pp_cxx_part of = {0};
    pp_cxx_traits traits = {0};
    if (special->kind == OF_FUNCTION) {
        read_variant(c, special->text, name);
        return;
    }
    if (special->kind == OF_NAME) {
        pp_cxx_name(c, &of, &traits);
    } else {
        pp_cxx_type(c, &of);
    }
    *name = pp_cxx_part_of(pp_cxx_join(c, special->text, pp_cxx_whole(c, &of), ""));
}

/* Reads a generated symbol. The list has tables, too, since a symbol's type need not be true. */
static void read_special_name(pp_cxx *c, pp_cxx_part *name)
{
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        if (pp_mangled_take(&c->m, specials[i].code)) {
            read_special(c, &specials[i], name);
            return;
        }
    }
    char kind = '\0';
    if (pp_mangled_take(&c->m, "T")) {
        kind = pp_mangled_next(&c->m);
    }
    if (kind == 'h' || kind == 'v' || kind == 'c') {
        read_thunk(c, kind, name);
    } else {
        pp_mangled_fail(&c->m);
    }
}

static bool is_special_name(const pp_cxx *c)
{
    return pp_mangled_peek(&c->m) == 'G' || pp_mangled_peek(&c->m) == 'T';
}

void pp_cxx_encoding(pp_cxx *c, pp_cxx_part *name)
{
    pp_cxx_traits traits = {0};
    if (!pp_mangled_enter(&c->m)) {
        return;
    }
    if (is_special_name(c)) {
        read_special_name(c, name);
        return;
    }
    pp_cxx_name(c, name, &traits);
    char next = pp_mangled_peek(&c->m);
    if (next == '\0' || next == 'E' || next == '.') {
        return;
    }
    read_signature(c, &traits);
    name->right = pp_cxx_join(c, "()", traits.qualifiers, "");
}

bool pp_cxx_read(pp_cxx *c, pp_span *name)
{
    pp_cxx_part found = {0};
    pp_cxx_traits traits = {0};
    c->reference_count = c->argument_count = c->declared_count = 0;
    memset(c->counts, 0, sizeof c->counts);
    c->in_conversion = false;
    c->m.at = c->m.start + 2;
    if (is_special_name(c)) {
        read_special_name(c, &found);
    } else {
        pp_cxx_name(c, &found, &traits); /* the text omits all that follows */
    }
    *name = found.left;
    return !c->m.failed && name->size > 0 &&
           memchr(c->m.text + name->at, PP_CXX_MARK, name->size) == NULL;
}
