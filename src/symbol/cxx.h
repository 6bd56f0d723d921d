/* SPDX-License-Identifier: MIT
 *
 * cxx.h: C++'s symbols as names, in the short form that `go tool pprof` shows: no parameters, no
 * template arguments, no return type.
 *
 *   _ZNSt6vectorIiSaIiEE9push_backEOi   std::vector::push_back
 *
 * The grammar is that of the Itanium C++ ABI, chapter 5.1 "External Names (a.k.a. Mangling)". All
 * of it is read, since what follows may refer to any part of what came before. The text of a part
 * is made once, when the part is read, and copied to where the part is referred to: a short name
 * cannot stand for a long text.
 *
 *   cxx_symbol.c       whole symbols
 *   cxx_name.c         names of functions and types
 *   cxx_lambda.c       what has no name
 *   cxx_template.c     parameters and arguments of templates
 *   cxx_type.c         types: of conversion operators and of lambdas' parameters; all others for what refers to them
 *   cxx_expression.c   expressions, which are passed over
 *
 * Zone: SIGNAL.
 */
#ifndef PP_SYMBOL_CXX_H
#define PP_SYMBOL_CXX_H

#include "symbol/mangled.h"

enum {
    PP_CXX_REFERENCES = 512, /* parts of one name that may be referred to; real names have 100 */
    PP_CXX_ARGUMENTS = 16,   /* of a template, that a conversion operator may name */
    PP_CXX_DECLARED = 8      /* template parameters of a lambda */
};

/* What a type is decides how a pointer to it is written. */
typedef enum pp_cxx_shape {
    PP_CXX_PLAIN,
    PP_CXX_FUNCTION, /* "int " and "(char)" */
    PP_CXX_ARRAY     /* "int" and " [3]" */
} pp_cxx_shape;

/* A name or type. A type is written around what is declared: "int (*" and ")(char)". */
typedef struct pp_cxx_part {
    pp_span left;
    pp_span right;
    pp_span last; /* of a name: the last one in it, which constructors have */
    pp_cxx_shape shape;
} pp_cxx_part;

/* What a name says about the function that has it. */
typedef struct pp_cxx_traits {
    bool is_template; /* it ends with template arguments */
    bool
        is_special; /* a constructor, destructor or conversion operator: no return type is written */
    bool is_conversion; /* operator T: its T may be one of the template arguments that follow */
    pp_span qualifiers; /* " const &" */
} pp_cxx_traits;

typedef struct pp_cxx {
    pp_mangled m;
    bool in_conversion; /* the type that is read is that of a conversion operator */
    uint32_t reference_count;
    uint32_t argument_count;
    uint32_t declared_count;
    uint32_t counts[3]; /* of declared types, values and templates */
    pp_cxx_part references[PP_CXX_REFERENCES];
    pp_cxx_part arguments[PP_CXX_ARGUMENTS]; /* that were stored last */
    pp_span declared[PP_CXX_DECLARED];       /* names of the lambda's template parameters */
} pp_cxx;

/* ---- text, in cxx_template.c ---- */

/* The texts and the piece between them. */
pp_span pp_cxx_join(pp_cxx *c, const char *before, pp_span span, const char *after);

static inline pp_span pp_cxx_text(pp_cxx *c, const char *text)
{
    return pp_cxx_join(c, text, (pp_span){0, 0}, "");
}

/* A name that has no other parts. */
static inline pp_cxx_part pp_cxx_part_of(pp_span text)
{
    return (pp_cxx_part){.left = text, .last = text};
}

/* ---- cxx_symbol.c ---- */

/* Writes the name of a symbol that begins with "_Z" into c->m.text, and where in there into *name;
 * c->m was begun with it. False if it is none, or needs more than there is (mangled.h). */
bool pp_cxx_read(pp_cxx *c, pp_span *name);

/* A function with the types of its parameters, or an object. */
void pp_cxx_encoding(pp_cxx *c, pp_cxx_part *name);

/* ---- cxx_name.c ---- */

void pp_cxx_name(pp_cxx *c, pp_cxx_part *name, pp_cxx_traits *traits);
void pp_cxx_unqualified_name(pp_cxx *c, pp_cxx_part *name, pp_cxx_traits *traits);
void pp_cxx_source_name(pp_cxx *c, pp_cxx_part *name);

/* A part that later ones may refer to. */
void pp_cxx_remember(pp_cxx *c, const pp_cxx_part *part);

/* "S" and a number. */
void pp_cxx_reference(pp_cxx *c, pp_cxx_part *part);

/* "_" is 0, "0_" 1 and so on, in decimal digits. */
uint32_t pp_cxx_compact_number(pp_cxx *c);

/* ---- cxx_lambda.c ---- */

/* "Ul" and "Ut". */
void pp_cxx_lambda(pp_cxx *c, pp_cxx_part *name);
void pp_cxx_unnamed(pp_cxx *c, pp_cxx_part *name);

/* A template parameter of a lambda, or of a template that is an argument: "typename $T"
 * and "$T". */
typedef struct pp_cxx_declared {
    pp_span text, name;
} pp_cxx_declared;

/* False if none is declared here. */
bool pp_cxx_declaration(pp_cxx *c, pp_cxx_declared *declared);

/* ---- cxx_template.c ---- */

/* A reference to a template parameter is kept as MARK and its number in the text, until it is known
 * what of. */
enum { PP_CXX_MARK = 1, PP_CXX_MOST_PARAMETERS = 100 };
void pp_cxx_template_parameter(pp_cxx *c, pp_cxx_part *part);

/* The text with the template's arguments in their places, or with what a lambda calls them. */
pp_span pp_cxx_with_arguments(pp_cxx *c, pp_span text);
pp_span pp_cxx_with_declared(pp_cxx *c, pp_span text);

/* "I" and arguments; stored in c->arguments by the second one. */
void pp_cxx_template_arguments(pp_cxx *c);
void pp_cxx_stored_template_arguments(pp_cxx *c);
void pp_cxx_template_argument(pp_cxx *c, pp_cxx_part *part);

/* ---- cxx_type.c ---- */

void pp_cxx_type(pp_cxx *c, pp_cxx_part *type);

/* Types up to the end of a list of parameters: "int, char". */
pp_span pp_cxx_parameters(pp_cxx *c);

/* " const volatile", and what only functions' types have; */
pp_span pp_cxx_qualifiers(pp_cxx *c);

/* " &" or " &&" of a function. */
void pp_cxx_put_reference_qualifier(pp_cxx *c);

/* The type with nothing declared. */
pp_span pp_cxx_whole(pp_cxx *c, const pp_cxx_part *type);

/* ---- cxx_expression.c ---- */

void pp_cxx_expression(pp_cxx *c);
void pp_cxx_literal(pp_cxx *c);

/* What follows "operator" for this code of two letters, as "+" or " new"; NULL if nothing has this
 * code. */
const char *pp_cxx_operator(const char *code);

#endif
