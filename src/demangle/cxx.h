/* SPDX-License-Identifier: MIT
 *
 * cxx.h: makes names of C++'s symbols, in the short form that `go tool pprof` shows: no parameters,
 * no template arguments, no return type.
 *
 *   _ZNSt6vectorIiSaIiEE9push_backEOi   std::vector::push_back
 *
 * The grammar is that of the Itanium C++ ABI, chapter 5.1 "External Names (a.k.a. Mangling)". The
 * demangler reads all of a symbol, since a later part may refer to any earlier part. It makes the
 * text of a part once, when it reads the part, and copies the text where a later part refers to it:
 * so a short symbol cannot become a long text.
 *
 *   cxx_symbol.c       whole symbols
 *   cxx_name.c         names of functions and types
 *   cxx_lambda.c       lambdas and other unnamed types
 *   cxx_template.c     parameters and arguments of templates
 *   cxx_type.c         types: of conversion operators and of lambdas' parameters; all others only
 *                      because later parts may refer to them
 *   cxx_expression.c   expressions, which are skipped
 *
 * Zone: SIGNAL.
 */
#ifndef PP_DEMANGLE_CXX_H
#define PP_DEMANGLE_CXX_H

#include "demangle/mangled.h"

enum {
    PP_CXX_REFERENCES = 512, /* parts that later ones may refer to; real symbols have 100 */
    PP_CXX_ARGUMENTS = 16,   /* of a template, for the type of a conversion operator */
    PP_CXX_DECLARED = 8      /* template parameters of a lambda */
};

/* The shape of a type decides how a pointer to it is written. */
typedef enum pp_cxx_shape {
    PP_CXX_PLAIN,
    PP_CXX_FUNCTION, /* "int " and "(char)" */
    PP_CXX_ARRAY     /* "int" and " [3]" */
} pp_cxx_shape;

/* A name or type. A type is written around the declared name: "int (*" and ")(char)". */
typedef struct pp_cxx_part {
    pp_span left;
    pp_span right;
    pp_span last; /* of a name: its last component, which constructors repeat */
    pp_cxx_shape shape;
} pp_cxx_part;

/* Properties of a function's name. */
typedef struct pp_cxx_traits {
    bool is_template;   /* the name ends with template arguments */
    bool is_special;    /* a constructor, destructor or conversion operator: has no return type */
    bool is_conversion; /* operator T: its T may be one of the template arguments that follow */
    pp_span qualifiers; /* " const &" */
} pp_cxx_traits;

typedef struct pp_cxx {
    pp_mangled m;
    bool in_conversion; /* the parser is in the type of a conversion operator */
    uint32_t reference_count;
    uint32_t argument_count;
    uint32_t declared_count;
    uint32_t counts[3]; /* of the lambda's template parameters: types, values and templates */
    pp_cxx_part references[PP_CXX_REFERENCES];
    pp_cxx_part arguments[PP_CXX_ARGUMENTS]; /* the arguments that were stored last */
    pp_span declared[PP_CXX_DECLARED];       /* names of the lambda's template parameters */
} pp_cxx;

/* ---- text, in cxx_template.c ---- */

/* Returns the text of `before`, `span` and `after`. */
pp_span pp_cxx_join(pp_cxx *c, const char *before, pp_span span, const char *after);

static inline pp_span pp_cxx_text(pp_cxx *c, const char *text)
{
    return pp_cxx_join(c, text, (pp_span){0, 0}, "");
}

/* A name of one component. */
static inline pp_cxx_part pp_cxx_part_of(pp_span text)
{
    return (pp_cxx_part){.left = text, .last = text};
}

/* ---- cxx_symbol.c ---- */

/*
 * Writes the name of a symbol that begins with "_Z" into c->m.text, and its place there into *name.
 * pp_mangled_begin() has begun c->m with the symbol. False if it is no C++ symbol, or exceeds a
 * bound (mangled.h).
 */
bool pp_cxx_read(pp_cxx *c, pp_span *name);

/* Reads a function with the types of its parameters, or an object. */
void pp_cxx_encoding(pp_cxx *c, pp_cxx_part *name);

/* ---- cxx_name.c ---- */

void pp_cxx_name(pp_cxx *c, pp_cxx_part *name, pp_cxx_traits *traits);
void pp_cxx_unqualified_name(pp_cxx *c, pp_cxx_part *name, pp_cxx_traits *traits);
void pp_cxx_source_name(pp_cxx *c, pp_cxx_part *name);

/* Stores a part for later references. */
void pp_cxx_remember(pp_cxx *c, const pp_cxx_part *part);

/* Reads "S" and a number. */
void pp_cxx_reference(pp_cxx *c, pp_cxx_part *part);

/* Reads a number: "_" is 0, "0_" 1 and so on, in decimal digits. */
uint32_t pp_cxx_compact_number(pp_cxx *c);

/* ---- cxx_lambda.c ---- */

/* Read an entity after its "Ul" or "Ut". */
void pp_cxx_lambda(pp_cxx *c, pp_cxx_part *name);
void pp_cxx_unnamed(pp_cxx *c, pp_cxx_part *name);

/* A template parameter of a lambda, or of a template that is an argument: "typename $T"
 * and "$T". */
typedef struct pp_cxx_declared {
    pp_span text, name;
} pp_cxx_declared;

/* Reads a declaration. False if the symbol has none here. */
bool pp_cxx_declaration(pp_cxx *c, pp_cxx_declared *declared);

/* ---- cxx_template.c ---- */

/* The text has MARK and a number in place of a template parameter, until the arguments are
 * known. */
enum { PP_CXX_MARK = 1, PP_CXX_MOST_PARAMETERS = 100 };
void pp_cxx_template_parameter(pp_cxx *c, pp_cxx_part *part);

/* Returns the text with the template's arguments, or with the names of a lambda's parameters, in
 * place of the marks. */
pp_span pp_cxx_with_arguments(pp_cxx *c, pp_span text);
pp_span pp_cxx_with_declared(pp_cxx *c, pp_span text);

/* Read "I" and arguments; the second function stores the arguments in c->arguments. */
void pp_cxx_template_arguments(pp_cxx *c);
void pp_cxx_stored_template_arguments(pp_cxx *c);
void pp_cxx_template_argument(pp_cxx *c, pp_cxx_part *part);

/* ---- cxx_type.c ---- */

void pp_cxx_type(pp_cxx *c, pp_cxx_part *type);

/* Reads types up to the end of a list of parameters: "int, char". */
pp_span pp_cxx_parameters(pp_cxx *c);

/* Reads " const volatile", and the qualifiers that only functions' types have. */
pp_span pp_cxx_qualifiers(pp_cxx *c);

/* Reads " &" or " &&" of a function. */
void pp_cxx_put_reference_qualifier(pp_cxx *c);

/* Returns the text of a type that declares no name. */
pp_span pp_cxx_whole(pp_cxx *c, const pp_cxx_part *type);

/* ---- cxx_expression.c ---- */

void pp_cxx_expression(pp_cxx *c);
void pp_cxx_literal(pp_cxx *c);

/* Returns the text after "operator" for this code of two letters, such as "+" or " new"; NULL if no
 * operator has the code. */
const char *pp_cxx_operator(const char *code);

#endif
