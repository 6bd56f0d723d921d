/* SPDX-License-Identifier: MIT
 *
 * cxx_type.c: types.
 *
 * A type has a left and a right half, since C writes the declared name into the middle:
 *   i           int
 *   A3_i        int|[3]
 *   PA3_i       int (*|) [3]
 *   PFicE       int (*|)(char)
 *   RK PFicE    int (* const&|)(char)
 *
 * Zone: SIGNAL.
 * Tested by: unit.demangler
 */
#include "demangle/cxx.h"

#include <string.h>

/* ---- halves ---- */

pp_span pp_cxx_whole(pp_cxx *c, const pp_cxx_part *type)
{
    if (type->right.size == 0) {
        return type->left;
    }
    uint32_t begin = c->m.used;
    pp_mangled_put_span(&c->m, type->left);
    pp_mangled_put_span(&c->m, type->right);
    return pp_mangled_since(&c->m, begin);
}

static void set_text(pp_cxx *c, pp_cxx_part *type, const char *text)
{
    pp_span span = pp_cxx_text(c, text);
    *type = (pp_cxx_part){.left = span, .last = span};
}

/* Writes "(" before a pointer to a function or an array; the right half closes it. */
static void open_bracket(pp_cxx *c, pp_cxx_part *type)
{
    if (type->shape == PP_CXX_PLAIN) {
        return;
    }
    type->left = pp_cxx_join(c, "", type->left, type->shape == PP_CXX_ARRAY ? " (" : "(");
    type->right = pp_cxx_join(c, ")", type->right, "");
    type->shape = PP_CXX_PLAIN;
}

/* ---- qualifiers ---- */

/* Reads one qualifier and returns its text; NULL if there is none. */
static const char *read_qualifier(pp_cxx *c)
{
    static const struct {
        char code[3];
        char text[18];
    } known[] = {{"K", " const"},
                 {"V", " volatile"},
                 {"r", " restrict"},
                 {"Dx", " transaction_safe"},
                 {"Do", " noexcept"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (pp_mangled_take(&c->m, known[i].code)) {
            return known[i].text;
        }
    }
    if (pp_mangled_take(&c->m, "DO")) {
        pp_cxx_expression(c);
        pp_mangled_expect(&c->m, 'E');
        return " noexcept(...)";
    }
    if (pp_mangled_take(&c->m, "Dw")) {
        pp_cxx_parameters(c);
        pp_mangled_expect(&c->m, 'E');
        return " throw(...)";
    }
    return NULL;
}

/* The symbol has the last qualifier first. */
pp_span pp_cxx_qualifiers(pp_cxx *c)
{
    pp_span all = {c->m.used, 0};
    for (const char *text = read_qualifier(c); text != NULL; text = read_qualifier(c)) {
        all = pp_cxx_join(c, text, all, "");
    }
    return all;
}

void pp_cxx_put_reference_qualifier(pp_cxx *c)
{
    if (pp_mangled_take(&c->m, "R")) {
        pp_mangled_put_text(&c->m, " &");
    } else if (pp_mangled_take(&c->m, "O")) {
        pp_mangled_put_text(&c->m, " &&");
    }
}

/* Adds qualifiers to a type; for a function they are at its end. */
static void qualify(pp_cxx *c, pp_cxx_part *type, pp_span qualifiers)
{
    pp_span *half = type->shape == PP_CXX_FUNCTION ? &type->right : &type->left;
    uint32_t begin = c->m.used;
    pp_mangled_put_span(&c->m, *half);
    pp_mangled_put_span(&c->m, qualifiers);
    *half = pp_mangled_since(&c->m, begin);
}

/* ---- functions ---- */

static bool is_end_of_parameters(const pp_cxx *c)
{
    char next = pp_mangled_peek(&c->m);
    bool is_reference_qualifier =
        (next == 'R' || next == 'O') && pp_mangled_peek_next(&c->m) == 'E';
    return next == '\0' || next == 'E' || next == '.' || next == 'Q' || is_reference_qualifier;
}

pp_span pp_cxx_parameters(pp_cxx *c)
{
    pp_span list = {c->m.used, 0};
    if (is_end_of_parameters(c)) {
        pp_mangled_fail(&c->m);
    }
    if (pp_mangled_take(&c->m, "v")) {
        return list;
    }
    while (!is_end_of_parameters(c)) {
        pp_cxx_part type = {0};
        pp_cxx_type(c, &type);
        uint32_t begin = c->m.used;
        pp_mangled_put_span(&c->m, list);
        pp_mangled_put_text(&c->m, list.size > 0 ? ", " : "");
        pp_mangled_put_span(&c->m, type.left);
        pp_mangled_put_span(&c->m, type.right);
        list = pp_mangled_since(&c->m, begin);
    }
    return list;
}

static void read_function(pp_cxx *c, pp_cxx_part *type)
{
    pp_cxx_part result = {0};
    pp_mangled_take(&c->m, "Y"); /* extern "C" */
    pp_cxx_type(c, &result);
    pp_span parameters = pp_cxx_parameters(c);
    uint32_t begin = c->m.used;
    pp_mangled_put_text(&c->m, "(");
    pp_mangled_put_span(&c->m, parameters);
    pp_mangled_put_text(&c->m, ")");
    pp_cxx_put_reference_qualifier(c);
    pp_mangled_put_span(&c->m, result.right);
    type->right = pp_mangled_since(&c->m, begin);
    type->left = pp_cxx_join(c, "", result.left, result.right.size > 0 ? "" : " ");
    type->shape = PP_CXX_FUNCTION;
    pp_mangled_expect(&c->m, 'E');
}

/* ---- arrays and the like ---- */

/* Reads a length in digits, or an expression, whose text is "..."; then "_". */
static pp_span read_length(pp_cxx *c)
{
    uint32_t begin = c->m.used;
    if (pp_is_digit(pp_mangled_peek(&c->m))) {
        pp_mangled_put_number(&c->m, pp_mangled_number(&c->m));
    } else if (pp_mangled_peek(&c->m) != '_') {
        pp_cxx_expression(c);
        begin = c->m.used;
        pp_mangled_put_text(&c->m, "...");
    }
    pp_span length = pp_mangled_since(&c->m, begin);
    pp_mangled_expect(&c->m, '_');
    return length;
}

/* In an array of arrays the outer length comes first: int [2][3]. */
static void read_array(pp_cxx *c, pp_cxx_part *type)
{
    pp_span length = read_length(c);
    pp_cxx_type(c, type);
    pp_span inner = type->right;
    if (type->shape == PP_CXX_ARRAY) { /* without its blank */
        inner.at++;
        inner.size--;
    }
    uint32_t begin = c->m.used;
    pp_mangled_put_text(&c->m, " [");
    pp_mangled_put_span(&c->m, length);
    pp_mangled_put_text(&c->m, "]");
    pp_mangled_put_span(&c->m, inner);
    type->right = pp_mangled_since(&c->m, begin);
    type->shape = PP_CXX_ARRAY;
}

/* Reads int Class::* or int (Class::*)(char). */
static void read_pointer_to_member(pp_cxx *c, pp_cxx_part *type)
{
    pp_cxx_part of = {0};
    pp_cxx_type(c, &of);
    pp_cxx_type(c, type);
    pp_span class = pp_cxx_whole(c, &of);
    bool needs_blank = type->shape == PP_CXX_PLAIN;
    open_bracket(c, type);
    type->left = pp_cxx_join(c, "", type->left, needs_blank ? " " : "");
    uint32_t begin = c->m.used;
    pp_mangled_put_span(&c->m, type->left);
    pp_mangled_put_span(&c->m, class);
    pp_mangled_put_text(&c->m, "::*");
    type->left = pp_mangled_since(&c->m, begin);
}

static void read_vector(pp_cxx *c, pp_cxx_part *type)
{
    pp_mangled_take(&c->m, "_"); /* its length is an expression */
    pp_span length = read_length(c);
    pp_cxx_type(c, type);
    uint32_t begin = c->m.used;
    pp_mangled_put_span(&c->m, pp_cxx_whole(c, type));
    pp_mangled_put_text(&c->m, " __vector(");
    pp_mangled_put_span(&c->m, length);
    pp_mangled_put_text(&c->m, ")");
    *type = (pp_cxx_part){.left = pp_mangled_since(&c->m, begin)};
}

/* ---- simple types ---- */

static const char *basic_type(char code)
{
    static const char names[][19] = {"signed char",
                                     "bool",
                                     "char",
                                     "double",
                                     "long double",
                                     "float",
                                     "__float128",
                                     "unsigned char",
                                     "int",
                                     "unsigned int",
                                     "",
                                     "long",
                                     "unsigned long",
                                     "__int128",
                                     "unsigned __int128",
                                     "",
                                     "",
                                     "",
                                     "short",
                                     "unsigned short",
                                     "",
                                     "void",
                                     "wchar_t",
                                     "long long",
                                     "unsigned long long",
                                     "..."};
    return pp_is_lower(code) && names[code - 'a'][0] != '\0' ? names[code - 'a'] : NULL;
}

/* Reads a basic type with a code of two letters. */
static const char *long_basic_type(pp_cxx *c)
{
    static const struct {
        char code[3];
        char text[18];
    } known[] = {{"Da", "auto"},      {"Dc", "decltype(auto)"}, {"Dn", "decltype(nullptr)"},
                 {"Du", "char8_t"},   {"Ds", "char16_t"},       {"Di", "char32_t"},
                 {"Dh", "half"},      {"Df", "decimal32"},      {"Dd", "decimal64"},
                 {"De", "decimal128"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (pp_mangled_take(&c->m, known[i].code)) {
            return known[i].text;
        }
    }
    return NULL;
}

/* Reads DF16_, DF16b, DF32x, DB8_ or DU8_. */
static void read_sized(pp_cxx *c, pp_cxx_part *type, const char *before)
{
    uint32_t begin = c->m.used;
    bool is_float = before[1] == 'F';
    pp_mangled_put_text(&c->m, before);
    pp_mangled_put_number(&c->m, pp_mangled_number(&c->m));
    char after = pp_mangled_next(&c->m);
    if (is_float && (after == 'x' || after == 'b')) {
        pp_mangled_put(&c->m, &after, 1);
    } else if (after != '_') {
        pp_mangled_fail(&c->m);
    }
    pp_mangled_put_text(&c->m, is_float ? "" : ")");
    *type = (pp_cxx_part){.left = pp_mangled_since(&c->m, begin)};
}

/* Reads the decltype of an expression. The text omits the expression, which would be long. */
static void read_decltype(pp_cxx *c, pp_cxx_part *type)
{
    pp_cxx_expression(c);
    pp_mangled_expect(&c->m, 'E');
    set_text(c, type, "decltype(...)");
}

/* Reads (Types)... */
static void read_pack(pp_cxx *c, pp_cxx_part *type)
{
    pp_cxx_type(c, type);
    *type = (pp_cxx_part){.left = pp_cxx_join(c, "(", pp_cxx_whole(c, type), ")...")};
}

/* Reads a concept that "auto" must satisfy. */
static void read_constrained(pp_cxx *c, pp_cxx_part *type, const char *text)
{
    pp_cxx_traits traits = {0};
    pp_cxx_name(c, type, &traits);
    *type = (pp_cxx_part){.left = pp_cxx_join(c, "", type->left, text)};
}

/* Reads a compiler's extension; a type with an argument is made of another type. */
static void read_vendor_type(pp_cxx *c, pp_cxx_part *type)
{
    pp_cxx_source_name(c, type);
    if (!pp_mangled_take(&c->m, "I")) {
        return;
    }
    pp_cxx_part argument = {0};
    pp_span name = type->left;
    pp_cxx_type(c, &argument);
    pp_mangled_expect(&c->m, 'E');
    uint32_t begin = c->m.used;
    pp_mangled_put_span(&c->m, name);
    pp_mangled_put_text(&c->m, "(");
    pp_mangled_put_span(&c->m, pp_cxx_whole(c, &argument));
    pp_mangled_put_text(&c->m, ")");
    *type = (pp_cxx_part){.left = pp_mangled_since(&c->m, begin)};
}

static void read_vendor_qualifier(pp_cxx *c, pp_cxx_part *type)
{
    pp_cxx_part qualifier = {0};
    pp_cxx_source_name(c, &qualifier);
    if (pp_mangled_peek(&c->m) == 'I') {
        pp_cxx_template_arguments(c);
    }
    pp_cxx_type(c, type);
    qualify(c, type, pp_cxx_join(c, " ", qualifier.left, ""));
}

/* ---- any type ---- */

/*
 * In "operator T<A><B>" the first arguments belong to the type; in "operator T<A>" they belong to
 * the operator. Only the text after them distinguishes the two. False if they are the operator's;
 * then they are still unread.
 */
static bool read_conversion_arguments(pp_cxx *c)
{
    const char *at = c->m.at;
    uint32_t references = c->reference_count;
    pp_cxx_template_arguments(c);
    if (!c->m.failed && pp_mangled_peek(&c->m) == 'I') {
        return true;
    }
    c->m.at = at;
    c->m.failed = false;
    c->reference_count = references;
    return false;
}

/* The functions below return whether later parts may refer to the type. */

/* A template parameter that is itself a template has arguments. */
static bool read_parameter(pp_cxx *c, pp_cxx_part *type)
{
    pp_cxx_template_parameter(c, type);
    if (pp_mangled_peek(&c->m) != 'I') {
        return true;
    }
    if (c->in_conversion) {
        read_conversion_arguments(c);
        return true;
    }
    pp_cxx_remember(c, type);
    pp_cxx_template_arguments(c);
    return true;
}

static bool read_elaborated(pp_cxx *c, pp_cxx_part *type, const char *kind)
{
    pp_cxx_traits traits = {0};
    pp_cxx_name(c, type, &traits);
    type->left = pp_cxx_join(c, kind, type->left, "");
    return true;
}

static bool read_template_kind(pp_cxx *c, pp_cxx_part *type)
{
    if (pp_mangled_take(&c->m, "Ts")) {
        return read_elaborated(c, type, "struct ");
    }
    if (pp_mangled_take(&c->m, "Tu")) {
        return read_elaborated(c, type, "union ");
    }
    if (pp_mangled_take(&c->m, "Te")) {
        return read_elaborated(c, type, "enum ");
    }
    return read_parameter(c, type);
}

static bool is_parameter(const pp_cxx *c, const pp_cxx_part *type)
{
    return type->left.size == 2 && c->m.text[type->left.at] == PP_CXX_MARK;
}

static bool read_reference(pp_cxx *c, pp_cxx_part *type)
{
    char next = pp_mangled_peek_next(&c->m);
    if (pp_is_lower(next)) {
        pp_cxx_traits traits = {0};
        pp_cxx_name(c, type, &traits);
        return next == 't' || traits.is_template;
    }
    pp_cxx_reference(c, type);
    if (pp_mangled_peek(&c->m) != 'I') {
        return false;
    }
    if (c->in_conversion && is_parameter(c, type)) {
        return read_conversion_arguments(c);
    }
    pp_cxx_template_arguments(c);
    return true;
}

static bool read_pointer(pp_cxx *c, pp_cxx_part *type)
{
    static const char codes[] = "PROCG";
    static const char marks[][12] = {"*", "&", "&&", " _Complex", " _Imaginary"};
    const char *mark = marks[strchr(codes, pp_mangled_next(&c->m)) - codes];
    pp_cxx_type(c, type);
    open_bracket(c, type);
    type->left = pp_cxx_join(c, "", type->left, mark);
    return true;
}

static bool read_unnamed(pp_cxx *c, pp_cxx_part *type)
{
    if (pp_mangled_take(&c->m, "Ul")) {
        pp_cxx_lambda(c, type);
    } else if (pp_mangled_take(&c->m, "Ut")) {
        pp_cxx_unnamed(c, type);
    } else {
        c->m.at++;
        read_vendor_qualifier(c, type);
        return true;
    }
    return false;
}

static bool read_other(pp_cxx *c, pp_cxx_part *type)
{
    const char *basic = long_basic_type(c);
    if (basic != NULL) {
        set_text(c, type, basic);
        return false;
    }
    if (pp_mangled_take(&c->m, "DF")) {
        read_sized(c, type, "_Float");
    } else if (pp_mangled_take(&c->m, "DB")) {
        read_sized(c, type, "_BitInt(");
    } else if (pp_mangled_take(&c->m, "DU")) {
        read_sized(c, type, "unsigned _BitInt(");
    } else if (pp_mangled_take(&c->m, "Dk")) {
        read_constrained(c, type, " auto");
    } else if (pp_mangled_take(&c->m, "DK")) {
        read_constrained(c, type, " decltype(auto)");
    } else if (pp_mangled_take(&c->m, "Dt") || pp_mangled_take(&c->m, "DT")) {
        read_decltype(c, type);
        return true;
    } else if (pp_mangled_take(&c->m, "Dp")) {
        read_pack(c, type);
        return true;
    } else if (pp_mangled_take(&c->m, "Dv")) {
        read_vector(c, type);
        return true;
    } else {
        pp_mangled_fail(&c->m);
    }
    return false;
}

static bool read_declarator(pp_cxx *c, pp_cxx_part *type)
{
    bool in_conversion = c->in_conversion;
    if (pp_mangled_take(&c->m, "A")) {
        read_array(c, type);
    } else if (pp_mangled_take(&c->m, "M")) {
        read_pointer_to_member(c, type);
    } else {
        pp_mangled_expect(&c->m, 'F');
        c->in_conversion = false;
        read_function(c, type);
    }
    c->in_conversion = in_conversion;
    return true;
}

static bool read_named(pp_cxx *c, pp_cxx_part *type)
{
    pp_cxx_traits traits = {0};
    pp_cxx_name(c, type, &traits);
    return true;
}

static bool read_unqualified_type(pp_cxx *c, pp_cxx_part *type)
{
    char kind = pp_mangled_peek(&c->m);
    const char *basic = basic_type(kind);
    if (basic != NULL) {
        c->m.at++;
        set_text(c, type, basic);
        return false;
    }
    if (pp_mangled_take(&c->m, "u")) {
        read_vendor_type(c, type);
        return true;
    }
    if (pp_is_digit(kind) || kind == 'N' || kind == 'Z' || kind == 'W') {
        return read_named(c, type);
    }
    if (kind == 'T') {
        return read_template_kind(c, type);
    }
    if (kind == 'S') {
        return read_reference(c, type);
    }
    if (kind == 'U') {
        return read_unnamed(c, type);
    }
    if (kind == 'D') {
        return read_other(c, type);
    }
    if (kind != '\0' && strchr("PROCG", kind) != NULL) {
        return read_pointer(c, type);
    }
    return read_declarator(c, type);
}

void pp_cxx_type(pp_cxx *c, pp_cxx_part *type)
{
    if (!pp_mangled_enter(&c->m)) {
        return;
    }
    pp_span qualifiers = pp_cxx_qualifiers(c);
    bool is_candidate = read_unqualified_type(c, type);
    bool is_method =
        qualifiers.size > 0 && type->shape == PP_CXX_FUNCTION; /* they qualify "this" */
    if (is_candidate && !is_method) {
        pp_cxx_remember(c, type);
    }
    if (qualifiers.size > 0) {
        qualify(c, type, qualifiers);
        pp_cxx_remember(c, type);
    }
}
