/* SPDX-License-Identifier: MIT
 *
 * verb_help.c: `cpprof help [VERB]`, the list of verbs and the help of each.
 *
 * Tested by: e2e.cpprof_help.
 */
#include "verbs/verbs.h"

#include "base/message.h"
#include "base/suggestion.h"
#include "verbs/command_line.h"
#include "verbs/verb_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
    WIDTH = 80,
    SENTENCES = 25 /* the column of an option's sentence */
};

const char cp_help_help[] = "usage: cpprof help [--all] [VERB]\n"
                            "\n"
                            "Lists the verbs, or explains one.\n"
                            "\n"
                            "Example: cpprof help record\n";

/* ---- the list ---- */

static int list_verbs(void)
{
    fputs("usage: cpprof VERB [OPTIONS] ..., --version; to begin: cpprof record -- COMMAND\n",
          stdout);
    for (const cp_verb *verb = cp_verbs; verb->name; verb++) {
        if (verb->run && !verb->in_passing) {
            printf("  %-10s %s\n", verb->name, verb->summary);
        }
    }
    return fflush(stdout) == 0 ? CP_EXIT_OK : CP_EXIT_BAD_INPUT;
}

/* ---- a verb ---- */

static void print_part(cp_text_part part)
{
    if (part.length) {
        printf("\n%.*s\n", (int)part.length, part.text);
    }
}

/* Prints a text from `column` on, on as many lines as it needs. `at` is where the line is. */
static void print_filled(const char *text, int at, int column)
{
    const char *end;

    for (; *text; text = end + strspn(end, " ")) {
        end = text + strcspn(text, " ");
        int length = (int)(end - text);
        if (at > column && at + 1 + length > WIDTH) {
            putchar('\n');
            at = 0;
        }
        int blanks = at < column ? column - at : 1;
        printf("%*s%.*s", blanks, "", length, text);
        at += blanks + length;
    }
    putchar('\n');
}

static void print_option(const cp_option *option)
{
    char forms[CP_OPTION_FORMS_BYTES];
    int at = printf("  %s", cp_option_forms(option, forms));

    if (at + 1 >= SENTENCES) {
        putchar('\n');
        at = 0;
    }
    print_filled(option->help, at, SENTENCES);
}

/* Prints the names of the options that have no line of their own. */
static void print_rare(const cp_option *options, const char *verb)
{
    char text[512] = "";
    size_t length = 0;

    for (const cp_option *option = options; option->name; option++) {
        if (option->help && option->rare && length < sizeof text) {
            length += (size_t)snprintf(text + length, sizeof text - length, " --%s", option->name);
        }
    }
    if (length) {
        int at = printf("  More (cpprof help --all %s):", verb);
        print_filled(text + 1, at, 4);
    }
}

typedef struct printer {
    const char *verb;
    bool all;
} printer;

static void print_options(const cp_option *options, void *ctx)
{
    const printer *p = ctx;
    bool any = false;

    for (const cp_option *option = options; option->name; option++) {
        if (option->help && (p->all || !option->rare)) {
            fputs(any ? "" : "\n", stdout);
            print_option(option);
            any = true;
        }
    }
    if (!p->all) {
        print_rare(options, p->verb);
    }
}

static void print_verb(const cp_verb *verb, bool all)
{
    cp_verb_text text = cp_verb_text_split(verb->help);
    printer p = {verb->name, all};

    printf("%.*s\n", (int)text.usage.length, text.usage.text);
    print_part(text.about);
    cp_options_visit(verb, print_options, &p);
    print_part(text.example);
    if (all) {
        print_part(text.notes);
    }
}

static int explain(const char *name, bool all)
{
    const cp_verb *verb = cp_verb_find(name);
    char near[CP_SUGGESTION_BYTES];

    if (!verb) {
        return cp_bad_usage(NULL, "help: expected a verb, found '%s'%s", name,
                            cp_verb_suggest(name, near));
    }
    if (verb->help) {
        print_verb(verb, all);
    } else {
        printf("cpprof %s: %s. Not in this version.\n", verb->name, verb->summary);
    }
    return fflush(stdout) == 0 ? CP_EXIT_OK : CP_EXIT_BAD_INPUT;
}

int cp_verb_help(const char *name)
{
    return explain(name, false);
}

int cp_run_help(int argc, char **argv)
{
    bool all = false;
    const cp_option table[] = {
        {'a', "all", .kind = CP_OPTION_FLAG, .value = &all, .help = "all options, and notes"},
        {0},
    };

    cp_operands words;
    int status = CP_EXIT_OK;
    if (cp_options_parse("help", table, false, argc, argv, &words, &status) < 0) {
        return status;
    }
    if (words.count > 1) {
        return cp_bad_usage("help", "help: expected one verb, found %d words", words.count);
    }
    return words.count ? explain(words.values[0], all) : list_verbs();
}
