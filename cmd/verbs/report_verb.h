/* SPDX-License-Identifier: MIT
 *
 * report_verb.h: the verbs that print a report on profiles, such as top and tree.
 *
 * They have the same options and do the same but for the last step: read the options, read the
 * profiles, apply the filters, print.
 */
#ifndef CP_REPORT_VERB_H
#define CP_REPORT_VERB_H

#include "report/frame_table.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct cp_error cp_error;
typedef struct cp_regex cp_regex;
typedef struct cp_report cp_report;

typedef struct cp_report_verb {
    const char *name;
    bool has_expression;        /* the first operand is an expression */
    bool has_base;              /* the first operand is the profile to compare with */
    bool untrimmed;             /* leaves out nothing */
    bool shows_samples;         /* equal samples have to be added up first */
    bool shows_addresses;       /* the granularity is addresses */
    bool has_asm;               /* --asm */
    bool shows_lines;           /* lines are the granularity, with what `list` needs */
    bool draws;                 /* --width and --root mean something */
    cp_granularity granularity; /* unless the user chooses */
    bool verbatim;              /* names and stacks stay as they are in the file */
    uint32_t node_count;        /* the largest number of nodes, unless the user gives one; 0: all */
    /* Prints the report, as text or as JSON. Returns 0, an exit status, or
     * -1 with a sentence. */
    int (*print)(cp_report *report, cp_regex *expression, bool json, FILE *out, cp_error *error);
    /* Of a verb that writes a file (-o, --to): chooses what to do by the file's name or the
     * format's, of which one may be NULL. Returns the rest of the traits, or NULL with a sentence.
     */
    const struct cp_report_verb *(*choose)(const char *path, const char *format, cp_error *error);
} cp_report_verb;

/* The lines on the common options in the help of each verb. */
#define CP_REPORT_HELP                                                                             \
    "FILE is a profile.proto, gzipped or plain, or a profile in one of the older formats, of\n"    \
    "libpprof, Go or gperftools; - is standard input; http://HOST:PORT/PATH and\n"                 \
    "unix:/SOCKET:/PATH are fetched. Several files are added up.\n"                                \
    "\n"                                                                                           \
    "  --sample TYPE        show this sample type, such as cpu or inuse_space; or its index\n"     \
    "  --focus RE           take only samples in which a function, file or program matches\n"      \
    "  --ignore RE          take only samples in which none of these matches\n"                    \
    "  --hide RE, --show RE leave out the frames that match, or those that do not\n"               \
    "  --show-from RE       leave out the callers above the first frame that matches\n"            \
    "  --tagfocus T, --tagignore T  take only samples with, without a label: a range such as\n"    \
    "                       64kb:1mb, or expressions for key:value; KEY=T for one key\n"           \
    "  --base FILE          subtract this profile first; --diff-base FILE: and take its total "    \
    "as\n"                                                                                         \
    "                       100 %; --normalize: scale to its total first\n"                        \
    "  --unit UNIT          print all values in this unit, such as ms or MB\n"                     \
    "  --granularity WHAT   rows for functions (the default), filefunctions, files, lines or\n"    \
    "                       addresses\n"                                                           \
    "  --symbolize WHAT     look for lines in debug information: none, local (what is missing), "  \
    "force;\n"                                                                                     \
    "                       without it, where the report shows lines, or no name is known\n"       \
    "  --demangle MODE      C++ and Rust names: simple (the default: overloads and instances\n"    \
    "                       share a row), templates, full, or none\n"                              \
    "  --json               print JSON instead, with values in the unit of the sample type\n"      \
    "  --style go1.19|go1.26  print what this version's `go tool pprof` prints (go1.19)\n"

int cp_report_verb_run(const cp_report_verb *verb, int argc, char **argv);

#endif
