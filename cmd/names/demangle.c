/* SPDX-License-Identifier: MIT
 *
 * demangle.c: see demangle.h.
 *
 * libiberty (symbol_reader.h) reads symbols. Without DMGL_PARAMS it leaves out parameters, return
 * types and clone suffixes; this file then cuts template arguments from the text. A name that is no
 * symbol but looks like C++ (templates, ::) was demangled in full by the profile's writer: this
 * file cuts its parentheses and angle brackets.
 *
 * Owns: nothing; results belong to the caller.
 * Tested by: unit.cmd_names.
 */
#include "names/demangle.h"

#include "base/pool.h"
#include "names/symbol_reader.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

/* ---- template arguments ---- */

/* Operators whose names contain angle brackets, the longest first. */
static const char *const bracket_operators[] = {"<=>", "<<=", ">>=", "->*", "<<", ">>",
                                                "<=",  ">=",  "->",  "<",   ">"};

static bool is_name_byte(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_' || byte == '$';
}

/* The length of "operator" and of an operator's name if both begin at text[at]; else 0. */
static size_t operator_length(const char *text, size_t at)
{
    static const char word[] = "operator";
    const size_t word_length = sizeof word - 1;

    if (strncmp(text + at, word, word_length) != 0 || (at > 0 && is_name_byte(text[at - 1]))) {
        return 0;
    }
    for (size_t i = 0; i < sizeof bracket_operators / sizeof *bracket_operators; i++) {
        size_t length = strlen(bracket_operators[i]);
        if (strncmp(text + at + word_length, bracket_operators[i], length) == 0) {
            return word_length + length;
        }
    }
    return 0;
}

static char closing(char bracket)
{
    switch (bracket) {
    case '<':
        return '>';
    case '(':
        return ')';
    default:
        return '}';
    }
}

/* The position after the bracket that closes the one at text[at], or that of the terminating NUL.
 * Angle brackets inside parentheses are comparisons and need not match. `depth` bounds the
 * recursion for hostile names. */
static size_t skip_bracket(const char *text, size_t at, unsigned depth)
{
    char close = closing(text[at]);

    at++;
    while (text[at] && text[at] != close) {
        size_t operator_bytes = operator_length(text, at);

        if (operator_bytes) {
            at += operator_bytes;
        } else if (text[at] == '-' && text[at + 1] == '>') {
            at += 2;
        } else if (depth < 500 &&
                   (text[at] == '(' || text[at] == '{' || (text[at] == '<' && close == '>'))) {
            at = skip_bracket(text, at, depth + 1);
        } else {
            at++;
        }
    }
    return at + (text[at] != '\0');
}

static void cut_templates(char *text)
{
    size_t from = 0, to = 0;

    while (text[from]) {
        size_t operator_bytes = operator_length(text, from);

        if (operator_bytes) {
            memmove(text + to, text + from, operator_bytes);
            to += operator_bytes;
            from += operator_bytes;
            /* The blank in "operator< <int>" belongs to the arguments. */
            from += text[from] == ' ' && text[from + 1] == '<';
        } else if (text[from] == '<') {
            from = skip_bracket(text, from, 0);
        } else {
            text[to++] = text[from++];
        }
    }
    text[to] = '\0';
}

/* ---- symbols ---- */

/* A symbol of Rust's first scheme looks like C++ but ends in "17h", 16 hex digits and "E". */
static bool is_legacy_rust(const char *name, size_t length)
{
    unsigned seen = 0;

    if (length <= 23 || strncmp(name, "_ZN", 3) != 0 || name[length - 1] != 'E' ||
        strncmp(name + length - 20, "17h", 3) != 0) {
        return false;
    }
    for (const char *digit = name + length - 17; digit < name + length - 1; digit++) {
        const char *hex = "0123456789abcdef";
        const char *found = strchr(hex, *digit);
        if (!found) {
            return false;
        }
        seen |= 1u << (found - hex);
    }
    return __builtin_popcount(seen) >= 5; /* a hash, and no word of the letters a to f */
}

/*
 * Drops one underscore before each identifier: "28__rust_begin..." becomes "27_rust_begin...".
 * Rust's second scheme has a separator there. pprof reads symbols of the first scheme in the same
 * way, and so it shows __rust_begin_short_backtrace with one underscore. Both tools must show the
 * same names, or a --focus that works in one fails in the other.
 */
static char *drop_separators(const char *symbol)
{
    char *result = cp_heap_alloc(strlen(symbol) + 1, 1); /* the result is not longer */
    const char *from = symbol + 3;                       /* after "_ZN" */
    const char *end = symbol + strlen(symbol);
    char *to = result + 3;

    memcpy(result, symbol, 3);
    while (isdigit((unsigned char)*from)) {
        char *identifier;
        unsigned long length = strtoul(from, &identifier, 10);

        if (length > (size_t)(end - identifier)) {
            break;
        }
        if (length > 1 && *identifier == '_') {
            identifier++;
            length--;
        }
        to += sprintf(to, "%lu", length);
        memcpy(to, identifier, length);
        to += length;
        from = identifier + length;
    }
    memcpy(to, from, strlen(from) + 1);
    return result;
}

/* Reads the symbol without the compiler's suffix (".llvm.123", ".isra.0"). */
static char *demangle_rust(const char *name)
{
    const char *end = NULL;
    char *result = NULL;

    if (strncmp(name, "_R", 2) == 0) {
        end = strchr(name, '.');
    } else if (strncmp(name, "_ZN", 3) == 0) {
        for (const char *dot = strstr(name, "E."); dot; dot = strstr(dot + 1, "E.")) {
            end = dot + 1;
        }
    } else {
        return NULL;
    }
    char *symbol = cp_heap_copy(name, end ? (size_t)(end - name) : strlen(name));
    if (symbol[1] == 'R') {
        result = cp_rust_symbol_read(symbol);
    } else if (is_legacy_rust(symbol, strlen(symbol))) {
        char *same = drop_separators(symbol);
        result = cp_rust_symbol_read(same);
        free(same);
    }
    free(symbol);
    return result;
}

/* With DMGL_PARAMS libiberty writes " [clone .isra.0]" after the parameters. */
static void cut_clones(char *text)
{
    char *clone = strstr(text, " [clone ");

    if (clone) {
        *clone = '\0';
    }
}

static char *demangle_symbol(const char *name, cp_demangle_mode mode)
{
    char *result = demangle_rust(name);

    if (result || name[0] != '_') {
        return result;
    }
    result =
        cp_cxx_symbol_read(name, mode == CP_DEMANGLE_FULL ? DMGL_PARAMS | DMGL_ANSI : DMGL_NO_OPTS);
    if (result && mode == CP_DEMANGLE_SIMPLE) {
        cut_templates(result);
    }
    if (result && mode == CP_DEMANGLE_FULL) {
        cut_clones(result);
    }
    return result;
}

/* ---- names that are demangled already ---- */

/* Java's "Class.<init>" and Go's "pkg.(*Type[...]).Method" have brackets too, but are no C++. */
static bool reads_like_cplusplus(const char *name)
{
    if (strstr(name, ".<") || strstr(name, "]).")) {
        return false;
    }
    return strpbrk(name, "<>[]") || strstr(name, "::");
}

/* The closing bracket of the pair that opens at `at`; NULL if there is none. */
static const char *pair_end(const char *at, char open, char close)
{
    size_t depth = 0;

    for (; *at; at++) {
        depth += *at == open;
        if (*at == close && --depth == 0) {
            return at;
        }
    }
    return NULL;
}

/* Cuts every outermost pair; stops at the first bracket that has no partner. */
static void cut_pairs(char *name, char open, char close)
{
    const char *from = name;
    char *to = name;

    while (*from && *from != close) {
        const char *end = *from == open ? pair_end(from, open, close) : NULL;

        if (*from == open && !end) {
            break;
        }
        if (end) {
            from = end + 1;
        } else {
            *to++ = *from++;
        }
    }
    memmove(to, from, strlen(from) + 1);
}

/* ---- names ---- */

int cp_demangle_mode_named(const char *name, cp_demangle_mode *mode)
{
    static const struct {
        const char *name;
        cp_demangle_mode mode;
    } modes[] = {
        {"simple", CP_DEMANGLE_SIMPLE},       {"default", CP_DEMANGLE_SIMPLE},
        {"templates", CP_DEMANGLE_TEMPLATES}, {"full", CP_DEMANGLE_FULL},
        {"none", CP_DEMANGLE_NONE},
    };

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(modes[i].name, name) == 0) {
            *mode = modes[i].mode;
            return 0;
        }
    }
    return -1;
}

char *cp_demangle_as(const char *name, cp_demangle_mode mode)
{
    char *result = mode == CP_DEMANGLE_NONE ? NULL : demangle_symbol(name, mode);

    if (result) {
        return result;
    }
    result = cp_heap_copy(name, strlen(name));
    if (mode <= CP_DEMANGLE_TEMPLATES && reads_like_cplusplus(name)) {
        cut_pairs(result, '(', ')');
        if (mode == CP_DEMANGLE_SIMPLE) {
            cut_pairs(result, '<', '>');
        }
    }
    return result;
}

char *cp_demangle(const char *name)
{
    return cp_demangle_as(name, CP_DEMANGLE_SIMPLE);
}
