/* SPDX-License-Identifier: MIT
 *
 * rust_second.c: Rust's second scheme.
 *
 * https://rust-lang.github.io/rfcs/2603-rust-symbol-name-mangling-v0.html. A back reference repeats
 * an earlier part, so a short symbol could mean an endless text: the bounds of mangled.h limit it.
 * The parser reads generic arguments, and writes only "<>".
 *
 * Zone: SIGNAL.
 * Tested by: unit.demangler
 */
#include "demangle/rust_name.h"

#include "demangle/punycode.h"

#include <string.h>

/* ---- numbers and names ---- */

typedef struct rust {
    pp_mangled *m;
    uint64_t lifetimes; /* bound at this point */
} rust;

typedef struct identifier {
    const char *bytes;
    uint32_t size;
    bool punycode;
    uint64_t disambiguator;
} identifier;

static int base_62_value(char c)
{
    return pp_is_digit(c)   ? c - '0'
           : pp_is_lower(c) ? c - 'a' + 10
           : pp_is_upper(c) ? c - 'A' + 36
                            : -1;
}

/* Reads a number: "_" is 0, "0_" 1 and so on. */
static uint64_t read_base_62(pp_mangled *m)
{
    uint64_t number = 0;
    if (pp_mangled_take(m, "_")) {
        return 0;
    }
    while (!pp_mangled_take(m, "_")) {
        int value = base_62_value(pp_mangled_next(m));
        if (value < 0 || __builtin_mul_overflow(number, 62, &number) ||
            __builtin_add_overflow(number, (uint64_t)value, &number)) {
            pp_mangled_fail(m);
            return 0;
        }
    }
    return number + 1;
}

static uint64_t read_disambiguator(pp_mangled *m)
{
    return pp_mangled_take(m, "s") ? read_base_62(m) + 1 : 0;
}

/* Only the length 0 begins with a 0: "00" is two empty names. */
static identifier read_plain_identifier(pp_mangled *m)
{
    identifier found = {.punycode = pp_mangled_take(m, "u")};
    found.size = pp_mangled_take(m, "0") ? 0 : pp_mangled_number(m);
    pp_mangled_take(m, "_");
    found.bytes = pp_mangled_bytes(m, found.size);
    for (uint32_t i = 0; found.bytes != NULL && i < found.size; i++) {
        if (base_62_value(found.bytes[i]) < 0 && found.bytes[i] != '_') {
            pp_mangled_fail(m);
        }
    }
    return found;
}

static identifier read_identifier(pp_mangled *m)
{
    uint64_t disambiguator = read_disambiguator(m);
    identifier found = read_plain_identifier(m);
    found.disambiguator = disambiguator;
    return found;
}

static void put_identifier(pp_mangled *m, const identifier *name)
{
    if (m->failed) {
        return;
    }
    if (name->punycode) {
        pp_punycode_put(m, name->bytes, name->size);
    } else {
        pp_mangled_put(m, name->bytes, name->size);
    }
}

/* ---- back references ---- */

typedef void part(rust *r);

/* Reads an earlier part again. Does nothing while the parser is silent. */
static void follow(rust *r, part *again)
{
    pp_mangled *m = r->m;
    size_t here = (size_t)(m->at - m->start) - 1;
    uint64_t offset = read_base_62(m);
    const char *after = m->at;
    if (m->silent || m->failed) {
        return;
    }
    if (offset + 2 >= here) { /* the offset counts from after "_R" */
        pp_mangled_fail(m);
        return;
    }
    m->at = m->start + 2 + offset;
    again(r);
    if (!m->failed) {
        m->at = after;
    }
}

/* ---- lifetimes ---- */

/* Index 0 is an unnamed lifetime; 1 is the lifetime that was bound last. */
static void put_lifetime(rust *r, uint64_t index)
{
    uint64_t depth = r->lifetimes - index;
    pp_mangled_put_text(r->m, "'");
    if (index == 0) {
        pp_mangled_put_text(r->m, "_");
    } else if (index > r->lifetimes) {
        pp_mangled_fail(r->m);
    } else if (depth < 26) {
        pp_mangled_put(r->m, (const char[]){(char)('a' + depth)}, 1);
    } else {
        pp_mangled_put_text(r->m, "z");
        pp_mangled_put_number(r->m, depth - 26 + 1);
    }
}

static void read_binder(rust *r)
{
    if (!pp_mangled_take(r->m, "G")) {
        return;
    }
    uint64_t count = read_base_62(r->m) + 1;
    if (count > strlen(r->m->at)) { /* each lifetime is used */
        pp_mangled_fail(r->m);
    }
    pp_mangled_put_text(r->m, "for<");
    for (uint64_t i = 0; i < count && !r->m->failed; i++) {
        pp_mangled_put_text(r->m, i > 0 ? ", " : "");
        r->lifetimes++;
        put_lifetime(r, 1);
    }
    pp_mangled_put_text(r->m, "> ");
}

/* ---- constants: lengths of arrays ---- */

static void put_boolean(pp_mangled *m, uint64_t value, size_t digits)
{
    if (digits != 1 || value > 1) {
        pp_mangled_fail(m);
    }
    pp_mangled_put_text(m, value != 0 ? "true" : "false");
}

static void put_character_constant(pp_mangled *m, uint64_t value, size_t digits)
{
    if (digits > 6 || value < ' ' || value > '~') {
        pp_mangled_fail(m); /* no program writes such a length */
    }
    pp_mangled_put(m, (const char[]){'\'', (char)value, '\''}, 3);
}

static void put_constant(pp_mangled *m, char type, const char *digits, size_t count)
{
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++) {
        value = value << 4 | (uint64_t)pp_hex_value(digits[i]);
    }
    if (type == 'b') {
        put_boolean(m, value, count);
    } else if (type == 'c') {
        put_character_constant(m, value, count);
    } else if (count > 16) {
        pp_mangled_put_text(m, "0x");
        pp_mangled_put(m, digits, count);
    } else {
        pp_mangled_put_number(m, value);
    }
}

static void read_constant(rust *r)
{
    static const char types[] = "aslxnihtmyojbc";
    pp_mangled *m = r->m;
    if (!pp_mangled_enter(m)) {
        return;
    }
    if (pp_mangled_take(m, "B")) {
        follow(r, read_constant);
        return;
    }
    if (pp_mangled_take(m, "p")) {
        pp_mangled_put_text(m, "_");
        return;
    }
    char type = pp_mangled_next(m);
    if (type == '\0' || strchr(types, type) == NULL) {
        pp_mangled_fail(m);
    }
    if (pp_mangled_take(m, "n")) {
        pp_mangled_put_text(m, "-");
    }
    const char *digits = m->at;
    while (pp_hex_value(pp_mangled_peek(m)) >= 0) {
        m->at++;
    }
    size_t count = (size_t)(m->at - digits);
    pp_mangled_expect(m, '_');
    if (count == 0) {
        pp_mangled_fail(m);
    }
    if (!m->failed) {
        put_constant(m, type, digits, count);
    }
}

/* ---- paths and types ---- */

static void read_path(rust *r);
static void read_value_path(rust *r);
static void read_type(rust *r);

/* Reads generic arguments up to the "E", silently: they may be long, and add little to the name. */
static void read_generic_arguments(rust *r)
{
    pp_mangled *m = r->m;
    bool silent = m->silent;
    m->silent = true;
    while (!m->failed && !pp_mangled_take(m, "E")) {
        if (pp_mangled_take(m, "L")) {
            put_lifetime(r, read_base_62(m));
        } else if (pp_mangled_take(m, "K")) {
            read_constant(r);
        } else {
            read_type(r);
        }
    }
    m->silent = silent;
}

/* Writes a closure, shim or other item without a name. */
static void put_nameless(pp_mangled *m, char space, const identifier *name)
{
    const char *what = space == 'C' ? "closure" : space == 'S' ? "shim" : "";
    pp_mangled_put_text(m, "::{");
    pp_mangled_put_text(m, what);
    if (*what == '\0') {
        pp_mangled_put(m, &space, 1);
    }
    if (name->size > 0) {
        pp_mangled_put_text(m, ":");
        put_identifier(m, name);
    }
    pp_mangled_put_text(m, "#");
    pp_mangled_put_number(m, name->disambiguator);
    pp_mangled_put_text(m, "}");
}

static void read_nested(rust *r, part *parent)
{
    pp_mangled *m = r->m;
    char space = pp_mangled_next(m);
    if (!pp_is_lower(space) && !pp_is_upper(space)) {
        pp_mangled_fail(m);
    }
    parent(r);
    identifier name = read_identifier(m);
    if (pp_is_upper(space)) {
        put_nameless(m, space, &name);
        return;
    }
    pp_mangled_put_text(m, "::");
    put_identifier(m, &name);
}

/* Skips the place of an impl, which the text omits. */
static void skip_impl_path(rust *r)
{
    bool silent = r->m->silent;
    r->m->silent = true;
    read_disambiguator(r->m);
    read_path(r);
    r->m->silent = silent;
}

/* Reads <T> or <T as Trait>. */
static void read_impl(rust *r, char kind)
{
    if (kind != 'Y') {
        skip_impl_path(r);
    }
    pp_mangled_put_text(r->m, "<");
    read_type(r);
    if (kind != 'M') {
        pp_mangled_put_text(r->m, " as ");
        read_path(r);
    }
    pp_mangled_put_text(r->m, ">");
}

/* `again` is the function that calls this one. Generics of values follow "::", those of types do
 * not. */
static void read_any_path(rust *r, part *again, const char *before_generics)
{
    pp_mangled *m = r->m;
    if (!pp_mangled_enter(m)) {
        return;
    }
    char kind = pp_mangled_next(m);
    if (kind == 'C') {
        identifier crate = read_identifier(m);
        put_identifier(m, &crate);
    } else if (kind == 'M' || kind == 'X' || kind == 'Y') {
        read_impl(r, kind);
    } else if (kind == 'N') {
        read_nested(r, again);
    } else if (kind == 'I') {
        again(r);
        pp_mangled_put_text(m, before_generics);
        read_generic_arguments(r);
        pp_mangled_put_text(m, ">");
    } else if (kind == 'B') {
        follow(r, again);
    } else {
        pp_mangled_fail(m);
    }
}

static void read_path(rust *r)
{
    read_any_path(r, read_path, "<");
}

static void read_value_path(rust *r)
{
    read_any_path(r, read_value_path, "::<");
}

static const char *basic_type(char c)
{
    static const char names[][6] = {"i8",   "bool",  "char",  "f64", "str", "f32", "",
                                    "u8",   "isize", "usize", "",    "i32", "u32", "i128",
                                    "u128", "_",     "",      "",    "i16", "u16", "()",
                                    "...",  "",      "i64",   "u64", "!"};
    return pp_is_lower(c) ? names[c - 'a'] : "";
}

/* Reads &'a T or &mut T. */
static void read_reference(rust *r, bool is_mutable)
{
    pp_mangled *m = r->m;
    pp_mangled_put_text(m, "&");
    if (pp_mangled_take(m, "L")) {
        uint64_t lifetime = read_base_62(m);
        if (lifetime != 0) {
            put_lifetime(r, lifetime);
            pp_mangled_put_text(m, " ");
        }
    }
    pp_mangled_put_text(m, is_mutable ? "mut " : "");
    read_type(r);
}

static void read_array(rust *r, bool has_length)
{
    pp_mangled_put_text(r->m, "[");
    read_type(r);
    if (has_length) {
        pp_mangled_put_text(r->m, "; ");
        read_constant(r);
    }
    pp_mangled_put_text(r->m, "]");
}

/* Reads types up to the "E", writes ", " between them, and returns their number. */
static unsigned read_types(rust *r)
{
    unsigned count = 0;
    for (; !r->m->failed && !pp_mangled_take(r->m, "E"); count++) {
        pp_mangled_put_text(r->m, count > 0 ? ", " : "");
        read_type(r);
    }
    return count;
}

static void read_tuple(rust *r)
{
    pp_mangled_put_text(r->m, "(");
    pp_mangled_put_text(r->m, read_types(r) == 1 ? ",)" : ")");
}

/* Reads an ABI: extern "C"; in other names "_" means "-". */
static void read_abi(pp_mangled *m)
{
    pp_mangled_put_text(m, "extern \"");
    if (pp_mangled_take(m, "C")) {
        pp_mangled_put_text(m, "C");
    } else {
        identifier name = read_plain_identifier(m);
        if (name.punycode) {
            pp_mangled_fail(m);
        }
        for (uint32_t i = 0; !m->failed && i < name.size; i++) {
            pp_mangled_put(m, name.bytes[i] == '_' ? "-" : name.bytes + i, 1);
        }
    }
    pp_mangled_put_text(m, "\" ");
}

static void read_function(rust *r)
{
    pp_mangled *m = r->m;
    uint64_t lifetimes = r->lifetimes;
    read_binder(r);
    if (pp_mangled_take(m, "U")) {
        pp_mangled_put_text(m, "unsafe ");
    }
    if (pp_mangled_take(m, "K")) {
        read_abi(m);
    }
    pp_mangled_put_text(m, "fn(");
    read_types(r);
    pp_mangled_put_text(m, ")");
    if (!pp_mangled_take(m, "u")) {
        pp_mangled_put_text(m, " -> ");
        read_type(r);
    }
    r->lifetimes = lifetimes;
}

/* Reads the path of a trait; bindings may follow its generic arguments, "<A, B = C>". */
static void read_trait(rust *r)
{
    bool has_generics = pp_mangled_peek(r->m) == 'I';
    read_path(r);
    unsigned bindings = 0;
    for (; !r->m->failed && pp_mangled_take(r->m, "p"); bindings++) {
        bool silent = r->m->silent;
        r->m->silent = true;
        read_plain_identifier(r->m);
        read_type(r);
        r->m->silent = silent;
    }
    if (bindings > 0 && !has_generics) {
        pp_mangled_put_text(r->m, "<>");
    }
}

static void read_traits(rust *r)
{
    pp_mangled *m = r->m;
    uint64_t lifetimes = r->lifetimes;
    pp_mangled_put_text(m, "dyn ");
    read_binder(r);
    for (unsigned i = 0; !m->failed && !pp_mangled_take(m, "E"); i++) {
        pp_mangled_put_text(m, i > 0 ? " + " : "");
        read_trait(r);
    }
    r->lifetimes = lifetimes;
    pp_mangled_expect(m, 'L');
    uint64_t lifetime = read_base_62(m);
    if (lifetime != 0) {
        pp_mangled_put_text(m, " + ");
        put_lifetime(r, lifetime);
    }
}

static void read_compound_type(rust *r, char kind)
{
    pp_mangled *m = r->m;
    if (kind == 'A' || kind == 'S') {
        read_array(r, kind == 'A');
    } else if (kind == 'T') {
        read_tuple(r);
    } else if (kind == 'R' || kind == 'Q') {
        read_reference(r, kind == 'Q');
    } else if (kind == 'P' || kind == 'O') {
        pp_mangled_put_text(m, kind == 'P' ? "*const " : "*mut ");
        read_type(r);
    } else if (kind == 'F') {
        read_function(r);
    } else if (kind == 'D') {
        read_traits(r);
    } else if (kind == 'B') {
        follow(r, read_type);
    } else {
        pp_mangled_fail(m);
    }
}

static void read_type(rust *r)
{
    pp_mangled *m = r->m;
    if (!pp_mangled_enter(m)) {
        return;
    }
    char kind = pp_mangled_peek(m);
    const char *basic = basic_type(kind);
    if (*basic != '\0') {
        m->at++;
        pp_mangled_put_text(m, basic);
    } else if (kind != '\0' && strchr("CMXYNI", kind) != NULL) {
        read_path(r);
    } else {
        m->at += kind != '\0';
        read_compound_type(r, kind);
    }
}

bool pp_rust_second_scheme(pp_mangled *m)
{
    rust r = {m, 0};
    m->at = m->start + 2;
    if (pp_is_digit(pp_mangled_peek(m))) {
        return pp_mangled_fail(m); /* an unknown version */
    }
    read_value_path(&r);
    m->silent = true;
    if (pp_is_upper(pp_mangled_peek(m))) {
        read_path(&r); /* the crate that instantiated it */
    }
    char end = pp_mangled_peek(m);
    if (end != '\0' && end != '.') {
        pp_mangled_fail(m);
    }
    return !m->failed && m->used > 0;
}
