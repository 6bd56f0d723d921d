/* SPDX-License-Identifier: MIT
 *
 * page_verb.h: what the verbs that write a page have in common.
 */
#ifndef CP_PAGE_VERB_H
#define CP_PAGE_VERB_H

#include "page/page_file.h"

/* Parses the options and operands that the verbs have which write a page: -o, --base, --demangle,
 * --sources and one FILE. `out` becomes the value of -o, or NULL. Returns 0 if the verb is to go
 * on; else -1, and *status is the exit status. */
int cp_page_parse(const char *verb, int argc, char **argv, cp_page_options *options,
                  const char **out, int *status);

#endif
