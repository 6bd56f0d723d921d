/* SPDX-License-Identifier: MIT
 *
 * short_name.c: see short_name.h. The expressions are those of pprof; \K begins what is kept.
 *
 * Tested by: unit.cmd_short_name.
 */
#include "convert/short_name.h"

#include "base/message.h"
#include "base/pool.h"
#include "base/regex.h"

#include <string.h>

static cp_regex *compile(const char *expression)
{
    cp_error ignored;

    return cp_regex_compile(expression, &ignored);
}

void cp_short_names_init(cp_short_names *names, bool needs_dot)
{
    names->version = compile("^.*?\\K/v(?:[2-9]|[1-9][0-9]+)(?=[./].*$)");
    names->expressions[0] =
        compile(needs_dot ? "^(?:[\\w\\-.]+/)+\\K[^.]+\\..+" : "^(?:[\\w\\-.]+/)+\\K.+");
    names->expressions[1] =
        compile("^(?:[a-z]\\w*\\.)*\\K[A-Z][\\w$]*\\.(?:<init>|[a-z][\\w$]*(?:\\$\\d+)?)(?=\\(|$)");
    names->expressions[2] =
        compile("^(?:[_a-zA-Z]\\w*::)+\\K_*[A-Z]\\w*::~?[_a-zA-Z]\\w*(?:<.*>)?");
}

void cp_short_names_release(cp_short_names *names)
{
    cp_regex_free(names->version);
    for (int i = 0; i < CP_SHORT_EXPRESSIONS; i++) {
        cp_regex_free(names->expressions[i]);
    }
}

char *cp_short_name(const cp_short_names *names, const char *name)
{
    static const char anonymous[] = "(anonymous namespace)::";
    size_t begin, end;

    if (strncmp(name, anonymous, sizeof anonymous - 1) == 0) {
        name += sizeof anonymous - 1;
    }
    char *text = cp_heap_copy(name, strlen(name));
    if (cp_regex_find(names->version, text, strlen(text), &begin, &end)) {
        memmove(text + begin, text + end, strlen(text + end) + 1);
    }
    for (int i = 0; i < CP_SHORT_EXPRESSIONS; i++) {
        if (cp_regex_find(names->expressions[i], text, strlen(text), &begin, &end)) {
            memmove(text, text + begin, end - begin);
            text[end - begin] = '\0';
            break;
        }
    }
    return text;
}
