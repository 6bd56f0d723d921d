/* SPDX-License-Identifier: MIT
 *
 * command_line.h: a parser of command lines, which a table of options controls.
 *
 * A verb lists its options. The parser stores each value that the user typed where the pointer in
 * the list leads. It accepts --name VALUE, --name=VALUE, -name (one dash, as in Go's tools), -x
 * VALUE and -xVALUE. Options and operands may be mixed, unless the verb runs another command, which
 * has options of its own. "--" ends the options.
 */
#ifndef CP_COMMAND_LINE_H
#define CP_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum cp_option_kind {
    CP_OPTION_FLAG, /* bool */
    CP_OPTION_TEXT, /* const char * */
    CP_OPTION_WORD, /* const char *, which becomes the option's own name */
    CP_OPTION_LIST, /* cp_text_list: may be given several times; an empty value counts for nothing */
    CP_OPTION_COUNT, /* long, from minimum to maximum */
} cp_option_kind;

/* Room for the words of an option. */
enum { CP_OPTION_WORDS_BYTES = 128 };

typedef struct cp_option {
    char letter;       /* or 0 */
    const char *name;  /* without dashes */
    const char *alias; /* the name that other tools use, or NULL */
    cp_option_kind kind;
    void *value;
    long minimum, maximum; /* of a CP_OPTION_COUNT */
    const char *argument;  /* the value's name in the help, such as FILE */
    const char *help;      /* a sentence without its end; NULL: the help is silent on the option */
    const char *words; /* the values that the parser accepts, with blanks between them, or NULL */
    bool rare;         /* `cpprof help VERB` only names it, so as to fit a screen */
} cp_option;

/* The values of an option in the order in which they were typed. The caller frees the array. */
typedef struct cp_text_list {
    const char **values;
    size_t count;
} cp_text_list;

/* Appends a value, unless it is empty. */
void cp_text_list_add(cp_text_list *list, const char *value);

typedef struct cp_operands {
    char **values; /* NULL-terminated, inside argv */
    int count;
} cp_operands;

/*
 * Parses argv[1..], reorders it, and stores the operands. `options` ends with a row without a name.
 * With `stop_at_operand` the parser leaves everything from the first operand on as it is. --help
 * and -h print the verb's help. Returns 0 if the verb is to go on; else -1, and *status is the exit
 * status.
 */
int cp_options_parse(const char *verb, const cp_option *options, bool stop_at_operand, int argc,
                     char **argv, cp_operands *operands, int *status);

typedef struct cp_verb cp_verb;

/* Takes the table of a verb's options, which ends with a row without a name. */
typedef void cp_option_visitor(const cp_option *options, void *ctx);

/* Calls `visit` with the options of a verb, for those who document them. The verb runs for that,
 * as far as cp_options_parse(), with which every verb begins. */
void cp_options_visit(const cp_verb *verb, cp_option_visitor *visit, void *ctx);

#endif
