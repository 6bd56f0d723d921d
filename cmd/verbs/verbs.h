/* SPDX-License-Identifier: MIT
 *
 * verbs.h: the verbs of cpprof, such as record and top.
 *
 * Each verb is one file, cmd/verbs/verb_NAME.c, with one function; verb_reports.c has six. The table in verbs.c also names
 * the verbs that this version does not have yet: a user who knows one from the manual then gets a
 * better answer than "unknown".
 */
#ifndef CP_VERBS_H
#define CP_VERBS_H

#include <stdbool.h>

typedef struct cp_verb {
    const char *name;
    const char *summary; /* one line for `cpprof help` */
    const char *help;    /* the text of `cpprof help NAME`; verb_text.h has its form */
    int (*run)(int argc, char **argv); /* argv[0] is the verb; NULL: not in this version */
    bool in_passing; /* `cpprof help` names it in the row of another verb: all rows fit a screen */
} cp_verb;

/* The table ends with a row without a name. */
extern const cp_verb cp_verbs[];

/* Finds a verb by its name; NULL if there is none. */
const cp_verb *cp_verb_find(const char *name);

/* Writes "; did you mean record?", or an empty text, about a name that no verb has. Returns the
 * buffer, which has CP_SUGGESTION_BYTES. */
const char *cp_verb_suggest(const char *name, char *buffer);

/* Prints the help of a verb on stdout and returns the exit status. */
int cp_verb_help(const char *name);

extern const char cp_help_top[], cp_help_peek[], cp_help_tree[], cp_help_traces[], cp_help_tags[],
    cp_help_raw[], cp_help_list[], cp_help_diff[], cp_help_record[], cp_help_merge[],
    cp_help_flame[], cp_help_web[], cp_help_dump[], cp_help_help[], cp_help_convert[],
    cp_help_symbolize[], cp_help_doctor[], cp_help_ps[], cp_help_configure[], cp_help_why[],
    cp_help_memory[], cp_help_push[], cp_help_agent[];

/* Of top, peek, tree, traces, tags and raw: argv[0] says which. */
int cp_run_report(int argc, char **argv);

int cp_run_list(int argc, char **argv);
int cp_run_diff(int argc, char **argv);
int cp_run_record(int argc, char **argv);
int cp_run_convert(int argc, char **argv);
int cp_run_merge(int argc, char **argv);
int cp_run_push(int argc, char **argv);
int cp_run_flame(int argc, char **argv);
int cp_run_web(int argc, char **argv);
int cp_run_why(int argc, char **argv);
int cp_run_memory(int argc, char **argv);
int cp_run_dump(int argc, char **argv);
int cp_run_doctor(int argc, char **argv);
int cp_run_symbolize(int argc, char **argv);
int cp_run_ps(int argc, char **argv);
int cp_run_configure(int argc, char **argv);
int cp_run_agent(int argc, char **argv);
int cp_run_help(int argc, char **argv);

#endif
