/* SPDX-License-Identifier: MIT
 *
 * regex.c: see regex.h.
 *
 * Owns: the PCRE2 objects of each expression.
 * Tested by: unit.cmd_names.
 */
#include "base/regex.h"

#include "base/message.h"
#include "base/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

typedef struct cp_regex {
    pcre2_code *code;
    pcre2_match_data *match;
    char *pattern;
    bool complained;
} cp_regex;

#define OPTIONS (PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_DOLLAR_ENDONLY)

/* A long expression is cut to a window around the error, so that the caret stays visible. */
static void explain(const char *pattern, size_t fault, int code, cp_error *error)
{
    const size_t window = 60;
    size_t length = strlen(pattern);
    size_t from = fault > window ? fault - window : 0;
    size_t shown = length - from < 2 * window ? length - from : 2 * window;
    PCRE2_UCHAR reason[256];

    if (pcre2_get_error_message(code, reason, sizeof reason) < 0) {
        snprintf((char *)reason, sizeof reason, "it is invalid");
    }
    cp_fail(error, "regular expression: %s at position %zu\n  %.*s\n  %*s^", (char *)reason, fault,
            (int)shown, pattern + from, (int)(fault - from), "");
}

static pcre2_code *compile(const char *pattern, int *code, size_t *fault)
{
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);

    if (context) {
        pcre2_set_newline(context, PCRE2_NEWLINE_LF); /* "." does not match it */
    }
    pcre2_code *compiled;
    compiled =
        pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, OPTIONS, code, fault, context);
    pcre2_compile_context_free(context);
    return compiled;
}

cp_regex *cp_regex_compile(const char *pattern, cp_error *error)
{
    size_t fault;
    int code;
    pcre2_code *compiled = compile(pattern, &code, &fault);

    if (!compiled) {
        explain(pattern, fault, code, error);
        return NULL;
    }
    pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE); /* only for speed; it may fail */
    cp_regex *regex = cp_heap_alloc(1, sizeof *regex);
    regex->code = compiled;
    regex->match = pcre2_match_data_create(1, NULL);
    regex->pattern = cp_heap_copy(pattern, strlen(pattern));
    return regex;
}

void cp_regex_free(cp_regex *regex)
{
    if (!regex) {
        return;
    }
    pcre2_match_data_free(regex->match);
    pcre2_code_free(regex->code);
    free(regex->pattern);
    free(regex);
}

bool cp_regex_match(cp_regex *regex, const char *text, size_t length)
{
    if (!regex->match) {
        return false;
    }
    int status = pcre2_match(regex->code, (PCRE2_SPTR)text, length, 0, 0, regex->match, NULL);
    if (status < PCRE2_ERROR_NOMATCH && !regex->complained) {
        regex->complained = true;
        cp_complain("warning: the regular expression %s takes too many steps on %.100s; that name "
                    "counts as not matching",
                    regex->pattern, text);
    }
    return status >= 0;
}

bool cp_regex_find(cp_regex *regex, const char *text, size_t length, size_t *begin, size_t *end)
{
    if (!cp_regex_match(regex, text, length)) {
        return false;
    }
    const PCRE2_SIZE *offsets = pcre2_get_ovector_pointer(regex->match);
    *begin = offsets[0];
    *end = offsets[1];
    return *begin <= *end;
}
