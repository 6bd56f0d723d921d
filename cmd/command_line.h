/* SPDX-License-Identifier: MIT
 *
 * command_line.h: command lines, by table.
 *
 * A verb lists its options; the parser stores what was typed behind the pointers of the list.
 * Accepted are --name VALUE, --name=VALUE, -name (one dash, as Go's tools have it), -x VALUE and
 * -xVALUE. Options and operands may be mixed unless the verb runs a command of its own, whose
 * options are not ours; "--" ends the options.
 */
#ifndef CP_COMMAND_LINE_H
#define CP_COMMAND_LINE_H

#include <stdbool.h>

typedef enum cp_option_kind {
    CP_OPTION_FLAG,  /* bool */
    CP_OPTION_TEXT,  /* const char * */
    CP_OPTION_COUNT, /* long, from minimum to maximum */
} cp_option_kind;

typedef struct cp_option {
    char letter;       /* or 0 */
    const char *name;  /* without dashes */
    const char *alias; /* another name for it, as other tools call it, or NULL */
    cp_option_kind kind;
    void *value;
    long minimum, maximum; /* of a count */
} cp_option;

typedef struct cp_operands {
    char **values; /* NULL-terminated, inside argv */
    int count;
} cp_operands;

/*
 * Parses argv[1..], reorders it, and stores the operands. `options` ends with a row without a name.
 * With `stop_at_operand` everything from the first operand on is left as it is. --help and -h
 * print the verb's help. Returns 0 to go on; else *status is the exit status.
 */
int cp_options_parse(const char *verb, const cp_option *options, bool stop_at_operand, int argc,
                     char **argv, cp_operands *operands, int *status);

#endif
