/* SPDX-License-Identifier: MIT
 *
 * manual_page.c: manual pages in troff's man macros; see manual.h.
 *
 * Tested by: e2e.install.
 */
#include "manual/manual.h"

#include "verbs/command_line.h"
#include "verbs/verb_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* ---- troff ---- */

/* A backslash, and a point or an apostrophe at the beginning of a line, mean something to troff; so
 * does a hyphen. */
static void put(const char *text, size_t length, FILE *out)
{
    for (size_t i = 0; i < length; i++) {
        bool begins = i == 0 || text[i - 1] == '\n';

        if (begins && (text[i] == '.' || text[i] == '\'')) {
            fputs("\\&", out);
        }
        if (text[i] == '\\') {
            fputs("\\e", out);
        } else if (text[i] == '-') {
            fputs("\\-", out);
        } else {
            fputc(text[i], out);
        }
    }
}

static void put_text(const char *text, FILE *out)
{
    put(text, strlen(text), out);
}

/* Lines that are indented keep their form; troff fills the others. */
static void put_line(const char *line, size_t length, bool *as_it_is, FILE *out)
{
    bool indented = line[0] == ' ';

    if (indented != *as_it_is) {
        fputs(indented ? ".nf\n" : ".fi\n", out);
        *as_it_is = indented;
    }
    put(line, length, out);
    fputc('\n', out);
}

static void put_paragraphs(cp_text_part part, FILE *out)
{
    const char *end = part.text + part.length;
    bool as_it_is = false;

    for (const char *line = part.text; line < end;) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        next = next ? next : end;

        if (next == line) {
            fputs(as_it_is ? ".fi\n.PP\n" : ".PP\n", out);
            as_it_is = false;
        } else {
            put_line(line, (size_t)(next - line), &as_it_is, out);
        }
        line = next + 1;
    }
    fputs(as_it_is ? ".fi\n" : "", out);
}

static void put_sentence(const char *sentence, FILE *out)
{
    fputc(toupper((unsigned char)sentence[0]), out);
    put_text(sentence + 1, out);
    fputs(".\n", out);
}

/* `verb` may be "". */
static void put_title(const char *verb, const char *summary, FILE *out)
{
    const char *dash = verb[0] ? "\\-" : "";

    fprintf(out, ".TH CPPROF%s", dash);
    for (const char *at = verb; *at; at++) {
        fputc(toupper((unsigned char)*at), out);
    }
    fprintf(out, " 1 \"\" \"libpprof %s\" \"User Commands\"\n.SH NAME\ncpprof%s%s \\- ", CP_VERSION,
            dash, verb);
    put_text(summary, out);
    fputc('\n', out);
}

static void put_others(const char *verb, FILE *out)
{
    fputs(".SH SEE ALSO\n", out);
    if (verb) {
        fputs(".BR cpprof (1),\n", out);
    }
    for (const cp_verb *other = cp_verbs; other->name; other++) {
        if (other->run && (!verb || strcmp(other->name, verb) != 0)) {
            fprintf(out, ".BR cpprof\\-%s (1),\n", other->name);
        }
    }
    fputs(".BR libpprof (7),\n.BR libpprof (3)\n", out);
}

/* ---- a verb ---- */

static void put_option(const cp_option *option, FILE *out)
{
    fputs(".TP\n", out);
    if (option->letter) {
        fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
    }
    fputs("\\fB\\-\\-", out);
    put_text(option->name, out);
    fputs("\\fR", out);
    if (option->argument) {
        fputs(" \\fI", out);
        put_text(option->argument, out);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    put_sentence(option->help, out);
}

static void put_options(const cp_option *options, void *ctx)
{
    FILE *out = ctx;
    bool any = false;

    for (const cp_option *option = options; option->name; option++) {
        if (option->help) {
            fputs(any ? "" : ".SH OPTIONS\n", out);
            put_option(option, out);
            any = true;
        }
    }
}

/* The text after a first word such as "usage: ", one line for each line. */
static void put_commands(const char *title, cp_text_part part, const char *word, FILE *out)
{
    if (part.length == 0) {
        return;
    }
    fprintf(out, ".SH %s\n.nf\n", title);
    put(part.text + strlen(word), part.length - strlen(word), out);
    fputs("\n.fi\n", out);
}

static void put_verb(const cp_verb *verb, FILE *out)
{
    cp_verb_text text = cp_verb_text_split(verb->help);

    put_title(verb->name, verb->summary, out);
    put_commands("SYNOPSIS", text.usage, "usage: ", out);
    fputs(".SH DESCRIPTION\n", out);
    put_paragraphs(text.about, out);
    cp_options_visit(verb, put_options, out);
    put_commands("EXAMPLE", text.example, "Example: ", out);
    if (text.notes.length) {
        fputs(".SH NOTES\n", out);
        put_paragraphs(text.notes, out);
    }
    put_others(verb->name, out);
}

/* ---- the command ---- */

static const char environment[] =
    ".SH EXIT STATUS\n"
    "0 after success, 1 if an input or the system caused a failure, 2 if the command line is "
    "wrong.\n"
    ".B cpprof record\n"
    "ends as the command that it ran.\n"
    ".SH ENVIRONMENT\n"
    ".TP\n"
    ".B CPPROF_PAGER, PAGER\n"
    "The command through which a report on a terminal goes; the first of the two that is set. "
    "Without\n"
    "both it is less, with LESS=FRX unless LESS is set. An empty value, or cat, means none.\n"
    ".TP\n"
    ".B NO_COLOR\n"
    "With any value: no colour, unless\n"
    ".B \\-\\-color=always\n"
    "asks for it.\n"
    ".TP\n"
    ".B BROWSER\n"
    "The browser of\n"
    ".BR \"cpprof web\" .\n"
    ".TP\n"
    ".B LIBPPROF\n"
    "Options of the library; see\n"
    ".BR libpprof (7).\n"
    ".SH EXAMPLE\n"
    ".nf\n"
    "cpprof record \\-o prof.pb.gz \\-\\- xz \\-k big.tar\n"
    "cpprof top prof.pb.gz\n"
    "cpprof flame prof.pb.gz\n"
    ".fi\n";

static void put_command(FILE *out)
{
    put_title("", "profile native programs, and read profiles", out);
    fputs(".SH SYNOPSIS\n.nf\ncpprof VERB [OPTIONS] ...\n.fi\n.SH DESCRIPTION\n"
          "cpprof profiles native Linux programs and reads profiles in pprof's format. Its first "
          "word "
          "says\nwhat it does; each verb has a page of its own, and\n"
          ".BI \"cpprof help \" VERB\nprints a shorter one.\n",
          out);
    for (const cp_verb *verb = cp_verbs; verb->name; verb++) {
        if (verb->run) {
            fprintf(out, ".TP\n.B %s\n", verb->name);
            put_sentence(verb->summary, out);
        }
    }
    fputs(environment, out);
    put_others(NULL, out);
}

void cp_manual_page(const cp_verb *verb, FILE *out)
{
    if (verb) {
        put_verb(verb, out);
    } else {
        put_command(out);
    }
}
