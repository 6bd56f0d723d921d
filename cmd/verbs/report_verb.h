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
    bool sorts;                 /* rows are sorted by flat or cum */
    bool limits;                /* the user may limit the number of rows */
    bool watches;               /* -p: shows a process that runs, again and again */
    cp_granularity granularity; /* unless the user chooses */
    bool is_binary;             /* what it writes is no text */
    bool any_bytes;             /* what it writes has its own way with control characters */
    bool verbatim;              /* names and stacks stay as they are in the file */
    uint32_t node_count;        /* the largest number of nodes, unless the user gives one; 0: all */
    /* Write the report as text, or as JSON. */
    void (*write)(const cp_report *report, FILE *out);
    void (*write_json)(const cp_report *report, FILE *out);
    /* Instead of these: prints the report, as text or as JSON. Returns 0, an exit status, or
     * -1 with a sentence. */
    int (*print)(cp_report *report, cp_regex *expression, bool json, FILE *out, cp_error *error);
    /* Of a verb that writes a file (-o, --to): chooses what to do by the file's name or the
     * format's, of which one may be NULL. Returns the rest of the traits, or NULL with a sentence.
     */
    const struct cp_report_verb *(*choose)(const char *path, const char *format, cp_error *error);
} cp_report_verb;

/* The notes in the help of each verb. */
#define CP_REPORT_NOTES                                                                            \
    "FILE is a profile.proto, gzipped or plain; folded stacks; the text of `perf\n"                \
    "script`; or an older format of libpprof, Go, gperftools or jemalloc. - is\n"                  \
    "standard input; http://HOST:PORT/PATH and unix:/SOCKET:/PATH are fetched, and\n"              \
    "pid:PID/NAME is asked of a process that `cpprof ps` lists. Without FILE a pipe\n"             \
    "or file at standard input is read, or the newest *.pb.gz of this folder.\n"                   \
    "\n"                                                                                           \
    "RE is a regular expression, which may match anywhere in a name. TAG is a range\n"             \
    "such as 64kb:1mb, or expressions for key:value; KEY=TAG is for one key.\n"

/* `cpprof flame -o OUT.svg`, a format of verb_convert.c. */
extern const cp_report_verb cp_flame_svg;

int cp_report_verb_run(const cp_report_verb *verb, int argc, char **argv);

#endif
