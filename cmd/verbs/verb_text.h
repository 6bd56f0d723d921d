/* SPDX-License-Identifier: MIT
 *
 * verb_text.h: the parts of a verb's text, for the help and for the manual page.
 *
 *   usage: cpprof top ...        the first paragraph
 *                                what the verb does: the paragraphs before the example
 *                                (here the help lists the options, from the verb's table)
 *   Example: cpprof top ...      one paragraph
 *                                notes, for the manual page and `cpprof help --all`
 */
#ifndef CP_VERB_TEXT_H
#define CP_VERB_TEXT_H

#include "verbs/command_line.h"

#include <stddef.h>

/* A part of the text, without the empty lines around it. */
typedef struct cp_text_part {
    const char *text;
    size_t length;
} cp_text_part;

typedef struct cp_verb_text {
    cp_text_part usage, about, example, notes;
} cp_verb_text;

cp_verb_text cp_verb_text_split(const char *help);

/* Writes the forms of an option, such as "-n, --rows N". Returns the buffer. */
enum { CP_OPTION_FORMS_BYTES = 64 };
const char *cp_option_forms(const cp_option *option, char buffer[CP_OPTION_FORMS_BYTES]);

#endif
