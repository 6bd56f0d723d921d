/* SPDX-License-Identifier: MIT
 *
 * page_verb.h: what the verbs that write a page have in common.
 */
#ifndef CP_PAGE_VERB_H
#define CP_PAGE_VERB_H

#include "page/page_file.h"

/* The notes in the help of these verbs. */
#define CP_PAGE_NOTES                                                                              \
    "FILE is any profile that cpprof reads; - is standard input. Without FILE a pipe\n"            \
    "or file at standard input is read, or the newest *.pb.gz of this folder.\n"

/* Parses the options and operands that the verbs have which write a page: -o, --base, --demangle,
 * --sources, those that choose samples, and at most one FILE. `out` becomes the value of -o, or NULL; `newest` the name of the
 * FILE, to be freed, if the user named none, or NULL. Returns 0 if the verb is to go on; else -1,
 * and *status is the exit status. The caller calls cp_page_release() in both cases. */
int cp_page_parse(const char *verb, int argc, char **argv, cp_page_options *options,
                  const char **out, char **newest, int *status);
void cp_page_release(cp_page_options *options, char *newest);

#endif
