/* SPDX-License-Identifier: MIT
 *
 * command_line.c: see command_line.h.
 */
#include "command_line.h"

#include "message.h"
#include "verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    const char *verb;
    const struct cp_option *options;
    char **argv;
    int argc, at; /* the argument at hand */
    int *status;
};

static int refuse(struct parser *parser, int status)
{
    *parser->status = status;
    return -1;
}

static bool names(const char *name, const char *typed, size_t length)
{
    return name && strlen(name) == length && strncmp(name, typed, length) == 0;
}

static const struct cp_option *find_name(const struct parser *parser, const char *typed,
                                         size_t length)
{
    for (const struct cp_option *option = parser->options; option->name; option++)
        if (names(option->name, typed, length) || names(option->alias, typed, length))
            return option;
    return NULL;
}

static const struct cp_option *find_letter(const struct parser *parser, char letter)
{
    for (const struct cp_option *option = parser->options; option->name; option++)
        if (option->letter && option->letter == letter)
            return option;
    return NULL;
}

static int store_count(struct parser *parser, const struct cp_option *option, const char *typed,
                       const char *value)
{
    char *end;
    long number;

    errno = 0;
    number = strtol(value, &end, 10);
    if (errno || end == value || *end || number < option->minimum || number > option->maximum)
        return refuse(parser,
                      cp_bad_usage(parser->verb,
                                   "%s: %s: expected a number from %ld to %ld, found '%s'",
                                   parser->verb, typed, option->minimum, option->maximum, value));
    *(long *)option->value = number;
    return 0;
}

/* `value` is what follows the = or the letter, or NULL: then the next argument is the value. */
static int store(struct parser *parser, const struct cp_option *option, const char *value)
{
    const char *typed = parser->argv[parser->at];

    if (option->kind == CP_OPTION_FLAG) {
        if (value)
            return refuse(parser,
                          cp_bad_usage(parser->verb, "%s: %s takes no value", parser->verb, typed));
        *(bool *)option->value = true;
        return 0;
    }
    if (!value) {
        if (parser->at + 1 >= parser->argc)
            return refuse(parser,
                          cp_bad_usage(parser->verb, "%s: %s needs a value", parser->verb, typed));
        value = parser->argv[++parser->at];
    }
    if (option->kind == CP_OPTION_COUNT)
        return store_count(parser, option, typed, value);
    *(const char **)option->value = value;
    return 0;
}

static int parse_option(struct parser *parser)
{
    const char *typed = parser->argv[parser->at];
    const char *name = typed + 1 + (typed[1] == '-');
    size_t length = strcspn(name, "=");
    const struct cp_option *option = find_name(parser, name, length);

    if (option)
        return store(parser, option, name[length] ? name + length + 1 : NULL);
    if (strcmp(name, "help") == 0 || strcmp(typed, "-h") == 0)
        return refuse(parser, cp_verb_help(parser->verb));
    if (typed[1] != '-') {
        option = find_letter(parser, typed[1]);
        if (option)
            return store(parser, option, typed[2] ? typed + 2 : NULL);
    }
    return refuse(parser, cp_bad_usage(parser->verb, "%s: unknown option %s", parser->verb, typed));
}

int cp_options_parse(const char *verb, const struct cp_option *options, bool stop_at_operand,
                     int argc, char **argv, struct cp_operands *operands, int *status)
{
    struct parser parser = {verb, options, argv, argc, 1, status};
    int count = 0;

    for (; parser.at < argc; parser.at++) {
        char *argument = argv[parser.at];
        bool is_operand = argument[0] != '-' || argument[1] == '\0'; /* "-" is standard input */

        if (strcmp(argument, "--") == 0) {
            parser.at++;
            break;
        }
        if (is_operand && stop_at_operand)
            break;
        if (is_operand)
            argv[1 + count++] = argument;
        else if (parse_option(&parser) < 0)
            return -1;
    }
    while (parser.at < argc)
        argv[1 + count++] = argv[parser.at++];
    argv[1 + count] = NULL;
    operands->values = argv + 1;
    operands->count = count;
    return 0;
}
