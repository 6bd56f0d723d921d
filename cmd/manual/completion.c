/* SPDX-License-Identifier: MIT
 *
 * completion.c: completions for shells; see manual.h.
 *
 * What bash and zsh do with the tables of verbs and options is in cpprof.bash and cpprof.zsh. fish
 * needs nothing but a command for each option.
 *
 * Tested by: e2e.cpprof_completion.
 */
#include "manual/manual.h"

#include "base/pool.h"
#include "record/record_kinds.h"
#include "verbs/command_line.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct writer {
    const char *verb;
    FILE *out;
} writer;

static void for_each_verb(cp_option_visitor *visit, FILE *out)
{
    for (const cp_verb *verb = cp_verbs; verb->name; verb++) {
        writer w = {verb->name, out};
        cp_options_visit(verb, visit, &w);
    }
}

static bool is_file(const cp_option *option)
{
    return strstr(option->argument, "FILE") || strstr(option->argument, "OUT") ||
           strstr(option->argument, "FOLDER");
}

static bool is_process(const cp_option *option)
{
    return strcmp(option->argument, "PID") == 0;
}

/* The words that may follow an option, with blanks between them; empty if they are not known. To be
 * freed. */
static char *words_of(const cp_option *option)
{
    char *words = cp_heap_printf("%s", option->words ? option->words : "");

    for (size_t i = 0; strncmp(option->argument, "KIND", 4) == 0 && cp_record_kind_name(i); i++) {
        char *longer = cp_heap_printf("%s%s%s", words, i ? " " : "", cp_record_kind_name(i));
        free(words);
        words = longer;
    }
    return words;
}

/* A text between the quotes of a shell. `doubled` has the characters that need a backslash. */
static void put_quoted(const char *text, const char *doubled, FILE *out)
{
    for (; *text; text++) {
        if (*text == '\'') {
            fputs("'\\''", out);
            continue;
        }
        if (strchr(doubled, *text)) {
            fputc('\\', out);
        }
        fputc(*text, out);
    }
}

/* Copies a script, with the tables in the place of the line that asks for them. */
static void fill_in(const char *script, void (*put_tables)(FILE *out), FILE *out)
{
    FILE *in = fopen(script, "r");
    char line[256];

    if (!in) {
        perror(script);
        exit(1);
    }
    while (fgets(line, sizeof line, in)) {
        if (strcmp(line, "# @tables@\n") == 0) {
            put_tables(out);
        } else {
            fputs(line, out);
        }
    }
    fclose(in);
}

/* ---- bash ---- */

static void put_bash_names(const cp_option *options, void *ctx)
{
    const writer *w = ctx;

    fprintf(w->out, "    [%s]='--help", w->verb);
    for (const cp_option *option = options; option->name; option++) {
        if (option->help) {
            fprintf(w->out, " --%s", option->name);
        }
    }
    fputs("'\n", w->out);
}

static void put_bash_values(const cp_option *options, void *ctx)
{
    const writer *w = ctx;

    for (const cp_option *option = options; option->name; option++) {
        if (!option->help || !option->argument) {
            continue;
        }
        char *words = is_file(option)      ? cp_heap_printf("/")
                      : is_process(option) ? cp_heap_printf("@")
                                           : words_of(option);
        fprintf(w->out, "    [%s:--%s]='%s'\n", w->verb, option->name, words);
        if (option->letter) {
            fprintf(w->out, "    [%s:-%c]='%s'\n", w->verb, option->letter, words);
        }
        free(words);
    }
}

static void put_bash_tables(FILE *out)
{
    fputs("_cpprof_verbs='", out);
    for (const cp_verb *verb = cp_verbs; verb->name; verb++) {
        if (verb->run) {
            fprintf(out, "%s ", verb->name);
        }
    }
    fputs("--help --version'\ndeclare -gA _cpprof_options=(\n", out);
    for_each_verb(put_bash_names, out);
    fputs(")\ndeclare -gA _cpprof_values=(\n", out);
    for_each_verb(put_bash_values, out);
    fputs(")\n", out);
}

void cp_manual_bash(const char *script, FILE *out)
{
    fill_in(script, put_bash_tables, out);
}

/* ---- zsh ---- */

/* What zsh does after the option: ":NAME:ACTION". */
static void put_zsh_value(const cp_option *option, FILE *out)
{
    char *words = words_of(option);

    fputc(':', out);
    put_quoted(option->argument, ":", out);
    if (is_file(option)) {
        fputs(":_files", out);
    } else if (is_process(option)) {
        fputs(":_cpprof_processes", out);
    } else if (strchr(option->argument, ',')) {
        fprintf(out, ":_values -s , kind %s", words);
    } else if (words[0]) {
        fprintf(out, ":(%s)", words);
    } else {
        fputs(": ", out);
    }
    free(words);
}

static void put_zsh_form(const cp_option *option, const char *form, FILE *out)
{
    fprintf(out, "    '%s%s[", option->kind == CP_OPTION_LIST ? "*" : "", form);
    put_quoted(option->help, "[]", out);
    fputc(']', out);
    if (option->argument) {
        put_zsh_value(option, out);
    }
    fputs("'\n", out);
}

static void put_zsh_options(const cp_option *options, void *ctx)
{
    const writer *w = ctx;
    char letter[] = "-x";

    fprintf(w->out, "_cpprof_%s=(\n", w->verb);
    for (const cp_option *option = options; option->name; option++) {
        if (!option->help) {
            continue;
        }
        char *name = cp_heap_printf("--%s", option->name);
        put_zsh_form(option, name, w->out);
        free(name);
        letter[1] = option->letter;
        if (option->letter) {
            put_zsh_form(option, letter, w->out);
        }
    }
    fputs(")\n", w->out);
}

static void put_zsh_tables(FILE *out)
{
    fputs("_cpprof_verbs=(\n", out);
    for (const cp_verb *verb = cp_verbs; verb->name; verb++) {
        if (verb->run) {
            fprintf(out, "    '%s:", verb->name);
            put_quoted(verb->summary, ":", out);
            fputs("'\n", out);
        }
    }
    fputs(")\n", out);
    for_each_verb(put_zsh_options, out);
}

void cp_manual_zsh(const char *script, FILE *out)
{
    fill_in(script, put_zsh_tables, out);
}

/* ---- fish ---- */

/* The profiles that cpprof.bash and cpprof.zsh name, too. */
#define FISH_NAMES "profile,heap,allocs,block,mutex,thread,wall"

static void put_fish_option(const char *verb, const cp_option *option, FILE *out)
{
    fprintf(out, "complete -c cpprof -n '__fish_seen_subcommand_from %s' -l %s", verb,
            option->name);
    if (option->letter) {
        fprintf(out, " -s %c", option->letter);
    }
    if (option->argument) {
        char *words = words_of(option);

        fputs(is_file(option) ? " -r -F" : " -x", out);
        if (is_process(option)) {
            fputs(" -a '(cpprof ps --brief 2>/dev/null)'", out);
        } else if (words[0]) {
            fprintf(out, " -a '%s'", words);
        }
        free(words);
    }
    fputs(" -d '", out);
    put_quoted(option->help, "", out);
    fputs("'\n", out);
}

static void put_fish_options(const cp_option *options, void *ctx)
{
    const writer *w = ctx;

    for (const cp_option *option = options; option->name; option++) {
        if (option->help) {
            put_fish_option(w->verb, option, w->out);
        }
    }
}

void cp_manual_fish(FILE *out)
{
    fputs("# fish completion of cpprof; written by its build from the tables of verbs and options\n"
          "complete -c cpprof -n __fish_use_subcommand -f\n",
          out);
    for (const cp_verb *verb = cp_verbs; verb->name; verb++) {
        if (verb->run) {
            fprintf(out, "complete -c cpprof -n __fish_use_subcommand -a %s -d '", verb->name);
            put_quoted(verb->summary, "", out);
            fputs("'\n", out);
            fprintf(out, "complete -c cpprof -n '__fish_seen_subcommand_from help' -f -a %s\n",
                    verb->name);
        }
    }
    fputs("complete -c cpprof -n '__fish_seen_subcommand_from list peek; and test (count "
          "(commandline -opc)) -eq 2' -f\n",
          out);
    fputs("complete -c cpprof -n '__fish_seen_subcommand_from configure; and test (count "
          "(commandline "
          "-opc)) -eq 2' -f -a '(cpprof ps --brief 2>/dev/null)'\n"
          "function __cpprof_sources\n"
          "    set -l pid (string match -r '^pid:[0-9]+/' -- (commandline -ct))\n"
          "    and printf '%s\\n' $pid{" FISH_NAMES "}\n"
          "    or cpprof ps --brief 2>/dev/null | string replace -r '^' pid:\n"
          "end\n"
          "complete -c cpprof -n 'string match -q \"pid:*\" -- (commandline -ct)' -f -a "
          "'(__cpprof_sources)'\n",
          out);
    for_each_verb(put_fish_options, out);
    fputs("complete -c cpprof -n '__fish_seen_subcommand_from record; and contains -- -- "
          "(commandline -opc)' -a '(__fish_complete_command)'\n",
          out);
}
