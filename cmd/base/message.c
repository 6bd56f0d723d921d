/* SPDX-License-Identifier: MIT
 *
 * message.c: see message.h.
 *
 * Tested by: unit.cmd_command_line.
 */
#include "base/message.h"

#include <stdarg.h>
#include <stdio.h>

int cp_fail(cp_error *error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return -1;
}

static void say(const char *format, va_list arguments)
{
    fputs("cpprof: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
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
