/* SPDX-License-Identifier: MIT
 *
 * verb_text.c: see verb_text.h.
 *
 * Tested by: unit.cmd_verb_text.
 */
#include "verbs/verb_text.h"

#include <stdio.h>
#include <string.h>

static cp_text_part part(const char *from, const char *to)
{
    while (from < to && *from == '\n') {
        from++;
    }
    while (to > from && to[-1] == '\n') {
        to--;
    }
    return (cp_text_part){from, (size_t)(to - from)};
}

/* The end of the paragraph. */
static const char *paragraph_end(const char *text)
{
    const char *end = strstr(text, "\n\n");

    return end ? end : text + strlen(text);
}

cp_verb_text cp_verb_text_split(const char *help)
{
    const char *end = help + strlen(help);
    const char *usage_end = paragraph_end(help);
    const char *example = strstr(usage_end, "\nExample: ");
    const char *about_end = example ? example : end;
    const char *example_end = example ? paragraph_end(example) : end;

    return (cp_verb_text){part(help, usage_end), part(usage_end, about_end),
                          part(about_end, example_end), part(example_end, end)};
}

const char *cp_option_forms(const cp_option *option, char buffer[CP_OPTION_FORMS_BYTES])
{
    char letter[] = {'-', option->letter, ',', ' ', '\0'};

    snprintf(buffer, CP_OPTION_FORMS_BYTES, "%s--%s%s%s", option->letter ? letter : "",
             option->name, option->argument ? " " : "", option->argument ? option->argument : "");
    return buffer;
}
