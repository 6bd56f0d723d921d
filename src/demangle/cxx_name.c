/* SPDX-License-Identifier: MIT
 *
 * cxx_name.c: names, from whole symbols down to operators.
 *
 * Zone: SIGNAL.
 * Tested by: unit.demangler, e2e.names
 */
#include "demangle/cxx.h"

#include <string.h>

/* Returns scope::name. */
static pp_cxx_part qualify(pp_cxx *c, pp_span scope, const pp_cxx_part *name)
{
    uint32_t begin = c->m.used;
    pp_mangled_put_span(&c->m, scope);
    pp_mangled_put_text(&c->m, "::");
    pp_mangled_put_span(&c->m, name->left);
    pp_cxx_part both = pp_cxx_part_of(pp_mangled_since(&c->m, begin));
    both.last = name->last;
    return both;
}

/* ---- references to earlier parts ---- */

void pp_cxx_remember(pp_cxx *c, const pp_cxx_part *part)
{
    if (c->m.failed) {
        return;
    }
    if (c->reference_count == PP_CXX_REFERENCES) {
        pp_mangled_fail(&c->m);
    } else {
        c->references[c->reference_count++] = *part;
    }
}

/* Reads a number: "_" is 0, "0_" 1, "Z_" 36, "10_" 37. */
static uint32_t read_sequence_number(pp_mangled *m)
{
    uint32_t number = 0;
    if (pp_mangled_take(m, "_")) {
        return 0;
    }
    while (!m->failed && !pp_mangled_take(m, "_")) {
        char digit = pp_mangled_next(m);
        if ((!pp_is_digit(digit) && !pp_is_upper(digit)) || number > PP_CXX_REFERENCES) {
            pp_mangled_fail(m);
        }
        number = number * 36 + (uint32_t)(pp_is_digit(digit) ? digit - '0' : digit - 'A' + 10);
    }
    return number + 1;
}

void pp_cxx_reference(pp_cxx *c, pp_cxx_part *part)
{
    pp_mangled_expect(&c->m, 'S');
    uint32_t number = read_sequence_number(&c->m);
    if (number < c->reference_count) {
        *part = c->references[number];
    } else {
        pp_mangled_fail(&c->m);
    }
}

/* Reads an abbreviation of the ABI. The class of a constructor or destructor needs its
 * full name. */
static void read_abbreviation(pp_cxx *c, pp_cxx_part *part)
{
    static const char known[][16] = {"aallocator", "bbasic_string", "sstring",
                                     "iistream",   "oostream",      "diostream"};
    pp_span standard = pp_cxx_text(c, "std");
    char code = pp_mangled_next(&c->m);
    char next = pp_mangled_peek(&c->m);
    *part = pp_cxx_part_of(standard);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i][0] != code) {
            continue;
        }
        bool needs_own = (next == 'C' || next == 'D') && code != 'a' && code != 'b';
        pp_span basic = pp_cxx_text(c, needs_own ? "basic_" : "");
        pp_cxx_part own = pp_cxx_part_of(pp_cxx_join(c, "", basic, known[i] + 1));
        *part = qualify(c, standard, &own);
        return;
    }
    if (code != 't') {
        pp_mangled_fail(&c->m);
    }
}

static bool is_abbreviation(const pp_cxx *c)
{
    return pp_mangled_peek(&c->m) == 'S' && pp_is_lower(pp_mangled_peek_next(&c->m));
}

/* ---- numbers ---- */

uint32_t pp_cxx_compact_number(pp_cxx *c)
{
    if (pp_mangled_take(&c->m, "_")) {
        return 0;
    }
    uint32_t number = pp_mangled_number(&c->m);
    pp_mangled_expect(&c->m, '_');
    return number + 1;
}

/* Skips "_3" or "__12_", which numbers entities of the same name. The text omits it. */
static void skip_discriminator(pp_cxx *c)
{
    if (!pp_mangled_take(&c->m, "_")) {
        return;
    }
    bool is_long = pp_mangled_take(&c->m, "_");
    pp_mangled_number(&c->m);
    if (is_long) {
        pp_mangled_take(&c->m, "_");
    }
}

/* ---- simple names ---- */

static bool is_anonymous_namespace(const char *name, uint32_t length)
{
    return length >= 10 && strncmp(name, "_GLOBAL_", 8) == 0 && strchr("._$", name[8]) != NULL &&
           name[9] == 'N';
}

void pp_cxx_source_name(pp_cxx *c, pp_cxx_part *name)
{
    uint32_t begin = c->m.used;
    uint32_t length = pp_mangled_number(&c->m);
    const char *bytes = pp_mangled_bytes(&c->m, length);
    if (bytes == NULL || length == 0) {
        pp_mangled_fail(&c->m);
        return;
    }
    if (is_anonymous_namespace(bytes, length)) {
        pp_mangled_put_text(&c->m, "(anonymous namespace)");
    } else {
        pp_mangled_put(&c->m, bytes, length);
    }
    *name = pp_cxx_part_of(pp_mangled_since(&c->m, begin));
}

static void read_conversion(pp_cxx *c, pp_cxx_part *name, pp_cxx_traits *traits)
{
    pp_cxx_part type = {0};
    bool outer = c->in_conversion;
    c->in_conversion = true;
    pp_cxx_type(c, &type);
    c->in_conversion = outer;
    *name = pp_cxx_part_of(pp_cxx_join(c, "operator ", pp_cxx_whole(c, &type), ""));
    traits->is_special = traits->is_conversion = true;
}

static void read_operator(pp_cxx *c, pp_cxx_part *name, pp_cxx_traits *traits)
{
    pp_cxx_part own = {0};
    const char *text = pp_cxx_operator(c->m.at);
    if (pp_mangled_take(&c->m, "cv")) {
        read_conversion(c, name, traits);
    } else if (pp_mangled_take(&c->m, "li")) {
        pp_cxx_source_name(c, &own);
        *name = pp_cxx_part_of(pp_cxx_join(c, "operator\"\" ", own.left, ""));
    } else if (pp_mangled_peek(&c->m) == 'v' && pp_is_digit(pp_mangled_peek_next(&c->m))) {
        c->m.at += 2;
        pp_cxx_source_name(c, &own);
        *name = pp_cxx_part_of(pp_cxx_join(c, "operator ", own.left, ""));
    } else if (text != NULL) {
        c->m.at += 2;
        *name = pp_cxx_part_of(pp_cxx_join(c, "operator", (pp_span){0, 0}, text));
    } else {
        pp_mangled_fail(&c->m);
    }
}

/* Reads auto [a, b]. */
static void read_bindings(pp_cxx *c, pp_cxx_part *name)
{
    pp_span list = pp_cxx_text(c, "[");
    for (bool is_first = true; !c->m.failed && !pp_mangled_take(&c->m, "E"); is_first = false) {
        pp_cxx_part one = {0};
        pp_cxx_source_name(c, &one);
        uint32_t begin = c->m.used;
        pp_mangled_put_span(&c->m, list);
        pp_mangled_put_text(&c->m, is_first ? "" : ", ");
        pp_mangled_put_span(&c->m, one.left);
        list = pp_mangled_since(&c->m, begin);
    }
    uint32_t begin = c->m.used;
    pp_mangled_put_span(&c->m, list);
    pp_mangled_put_text(&c->m, "]");
    *name = pp_cxx_part_of(pp_mangled_since(&c->m, begin));
}

/* Reads the names of modules, which later parts may refer to, too. Returns the last one. */
static pp_cxx_part read_modules(pp_cxx *c)
{
    pp_cxx_part module = {0};
    while (pp_mangled_take(&c->m, "W")) {
        const char *separator = pp_mangled_take(&c->m, "P") ? ":" : module.left.size > 0 ? "." : "";
        pp_cxx_part own = {0};
        pp_cxx_source_name(c, &own);
        uint32_t begin = c->m.used;
        pp_mangled_put_span(&c->m, module.left);
        pp_mangled_put_text(&c->m, separator);
        pp_mangled_put_span(&c->m, own.left);
        module = pp_cxx_part_of(pp_mangled_since(&c->m, begin));
        pp_cxx_remember(c, &module);
    }
    return module;
}

static void read_plain_name(pp_cxx *c, pp_cxx_part *name, pp_cxx_traits *traits)
{
    char next = pp_mangled_peek(&c->m);
    if (pp_is_digit(next)) {
        pp_cxx_source_name(c, name);
    } else if (pp_is_lower(next)) {
        read_operator(c, name, traits);
    } else if (pp_mangled_take(&c->m, "L")) {
        pp_cxx_source_name(c, name);
        skip_discriminator(c);
    } else if (pp_mangled_take(&c->m, "DC")) {
        read_bindings(c, name);
    } else if (pp_mangled_take(&c->m, "Ul")) {
        pp_cxx_lambda(c, name);
    } else if (pp_mangled_take(&c->m, "Ut")) {
        pp_cxx_unnamed(c, name);
    } else if (pp_mangled_take(&c->m, "Ub")) {
        pp_cxx_compact_number(c);
        *name = pp_cxx_part_of(pp_cxx_text(c, "'block-literal'"));
    } else {
        pp_mangled_fail(&c->m);
    }
}

/* Reads tags, as in string[abi:cxx11]. Constructors repeat the name without its tags. */
static void read_tags(pp_cxx *c, pp_cxx_part *name)
{
    while (pp_mangled_take(&c->m, "B")) {
        pp_cxx_part tag = {0};
        pp_cxx_source_name(c, &tag);
        uint32_t begin = c->m.used;
        pp_mangled_put_span(&c->m, name->left);
        pp_mangled_put_text(&c->m, "[abi:");
        pp_mangled_put_span(&c->m, tag.left);
        pp_mangled_put_text(&c->m, "]");
        name->left = pp_mangled_since(&c->m, begin);
    }
}

void pp_cxx_unqualified_name(pp_cxx *c, pp_cxx_part *name, pp_cxx_traits *traits)
{
    pp_cxx_part module = read_modules(c);
    bool is_friend = pp_mangled_take(&c->m, "F");
    read_plain_name(c, name, traits);
    if (module.left.size > 0) {
        uint32_t begin = c->m.used;
        pp_mangled_put_span(&c->m, name->left);
        pp_mangled_put_text(&c->m, "@");
        pp_mangled_put_span(&c->m, module.left);
        name->left = pp_mangled_since(&c->m, begin);
    }
    read_tags(c, name);
    if (is_friend) {
        name->left = pp_cxx_join(c, "friend ", name->left, "");
    }
}

/* ---- nested names ---- */

/* After its template arguments, the type of a conversion operator is known. */
static void read_arguments_of(pp_cxx *c, pp_cxx_part *name, pp_cxx_traits *traits)
{
    if (traits->is_conversion) {
        pp_cxx_stored_template_arguments(c);
        name->left = pp_cxx_with_arguments(c, name->left);
    } else {
        pp_cxx_template_arguments(c);
    }
    traits->is_template = true;
    traits->is_conversion = false;
}

/* Reads C1, CI2 with the type that it is inherited from, or D0. The digit names one of several
 * variants, which all have the class's name. */
static void read_constructor(pp_cxx *c, const pp_cxx_part *scope, pp_cxx_part *name)
{
    bool is_destructor = pp_mangled_next(&c->m) == 'D';
    bool is_inherited = !is_destructor && pp_mangled_take(&c->m, "I");
    if (!pp_is_digit(pp_mangled_next(&c->m)) || scope->last.size == 0) {
        pp_mangled_fail(&c->m);
    }
    if (is_inherited) {
        pp_cxx_part base = {0};
        pp_cxx_type(c, &base);
    }
    *name = pp_cxx_part_of(pp_cxx_join(c, is_destructor ? "~" : "", scope->last, ""));
    read_tags(c, name);
}

static void read_component(pp_cxx *c, const pp_cxx_part *scope, pp_cxx_part *name,
                           pp_cxx_traits *traits)
{
    char kind = pp_mangled_peek(&c->m);
    char next = pp_mangled_peek_next(&c->m);
    *traits = (pp_cxx_traits){0};
    if (is_abbreviation(c)) {
        c->m.at++;
        read_abbreviation(c, name);
    } else if (kind == 'S') {
        pp_cxx_reference(c, name);
    } else if (kind == 'T') {
        pp_cxx_template_parameter(c, name);
    } else if (kind == 'D' && (next == 't' || next == 'T')) {
        pp_cxx_type(c, name);
    } else if (kind == 'C' || (kind == 'D' && next != 'C')) {
        read_constructor(c, scope, name);
        traits->is_special = true;
    } else {
        pp_cxx_unqualified_name(c, name, traits);
    }
}

static void read_prefix(pp_cxx *c, pp_cxx_part *name, pp_cxx_traits *traits)
{
    bool is_first = true;
    while (!c->m.failed && pp_mangled_peek(&c->m) != 'E') {
        char kind = pp_mangled_peek(&c->m);
        if (kind == 'M') { /* a lambda that initializes a member, whose name comes before */
            c->m.at++;
            continue;
        }
        if (kind == 'I' && !is_first) {
            read_arguments_of(c, name, traits);
        } else {
            pp_cxx_part component = {0};
            read_component(c, name, &component, traits);
            *name = is_first ? component : qualify(c, pp_cxx_whole(c, name), &component);
        }
        is_first = false;
        if (kind != 'S' && pp_mangled_peek(&c->m) != 'E') {
            pp_cxx_remember(c, name);
        }
    }
}

static void read_nested_name(pp_cxx *c, pp_cxx_part *name, pp_cxx_traits *traits)
{
    pp_span qualifiers = {0, 0};
    if (!pp_mangled_take(&c->m, "H")) { /* the object is an explicit parameter */
        qualifiers = pp_cxx_qualifiers(c);
        uint32_t begin = c->m.used;
        pp_mangled_put_span(&c->m, qualifiers);
        pp_cxx_put_reference_qualifier(c);
        qualifiers = pp_mangled_since(&c->m, begin);
    }
    read_prefix(c, name, traits);
    traits->qualifiers = qualifiers;
    pp_mangled_expect(&c->m, 'E');
}

/* ---- names in functions ---- */

static void read_default_argument(pp_cxx *c, pp_cxx_part *name, pp_cxx_traits *traits)
{
    pp_cxx_part inner = {0};
    uint32_t number = pp_cxx_compact_number(c) + 1;
    pp_cxx_name(c, &inner, traits);
    uint32_t begin = c->m.used;
    pp_mangled_put_text(&c->m, "{default arg#");
    pp_mangled_put_number(&c->m, number);
    pp_mangled_put_text(&c->m, "}");
    *name = qualify(c, pp_mangled_since(&c->m, begin), &inner);
}

static void read_local_name(pp_cxx *c, pp_cxx_part *name, pp_cxx_traits *traits)
{
    pp_cxx_part function = {0};
    pp_cxx_part entity = {0};
    pp_cxx_encoding(c, &function);
    pp_mangled_expect(&c->m, 'E');
    if (pp_mangled_take(&c->m, "s")) {
        entity = pp_cxx_part_of(pp_cxx_text(c, "string literal"));
    } else if (pp_mangled_take(&c->m, "d")) {
        read_default_argument(c, &entity, traits);
    } else {
        pp_cxx_name(c, &entity, traits);
    }
    skip_discriminator(c);
    *name = qualify(c, pp_cxx_whole(c, &function), &entity);
}

/* ---- any name ---- */

static void read_unscoped_name(pp_cxx *c, pp_cxx_part *name, pp_cxx_traits *traits)
{
    bool is_remembered = false;
    if (pp_mangled_take(&c->m, "St")) {
        pp_span standard = pp_cxx_text(c, "std");
        pp_cxx_part own = {0};
        pp_cxx_unqualified_name(c, &own, traits);
        *name = qualify(c, standard, &own);
    } else if (is_abbreviation(c)) {
        c->m.at++;
        read_abbreviation(c, name);
        is_remembered = true;
    } else if (pp_mangled_peek(&c->m) == 'S') {
        pp_cxx_reference(c, name);
        is_remembered = true;
    } else {
        pp_cxx_unqualified_name(c, name, traits);
    }
    if (pp_mangled_peek(&c->m) != 'I') {
        return;
    }
    if (!is_remembered) {
        pp_cxx_remember(c, name);
    }
    read_arguments_of(c, name, traits);
}

void pp_cxx_name(pp_cxx *c, pp_cxx_part *name, pp_cxx_traits *traits)
{
    *traits = (pp_cxx_traits){0};
    if (!pp_mangled_enter(&c->m)) {
        return;
    }
    if (pp_mangled_take(&c->m, "N")) {
        read_nested_name(c, name, traits);
    } else if (pp_mangled_take(&c->m, "Z")) {
        read_local_name(c, name, traits);
    } else {
        read_unscoped_name(c, name, traits);
    }
}
