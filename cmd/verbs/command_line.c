/* SPDX-License-Identifier: MIT
 *
 * command_line.c: see command_line.h.
 *
 * Tested by: unit.cmd_command_line.
 */
#include "verbs/command_line.h"

#include "base/message.h"
#include "base/pool.h"
#include "base/suggestion.h"
#include "verbs/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct parser {
    const char *verb;
    const cp_option *options;
    char **argv;
    int argc, at; /* at: index of the current argument */
    int *status;
} parser;

/* Who wants to see the table of options instead; see cp_options_visit(). */
static struct {
    cp_option_visitor *visit;
    void *ctx;
} visitor;

static int refuse(parser *p, int status)
{
    *p->status = status;
    return -1;
}

static bool names(const char *name, const char *typed, size_t length)
{
    return name && strlen(name) == length && strncmp(name, typed, length) == 0;
}

static const cp_option *find_name(const parser *p, const char *typed, size_t length)
{
    for (const cp_option *option = p->options; option->name; option++) {
        if (names(option->name, typed, length) || names(option->alias, typed, length)) {
            return option;
        }
    }
    return NULL;
}

static const cp_option *find_letter(const parser *p, char letter)
{
    for (const cp_option *option = p->options; option->name; option++) {
        if (option->letter && option->letter == letter) {
            return option;
        }
    }
    return NULL;
}

static int store_count(parser *p, const cp_option *option, const char *typed, const char *value)
{
    errno = 0;
    char *end;
    long number = strtol(value, &end, 10);
    if (errno || end == value || *end || number < option->minimum || number > option->maximum) {
        return refuse(p,
                      cp_bad_usage(p->verb, "%s: %s: expected a number from %ld to %ld, found '%s'",
                                   p->verb, typed, option->minimum, option->maximum, value));
    }
    *(long *)option->value = number;
    return 0;
}

void cp_text_list_add(cp_text_list *list, const char *value)
{
    if (!*value) {
        return;
    }
    list->values = cp_heap_resize((void *)list->values, list->count + 1, sizeof(const char *));
    list->values[list->count++] = value;
}

/* An option without a value. */
static int store_flag(parser *p, const cp_option *option, const char *value)
{
    if (value) {
        return refuse(p, cp_bad_usage(p->verb, "%s: %s takes no value", p->verb, p->argv[p->at]));
    }
    if (option->kind == CP_OPTION_WORD) {
        *(const char **)option->value = option->name;
    } else {
        *(bool *)option->value = true;
    }
    return 0;
}

/* Writes the words as "a, b or c". */
static void write_words(const char *words, char *buffer, size_t bytes)
{
    size_t length = 0;

    for (const char *end; *words; words = end + (*end == ' ')) {
        end = words + strcspn(words, " ");
        const char *before = length == 0 ? "" : *end ? ", " : " or ";
        int added =
            snprintf(buffer + length, bytes - length, "%s%.*s", before, (int)(end - words), words);
        length += (size_t)added;
    }
}

static int store_word(parser *p, const cp_option *option, const char *typed, const char *value)
{
    char copy[CP_OPTION_WORDS_BYTES], list[2 * CP_OPTION_WORDS_BYTES], near[CP_SUGGESTION_BYTES];
    cp_suggestion suggestion;
    char *rest;

    cp_suggestion_init(&suggestion, value, strlen(value));
    snprintf(copy, sizeof copy, "%s", option->words);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (strcmp(word, value) == 0) {
            *(const char **)option->value = value;
            return 0;
        }
        cp_suggestion_offer(&suggestion, word);
    }
    write_words(option->words, list, sizeof list);
    return refuse(p, cp_bad_usage(p->verb, "%s: %.*s: expected %s, found '%s'%s", p->verb,
                                  (int)strcspn(typed, "="), typed, list, value,
                                  cp_suggestion_text(&suggestion, "", near)));
}

/* `value` is the text after the = or the letter. If it is NULL, the next argument is the value. */
static int store(parser *p, const cp_option *option, const char *value)
{
    const char *typed = p->argv[p->at];

    if (option->kind == CP_OPTION_FLAG || option->kind == CP_OPTION_WORD) {
        return store_flag(p, option, value);
    }
    if (!value) {
        if (p->at + 1 >= p->argc) {
            return refuse(p, cp_bad_usage(p->verb, "%s: %s needs a value", p->verb, typed));
        }
        value = p->argv[++p->at];
    }
    if (option->kind == CP_OPTION_COUNT) {
        return store_count(p, option, typed, value);
    }
    if (option->kind == CP_OPTION_LIST) {
        cp_text_list_add(option->value, value);
        return 0;
    }
    if (option->words) {
        return store_word(p, option, typed, value);
    }
    *(const char **)option->value = value;
    return 0;
}

static int refuse_unknown(parser *p, const char *name, size_t length)
{
    char near[CP_SUGGESTION_BYTES];
    cp_suggestion suggestion;

    cp_suggestion_init(&suggestion, name, length);
    for (const cp_option *option = p->options; option->name; option++) {
        cp_suggestion_offer(&suggestion, option->name);
        cp_suggestion_offer(&suggestion, option->alias);
    }
    return refuse(p, cp_bad_usage(p->verb, "%s: unknown option %s%s", p->verb, p->argv[p->at],
                                  cp_suggestion_text(&suggestion, "--", near)));
}

static int parse_option(parser *p)
{
    const char *typed = p->argv[p->at];
    const char *name = typed + 1 + (typed[1] == '-');
    size_t length = strcspn(name, "=");
    const cp_option *option = find_name(p, name, length);

    if (option) {
        return store(p, option, name[length] ? name + length + 1 : NULL);
    }
    if (strcmp(name, "help") == 0 || strcmp(typed, "-h") == 0) {
        return refuse(p, cp_verb_help(p->verb));
    }
    if (typed[1] != '-') {
        option = find_letter(p, typed[1]);
        if (option) {
            return store(p, option, typed[2] ? typed + 2 : NULL);
        }
    }
    return refuse_unknown(p, name, length);
}

int cp_options_parse(const char *verb, const cp_option *options, bool stop_at_operand, int argc,
                     char **argv, cp_operands *operands, int *status)
{
    parser p = {verb, options, argv, argc, 1, status};
    int count = 0;

    if (visitor.visit) {
        visitor.visit(options, visitor.ctx);
        return refuse(&p, CP_EXIT_OK);
    }
    for (; p.at < argc; p.at++) {
        char *argument = argv[p.at];
        bool is_operand = argument[0] != '-' || argument[1] == '\0'; /* "-" is standard input */

        if (strcmp(argument, "--") == 0) {
            p.at++;
            break;
        }
        if (is_operand && stop_at_operand) {
            break;
        }
        if (is_operand) {
            argv[1 + count++] = argument;
        } else if (parse_option(&p) < 0) {
            return -1;
        }
    }
    while (p.at < argc) {
        argv[1 + count++] = argv[p.at++];
    }
    argv[1 + count] = NULL;
    operands->values = argv + 1;
    operands->count = count;
    return 0;
}

void cp_options_visit(const cp_verb *verb, cp_option_visitor *visit, void *ctx)
{
    char name[32];
    char *argv[] = {name, NULL};

    if (!verb->run) {
        return;
    }
    snprintf(name, sizeof name, "%s", verb->name);
    visitor.visit = visit;
    visitor.ctx = ctx;
    verb->run(1, argv);
    visitor.visit = NULL;
}
