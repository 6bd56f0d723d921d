/* SPDX-License-Identifier: MIT
 *
 * manual.h: what a build writes from the tables of verbs and options: manual pages, and completions
 * for three shells.
 *
 *   verbs.c, cp_options_visit() ──▶ cpprof.1, cpprof-VERB.1; cpprof.bash, cpprof.zsh, cpprof.fish
 *
 * The program that writes them is not installed.
 */
#ifndef CP_MANUAL_H
#define CP_MANUAL_H

#include "verbs/verbs.h"

#include <stdio.h>

/* cpprof(1), with verb NULL, or cpprof-VERB(1). */
void cp_manual_page(const cp_verb *verb, FILE *out);

/* `script` is the file into which the tables go. */
void cp_manual_bash(const char *script, FILE *out);
void cp_manual_zsh(const char *script, FILE *out);
void cp_manual_fish(FILE *out);

#endif
