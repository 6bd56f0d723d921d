/* SPDX-License-Identifier: MIT
 *
 * message.c: see message.h.
 *
 * Owns: a sentence, until it is printed.
 * Tested by: unit.cmd_command_line, unit.cmd_printable.
 */
#include "base/message.h"

#include "base/printable.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints a sentence that quotes what others wrote. A line break before two blanks is the sentence's
 * own: an expression and its fault are on lines of their own. */
static void put_sentence(const char *text, FILE *out)
{
    const char *own;

    for (; (own = strstr(text, "\n  ")); text = own + 1) {
        cp_put_printable(text, (size_t)(own - text), out);
        fputc('\n', out);
    }
    cp_put_printable(text, strlen(text), out);
}

int cp_fail(cp_error *error, const char *format, ...)
{
    char sentence[sizeof error->text];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    FILE *out = fmemopen(error->text, sizeof error->text, "w");
    put_sentence(sentence, out);
    fclose(out);
    error->text[sizeof error->text - 1] = '\0';
    return -1;
}

static void say(const char *format, va_list arguments)
{
    char *sentence = NULL;

    if (vasprintf(&sentence, format, arguments) < 0) {
        return;
    }
    fputs("cpprof: ", stderr);
    put_sentence(sentence, stderr);
    fputc('\n', stderr);
    free(sentence);
}

void cp_complain(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

int cp_bad_usage(const char *verb, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    if (verb) {
        fprintf(stderr, "cpprof: see `cpprof help %s`\n", verb);
    } else {
        fputs("cpprof: see `cpprof help`\n", stderr);
    }
    return CP_EXIT_BAD_USAGE;
}
