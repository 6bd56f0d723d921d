/* SPDX-License-Identifier: MIT
 *
 * cxx_template.c: parameters of templates, which the arguments replace later, and arguments.
 *
 * Zone: SIGNAL.
 * Tested by: unit.demangler, e2e.names
 */
#include "demangle/cxx.h"

#include <string.h>

/* ---- text ---- */

pp_span pp_cxx_join(pp_cxx *c, const char *before, pp_span span, const char *after)
{
    uint32_t begin = c->m.used;
    pp_mangled_put_text(&c->m, before);
    pp_mangled_put_span(&c->m, span);
    pp_mangled_put_text(&c->m, after);
    return pp_mangled_since(&c->m, begin);
}

/* ---- parameters of templates ---- */

void pp_cxx_template_parameter(pp_cxx *c, pp_cxx_part *part)
{
    pp_mangled_expect(&c->m, 'T');
    if (pp_mangled_take(&c->m, "L")) {
        pp_cxx_compact_number(c);
    }
    uint32_t number = pp_cxx_compact_number(c);
    if (number >= PP_CXX_MOST_PARAMETERS) {
        pp_mangled_fail(&c->m);
    }
    uint32_t begin = c->m.used;
    pp_mangled_put(&c->m, (const char[]){PP_CXX_MARK, (char)(number + 1)}, 2);
    pp_span mark = pp_mangled_since(&c->m, begin);
    *part = (pp_cxx_part){.left = mark, .last = mark};
}

/* Writes what replaces a mark. `after` is the text that follows the mark. */
typedef void put_parameter(pp_cxx *c, uint32_t number, pp_span after);

/* Returns the text with each mark replaced. */
static pp_span replace_marks(pp_cxx *c, pp_span span, put_parameter *put)
{
    uint32_t begin = c->m.used;
    const char *at = c->m.text + span.at;
    const char *end = at + span.size;
    if (memchr(at, PP_CXX_MARK, span.size) == NULL) {
        return span;
    }
    while (at < end && !c->m.failed) {
        const char *mark = memchr(at, PP_CXX_MARK, (size_t)(end - at));
        pp_mangled_put(&c->m, at, (size_t)((mark != NULL ? mark : end) - at));
        if (mark == NULL) {
            break;
        }
        at = mark + 2;
        put(c, (uint32_t)(unsigned char)mark[1] - 1,
            (pp_span){(uint32_t)(at - c->m.text), (uint32_t)(end - at)});
    }
    return pp_mangled_since(&c->m, begin);
}

/*
 * Writes the argument in place of the parameter. This fails if the argument would need another
 * form, as for a declarator around the argument or a reference to a reference; practice has none
 * such.
 */
static void put_argument(pp_cxx *c, uint32_t number, pp_span after)
{
    pp_cxx_part argument = {0};
    if (number < c->argument_count) {
        argument = c->arguments[number];
    }
    bool is_reference =
        argument.left.size > 0 && c->m.text[argument.left.at + argument.left.size - 1] == '&';
    if (argument.left.size == 0 || (argument.right.size > 0 && after.size > 0) ||
        (is_reference && after.size > 0 && c->m.text[after.at] == '&')) {
        pp_mangled_fail(&c->m);
    }
    pp_mangled_put_span(&c->m, argument.left);
    pp_mangled_put_span(&c->m, argument.right);
}

pp_span pp_cxx_with_arguments(pp_cxx *c, pp_span text)
{
    return replace_marks(c, text, put_argument);
}

/* In the list of a lambda's parameters, T is a declared parameter of the lambda, or else comes from
 * "auto". */
static void put_declared(pp_cxx *c, uint32_t number, pp_span after)
{
    (void)after;
    if (number < c->declared_count) {
        pp_mangled_put_span(&c->m, c->declared[number]);
        return;
    }
    pp_mangled_put_text(&c->m, "auto:");
    pp_mangled_put_number(&c->m, number + 1);
}

pp_span pp_cxx_with_declared(pp_cxx *c, pp_span text)
{
    return replace_marks(c, text, put_declared);
}

/* ---- arguments of templates ---- */

void pp_cxx_template_argument(pp_cxx *c, pp_cxx_part *part)
{
    char next = pp_mangled_peek(&c->m);
    pp_cxx_declared declared;
    if (!pp_mangled_enter(&c->m)) {
        return;
    }
    if (pp_mangled_take(&c->m, "X")) {
        pp_cxx_expression(c);
        pp_mangled_expect(&c->m, 'E');
    } else if (next == 'L') {
        pp_cxx_literal(c);
    } else if (next == 'I' || next == 'J') {
        pp_cxx_template_arguments(c);
    } else if (pp_cxx_declaration(c, &declared)) {
        pp_cxx_template_argument(c, part);
    } else {
        pp_cxx_type(c, part);
    }
}

/* Reads up to the "E". Stores the first arguments in `stored`, if it is not NULL. */
static void read_arguments(pp_cxx *c, pp_cxx_part *stored, uint32_t *count)
{
    while (!c->m.failed && !pp_mangled_take(&c->m, "E")) {
        pp_cxx_part argument = {0};
        if (pp_mangled_take(&c->m, "Q")) {
            pp_cxx_expression(c); /* a constraint */
        } else {
            pp_cxx_template_argument(c, &argument);
        }
        if (stored != NULL && *count < PP_CXX_ARGUMENTS) {
            stored[(*count)++] = argument;
        }
    }
}

void pp_cxx_template_arguments(pp_cxx *c)
{
    bool in_conversion = c->in_conversion;
    c->in_conversion = false;
    pp_mangled_next(&c->m);
    read_arguments(c, NULL, NULL);
    c->in_conversion = in_conversion;
}

/* Collects the arguments on the stack, because nested ones may be stored meanwhile. */
__attribute__((noinline)) void pp_cxx_stored_template_arguments(pp_cxx *c)
{
    pp_cxx_part stored[PP_CXX_ARGUMENTS];
    uint32_t count = 0;
    pp_mangled_next(&c->m);
    read_arguments(c, stored, &count);
    memcpy(c->arguments, stored, count * sizeof *stored);
    c->argument_count = count;
}
