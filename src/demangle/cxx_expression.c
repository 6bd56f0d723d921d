/* SPDX-License-Identifier: MIT
 *
 * cxx_expression.c: skips expressions, but reads the types in them; names of operators.
 *
 * Zone: SIGNAL.
 * Tested by: unit.demangler, fuzz.demangler
 */
#include "demangle/cxx.h"

#include <string.h>

/* ---- operators ---- */

typedef struct operator_name {
    char code[3];
    char operands;
    char text[12]; /* the text after "operator" in a function's name; "" if there is none */
} operator_name;

static const operator_name operators[] = {
    {"aN", 2, "&="},      {"aS", 2, "="},         {"aa", 2, "&&"},        {"ad", 1, "&"},
    {"an", 2, "&"},       {"aw", 1, " co_await"}, {"az", 1, ""},          {"cm", 2, ","},
    {"co", 1, "~"},       {"dV", 2, "/="},        {"da", 1, " delete[]"}, {"de", 1, "*"},
    {"dl", 1, " delete"}, {"ds", 2, ".*"},        {"dv", 2, "/"},         {"eO", 2, "^="},
    {"eo", 2, "^"},       {"eq", 2, "=="},        {"ge", 2, ">="},        {"gt", 2, ">"},
    {"ix", 2, "[]"},      {"lS", 2, "<<="},       {"le", 2, "<="},        {"ls", 2, "<<"},
    {"lt", 2, "<"},       {"mI", 2, "-="},        {"mL", 2, "*="},        {"mi", 2, "-"},
    {"ml", 2, "*"},       {"mm", 1, "--"},        {"na", 0, " new[]"},    {"ne", 2, "!="},
    {"ng", 1, "-"},       {"nt", 1, "!"},         {"nw", 0, " new"},      {"nx", 1, ""},
    {"oR", 2, "|="},      {"oo", 2, "||"},        {"or", 2, "|"},         {"pL", 2, "+="},
    {"pl", 2, "+"},       {"pm", 2, "->*"},       {"pp", 1, "++"},        {"ps", 1, "+"},
    {"pt", 2, "->"},      {"qu", 3, "?"},         {"rM", 2, "%="},        {"rS", 2, ">>="},
    {"rm", 2, "%"},       {"rs", 2, ">>"},        {"ss", 2, "<=>"},       {"sz", 1, ""},
    {"te", 1, ""},        {"tr", 0, ""},          {"tw", 1, ""},          {"cl", 0, "()"},
    {"gs", 1, ""},        {"sZ", 1, ""},          {"sp", 1, ""},          {"dX", 3, ""},
    {"dx", 2, ""},
};

static const operator_name *find_operator(const char *code)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (strncmp(operators[i].code, code, 2) == 0) {
            return &operators[i];
        }
    }
    return NULL;
}

const char *pp_cxx_operator(const char *code)
{
    const operator_name *found = find_operator(code);
    return found != NULL && found->text[0] != '\0' ? found->text : NULL;
}

static void skip_operator(pp_cxx *c)
{
    const operator_name *found = find_operator(c->m.at);
    pp_cxx_part type = {0};
    if (pp_mangled_take(&c->m, "cv")) {
        pp_cxx_type(c, &type);
    } else if (found != NULL) {
        c->m.at += 2;
    } else {
        pp_mangled_fail(&c->m);
    }
}

/* ---- lists ---- */

static void skip_type(pp_cxx *c)
{
    pp_cxx_part type = {0};
    bool in_conversion = c->in_conversion;
    c->in_conversion = false;
    pp_cxx_type(c, &type);
    c->in_conversion = in_conversion;
}

static void skip_expressions_until(pp_cxx *c, const char *end)
{
    while (!c->m.failed && !pp_mangled_take(&c->m, end)) {
        pp_cxx_expression(c);
    }
}

static void skip_arguments_until_end(pp_cxx *c)
{
    pp_cxx_part argument = {0};
    while (!c->m.failed && !pp_mangled_take(&c->m, "E")) {
        pp_cxx_template_argument(c, &argument);
    }
}

static void skip_arguments_if_any(pp_cxx *c)
{
    if (pp_mangled_peek(&c->m) == 'I') {
        pp_cxx_template_arguments(c);
    }
}

static void skip_number(pp_mangled *m)
{
    pp_mangled_take(m, "n");
    pp_mangled_number(m);
}

static bool is_number(const pp_mangled *m)
{
    return pp_is_digit(pp_mangled_peek(m)) || pp_mangled_peek(m) == 'n';
}

/* ---- names that depend on a template parameter ---- */

static void skip_base_name(pp_cxx *c)
{
    pp_cxx_part name = {0};
    bool is_destructor = pp_mangled_take(&c->m, "dn");
    pp_mangled_take(&c->m, "on");
    if (pp_is_digit(pp_mangled_peek(&c->m))) {
        pp_cxx_source_name(c, &name);
    } else if (is_destructor) {
        skip_type(c);
    } else {
        skip_operator(c); /* GCC omits the "on" */
    }
    skip_arguments_if_any(c);
}

/* Skips names up to an "E" and one after it; GCC writes a type and the name in it, without
 * the "E". */
static void skip_qualified_name(pp_cxx *c)
{
    pp_cxx_part scope = {0};
    pp_cxx_part name = {0};
    bool is_template = false;
    for (unsigned i = 0; !c->m.failed && !pp_mangled_take(&c->m, "E"); i++) {
        if (i > 0 && !pp_is_digit(pp_mangled_peek(&c->m))) {
            if (is_template || i > 1) {
                pp_cxx_remember(c, &scope);
            }
            return;
        }
        scope = name;
        pp_cxx_source_name(c, &name);
        is_template = pp_mangled_peek(&c->m) == 'I';
        if (is_template) {
            pp_cxx_remember(c, &name);
        }
        skip_arguments_if_any(c);
    }
    skip_base_name(c);
}

/* Skips a name after its "sr". */
static void skip_scoped_name(pp_cxx *c)
{
    char next = pp_mangled_peek(&c->m);
    if (next == 'T' || next == 'D' || next == 'S') {
        skip_type(c);
        skip_base_name(c);
        return;
    }
    if (pp_mangled_take(&c->m, "N")) {
        skip_type(c);
    }
    skip_qualified_name(c);
}

static void skip_unresolved_name(pp_cxx *c)
{
    pp_mangled_take(&c->m, "gs");
    if (pp_mangled_take(&c->m, "sr")) {
        skip_scoped_name(c);
    } else {
        skip_base_name(c);
    }
}

/* ---- literals ---- */

void pp_cxx_literal(pp_cxx *c)
{
    pp_mangled_expect(&c->m, 'L');
    if (pp_mangled_take(&c->m, "_Z") || pp_mangled_take(&c->m, "Z")) {
        pp_cxx_part name = {0};
        pp_cxx_encoding(c, &name);
    } else {
        skip_type(c);
        while (pp_mangled_peek(&c->m) != 'E' && pp_mangled_next(&c->m) != '\0') {
        }
    }
    pp_mangled_expect(&c->m, 'E');
}

/* ---- expressions with a special form ---- */

/* Skips fp_, fpK0_, fpT (this), or fL1p0_ of an enclosing function. */
static void skip_parameter(pp_cxx *c)
{
    if (pp_mangled_take(&c->m, "T")) {
        return;
    }
    pp_cxx_qualifiers(c);
    pp_cxx_compact_number(c);
}

static void skip_new(pp_cxx *c)
{
    skip_expressions_until(c, "_");
    skip_type(c);
    if (pp_mangled_take(&c->m, "pi") || pp_mangled_take(&c->m, "il")) {
        skip_expressions_until(c, "E");
    } else {
        pp_mangled_expect(&c->m, 'E');
    }
}

static void skip_conversion(pp_cxx *c)
{
    skip_type(c);
    if (pp_mangled_take(&c->m, "_")) {
        skip_expressions_until(c, "E");
    } else {
        pp_cxx_expression(c);
    }
}

static void skip_member(pp_cxx *c)
{
    pp_cxx_expression(c);
    if (pp_mangled_peek(&c->m) == 'L') {
        pp_cxx_literal(c);
    } else {
        skip_unresolved_name(c);
    }
}

/* Skips a part of an object: its offset, the chosen members of unions, and the mark of an array's
 * end. */
static void skip_subobject(pp_cxx *c)
{
    skip_type(c);
    pp_cxx_expression(c);
    if (is_number(&c->m)) {
        skip_number(&c->m);
    }
    while (pp_mangled_take(&c->m, "_")) {
        if (is_number(&c->m)) {
            skip_number(&c->m);
        }
    }
    pp_mangled_take(&c->m, "p");
    pp_mangled_expect(&c->m, 'E');
}

static void skip_member_pointer(pp_cxx *c)
{
    skip_type(c);
    pp_cxx_expression(c);
    if (is_number(&c->m)) {
        skip_number(&c->m);
    }
    pp_mangled_expect(&c->m, 'E');
}

static void skip_requirement(pp_cxx *c)
{
    pp_cxx_part name = {0};
    pp_cxx_traits traits = {0};
    if (pp_mangled_take(&c->m, "T")) {
        skip_type(c);
    } else if (pp_mangled_take(&c->m, "Q")) {
        pp_cxx_expression(c);
    } else {
        pp_mangled_expect(&c->m, 'X');
        pp_cxx_expression(c);
        pp_mangled_take(&c->m, "N");
        if (pp_mangled_take(&c->m, "R")) {
            pp_cxx_name(c, &name, &traits);
        }
    }
}

static void skip_requirements(pp_cxx *c)
{
    while (!c->m.failed && !pp_mangled_take(&c->m, "E")) {
        skip_requirement(c);
    }
}

static void skip_requires_with_parameters(pp_cxx *c)
{
    while (!c->m.failed && !pp_mangled_take(&c->m, "_")) {
        skip_type(c);
    }
    skip_requirements(c);
}

static void skip_list(pp_cxx *c)
{
    skip_expressions_until(c, "E");
}

static void skip_typed_list(pp_cxx *c)
{
    skip_type(c);
    skip_list(c);
}

static void skip_cast(pp_cxx *c)
{
    skip_type(c);
    pp_cxx_expression(c);
}

static void skip_fold(pp_cxx *c)
{
    skip_operator(c);
    pp_cxx_expression(c);
}

static void skip_fold_of_two(pp_cxx *c)
{
    if (pp_is_digit(pp_mangled_peek(&c->m))) { /* a parameter of an enclosing function */
        pp_mangled_number(&c->m);
        pp_mangled_expect(&c->m, 'p');
        skip_parameter(c);
        return;
    }
    skip_fold(c);
    pp_cxx_expression(c);
}

static void skip_field(pp_cxx *c)
{
    pp_cxx_part name = {0};
    pp_cxx_source_name(c, &name);
    pp_cxx_expression(c);
}

static void skip_step(pp_cxx *c)
{
    pp_mangled_take(&c->m, "_"); /* prefix form */
    pp_cxx_expression(c);
}

static void skip_operator_function(pp_cxx *c)
{
    skip_operator(c);
    skip_arguments_if_any(c);
}

typedef void skip(pp_cxx *c);

static skip *find_form(const char *code)
{
    static const struct {
        char code[3];
        skip *form;
    } forms[] = {
        {"cl", skip_list},
        {"cp", skip_list},
        {"cv", skip_conversion},
        {"sc", skip_cast},
        {"dc", skip_cast},
        {"cc", skip_cast},
        {"rc", skip_cast},
        {"st", skip_type},
        {"at", skip_type},
        {"ti", skip_type},
        {"il", skip_list},
        {"tl", skip_typed_list},
        {"nw", skip_new},
        {"na", skip_new},
        {"dt", skip_member},
        {"pt", skip_member},
        {"pp", skip_step},
        {"mm", skip_step},
        {"fp", skip_parameter},
        {"fl", skip_fold},
        {"fr", skip_fold},
        {"fL", skip_fold_of_two},
        {"fR", skip_fold_of_two},
        {"di", skip_field},
        {"so", skip_subobject},
        {"mc", skip_member_pointer},
        {"sr", skip_scoped_name},
        {"sP", skip_arguments_until_end},
        {"on", skip_operator_function},
        {"rq", skip_requirements},
        {"rQ", skip_requires_with_parameters},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strncmp(forms[i].code, code, 2) == 0) {
            return forms[i].form;
        }
    }
    return NULL;
}

/* ---- any expression ---- */

static void skip_operands(pp_cxx *c)
{
    const operator_name *found = find_operator(c->m.at);
    if (found == NULL) {
        pp_mangled_fail(&c->m);
        return;
    }
    c->m.at += 2;
    for (int i = 0; i < found->operands; i++) {
        pp_cxx_expression(c);
    }
}

/* Skips a compiler's extension and its arguments. */
static void skip_vendor_expression(pp_cxx *c)
{
    pp_cxx_part name = {0};
    pp_cxx_source_name(c, &name);
    skip_arguments_until_end(c);
}

void pp_cxx_expression(pp_cxx *c)
{
    pp_cxx_part part = {0};
    pp_cxx_traits traits = {0};
    if (!pp_mangled_enter(&c->m)) {
        return;
    }
    char next = pp_mangled_peek(&c->m);
    skip *form = find_form(c->m.at);
    if (next == 'L') {
        pp_cxx_literal(c);
    } else if (next == 'T') {
        pp_cxx_template_parameter(c, &part);
    } else if (pp_is_digit(next)) {
        pp_cxx_unqualified_name(c, &part, &traits);
        skip_arguments_if_any(c);
    } else if (form != NULL) {
        c->m.at += 2;
        form(c);
    } else if (pp_mangled_take(&c->m, "u")) {
        skip_vendor_expression(c);
    } else {
        skip_operands(c);
    }
}
